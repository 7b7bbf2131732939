package capture

import (
	"errors"
	"fmt"
	"net/http"
	"strconv"
	"time"
)

// ServeHTTP answers with the trace of the last seconds. It writes no file, and
// does not look at the budget.
//
// Clients that ask at the same time get the same trace, and at most two traces are
// being sent at one time: who asks meanwhile waits. A client that has not read the
// trace within a minute is cut off, whatever the server's WriteTimeout; this needs a
// ResponseWriter that [http.ResponseController] can set a deadline of.
//
// A trace tells the names of functions and files, and what the program logs into
// it: serve it where net/http/pprof would be served, not to the world.
func (r *Recorder) ServeHTTP(w http.ResponseWriter, req *http.Request) {
	if req.Method != http.MethodGet && req.Method != http.MethodHead {
		w.Header().Set("Allow", "GET, HEAD")
		http.Error(w, "capture: only GET is answered", http.StatusMethodNotAllowed)
		return
	}
	if r.stopped() {
		http.Error(w, ErrStopped.Error(), http.StatusServiceUnavailable)
		return
	}
	h := w.Header()
	h.Set("Content-Type", "application/octet-stream")
	h.Set("X-Content-Type-Options", "nosniff")
	h.Set("Content-Disposition", fmt.Sprintf(`attachment; filename="%s-%s%s"`, r.o.Name, time.Now().UTC().Format(stamp), suffix))
	if req.Method == http.MethodHead {
		return // the length is that of a trace which nobody has made
	}
	sent := r.sent.get(time.After(r.sendTime), r.snapshot)
	defer r.sent.release(sent)
	if sent.err != nil {
		code := http.StatusInternalServerError
		if errors.Is(sent.err, ErrStopped) || errors.Is(sent.err, errBusy) {
			code = http.StatusServiceUnavailable
		}
		h.Del("Content-Disposition")
		http.Error(w, sent.err.Error(), code)
		return
	}
	h.Set("Content-Length", strconv.Itoa(len(sent.value)))
	http.NewResponseController(w).SetWriteDeadline(time.Now().Add(r.sendTime)) // not all can
	w.Write(sent.value)                                                        // the client may have gone
}
