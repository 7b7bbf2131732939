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
// A trace tells the names of functions and files, and what the program logs into
// it: serve it where net/http/pprof would be served, not to the world.
func (r *Recorder) ServeHTTP(w http.ResponseWriter, req *http.Request) {
	if req.Method != http.MethodGet && req.Method != http.MethodHead {
		w.Header().Set("Allow", "GET, HEAD")
		http.Error(w, "capture: only GET is answered", http.StatusMethodNotAllowed)
		return
	}
	var data []byte
	err := ErrStopped
	if r != nil {
		data, err = r.snapshot()
	}
	if err != nil {
		code := http.StatusInternalServerError
		if errors.Is(err, ErrStopped) {
			code = http.StatusServiceUnavailable
		}
		http.Error(w, err.Error(), code)
		return
	}
	h := w.Header()
	h.Set("Content-Type", "application/octet-stream")
	h.Set("X-Content-Type-Options", "nosniff")
	h.Set("Content-Disposition", fmt.Sprintf(`attachment; filename="%s-%s%s"`, r.o.Name, time.Now().UTC().Format(stamp), suffix))
	h.Set("Content-Length", strconv.Itoa(len(data)))
	if req.Method == http.MethodGet {
		w.Write(data) // the client may have gone
	}
}
