// Package live serves what the scheduler did in the last seconds of the program that imports it:
// the analysis of gmpscope, made in the process, of what the runtime's flight recorder holds.
//
//	r, err := capture.Start(capture.Options{})
//	if err != nil {
//		log.Print(err) // the program does without
//	}
//	mux.Handle("/debug/gmpscope/", live.Handler(r, live.Options{}))
//
// Below the path at which it is mounted there are
//
//   - / : the report, a page that needs nothing else;
//   - /work: the units of work that were found, as JSON;
//   - /wait: a pprof profile of how long goroutines waited for a P, and were blocked, by
//     cause and by who ended it; with ?seconds=N of the next N seconds;
//   - /trace: the trace itself.
//
// Without a request only the flight recorder of package capture is at work,
// which the program shares with it. One analysis runs at a time, with the memory and the CPUs of
// [Options]; those who ask for the same thing meanwhile get the same answer, and those for
// whom there is no room get status 503 with Retry-After.
//
// The answers name functions, files and tasks of the program. The handler knows no users: mount
// it behind the authentication of the program, where net/http/pprof would be, and not where the
// world can reach it. It refuses requests that other web sites make by a browser, and hosts that
// are not known (Options.Hosts), against DNS rebinding; it allows no other origin (CORS).
package live

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/netip"
	"net/url"
	"path"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/gmpscope/gmpscope/analyze"
	"github.com/gmpscope/gmpscope/capture"
)

// Options bound what a [Handler] takes of the program, and say who may ask it. The zero value
// is usable.
type Options struct {
	// Hosts are names by which clients may call the server, such as "checkout.internal",
	// besides localhost and IP addresses.
	Hosts []string

	// MaxMemory limits the memory of an analysis, in bytes, besides the trace: see
	// analyze.Options. The default is 256 MiB; it is at least analyze.MinMemory. Where the
	// process has a memory limit (GOMEMLIMIT), an analysis gets what is left of it at most.
	MaxMemory int64

	// CPU is the mean number of CPUs that an analysis may use while it runs, enforced by pauses,
	// after estimates. The default is 0.5.
	CPU float64
}

// recorder is what a handler needs of a [capture.Recorder].
type recorder interface {
	http.Handler
	io.WriterTo
	Window() time.Duration
}

const (
	patience  = 10 * time.Second // for which a client waits for its turn
	maxTime   = time.Minute      // of an analysis
	sendTime  = time.Minute      // in which a client must have read the answer
	maxInHand = 4                // answers in memory: being made, or being sent
)

// server is a Handler.
type server struct {
	rec     recorder
	o       Options
	now     func() time.Time
	after   func(time.Duration) <-chan time.Time
	answers *answers
}

// Handler returns a handler that serves the analysis of the last seconds of r. If r is nil, it
// answers that there is no recorder.
func Handler(r *capture.Recorder, o Options) http.Handler { return handler(r, o) }

func handler(r recorder, o Options) *server {
	o.MaxMemory = max(cmp.Or(o.MaxMemory, 256<<20), analyze.MinMemory)
	if !(o.CPU > 0) {
		o.CPU = 0.5
	}
	return &server{rec: r, o: o, now: time.Now, after: time.After, answers: newAnswers(maxInHand)}
}

// ServeHTTP answers by the last part of the path.
func (s *server) ServeHTTP(w http.ResponseWriter, req *http.Request) {
	h := w.Header()
	h.Set("Cache-Control", "no-store")
	h.Set("X-Content-Type-Options", "nosniff")
	h.Set("Cross-Origin-Resource-Policy", "same-origin")
	h.Set("X-Frame-Options", "DENY")
	h.Set("Referrer-Policy", "no-referrer")
	if code, why := s.refuse(req); code != 0 {
		http.Error(w, "live: "+why, code)
		return
	}
	name := path.Base(req.URL.Path)
	if strings.HasSuffix(req.URL.Path, "/") {
		name = ""
	}
	if name == "trace" {
		s.rec.ServeHTTP(w, req)
		return
	}
	v, ok := views[name]
	if !ok {
		http.Error(w, "live: there is no such page: there are ./, work, wait and trace", http.StatusNotFound)
		return
	}
	if req.Method != http.MethodGet && req.Method != http.MethodHead {
		h.Set("Allow", "GET, HEAD")
		http.Error(w, "live: only GET is answered", http.StatusMethodNotAllowed)
		return
	}
	next, err := s.seconds(name, req.URL.Query())
	if err != nil {
		http.Error(w, "live: "+err.Error(), http.StatusBadRequest)
		return
	}
	h.Set("Content-Type", v.contentType)
	if req.Method == http.MethodHead {
		return // the length is that of an answer which nobody has made
	}
	control := http.NewResponseController(w)
	control.SetWriteDeadline(s.now().Add(next + patience + maxTime + sendTime)) // not all can
	if next > 0 {
		select {
		case <-s.after(next):
		case <-req.Context().Done():
			return
		}
	}
	key := cmp.Or(name, "page")
	if next > 0 {
		key = "" // nobody else asked for the same seconds
	}
	a := s.answers.ask(key, func(ctx context.Context) ([]byte, error) { return s.answer(ctx, v, next) })
	defer s.answers.leave(a)
	select {
	case <-a.done:
	case <-req.Context().Done():
		return
	}
	if a.err != nil {
		s.fail(w, a.err)
		return
	}
	h.Set("Content-Length", strconv.Itoa(len(a.body)))
	control.SetWriteDeadline(s.now().Add(sendTime))
	w.Write(a.body) // the client may have gone
}

// refuse returns the status and the reason with which a request is refused; 0 if it is not.
func (s *server) refuse(req *http.Request) (code int, why string) {
	host := req.Host
	if name, _, err := net.SplitHostPort(host); err == nil {
		host = name
	}
	host = strings.TrimSuffix(strings.TrimPrefix(host, "["), "]")
	_, err := netip.ParseAddr(host)
	known := func(name string) bool { return strings.EqualFold(name, host) }
	if err != nil && !known("localhost") && !slices.ContainsFunc(s.o.Hosts, known) {
		return http.StatusMisdirectedRequest, "the request names a host that is not known: add it to live.Options.Hosts"
	}
	if origin := req.Header.Get("Origin"); origin != "" {
		if u, err := url.Parse(origin); err != nil || u.Host == "" || u.Host != req.Host {
			return http.StatusForbidden, "requests of other web sites are not answered"
		}
	}
	switch req.Header.Get("Sec-Fetch-Site") {
	case "", "same-origin", "none":
		return 0, ""
	}
	if req.Header.Get("Sec-Fetch-Mode") == "navigate" && req.Header.Get("Sec-Fetch-Dest") == "document" {
		return 0, "" // a link, of which the other site sees nothing
	}
	return http.StatusForbidden, "requests of other web sites are not answered"
}

// seconds returns for how long to wait before the answer.
func (s *server) seconds(view string, q url.Values) (time.Duration, error) {
	text := q.Get("seconds")
	if text == "" {
		return 0, nil
	}
	if view != "wait" {
		return 0, errors.New("seconds is a parameter of wait: the other pages are about the last ones")
	}
	most := s.rec.Window()
	n, err := strconv.ParseFloat(text, 64)
	if d := time.Duration(n * float64(time.Second)); err == nil && d > 0 && n <= most.Seconds() {
		return d, nil
	}
	return 0, fmt.Errorf("seconds=%q: must be a number of seconds up to %v, which is what the flight recorder keeps (capture.Options.Window)", text, most)
}

// fail answers with an error.
func (s *server) fail(w http.ResponseWriter, err error) {
	code := http.StatusInternalServerError
	switch {
	case errors.Is(err, errBusy), errors.Is(err, errNoMemory), errors.Is(err, context.DeadlineExceeded), errors.Is(err, analyze.ErrNoEvents):
		code = http.StatusServiceUnavailable
		w.Header().Set("Retry-After", "5")
	case errors.Is(err, capture.ErrStopped):
		code = http.StatusServiceUnavailable
	}
	http.Error(w, "live: "+err.Error(), code)
}
