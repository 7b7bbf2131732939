package capture

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/gmpscope/gmpscope/capture/internal/sidecar"
)

const traceID = "4bf92f3577b34da6a3ce929d0e0e4736"

// read returns the request of the file beside a trace, and the trace.
func read(t *testing.T, c Trace) (*sidecar.SlowRequest, []byte) {
	t.Helper()
	text, err := os.ReadFile(c.File + sidecar.Suffix)
	if err != nil {
		t.Fatal(err)
	}
	var m sidecar.Meta
	if err := json.Unmarshal(text, &m); err != nil {
		t.Fatal(err)
	}
	b, err := os.ReadFile(c.File)
	if err != nil {
		t.Fatal(err)
	}
	isTrace(t, b)
	if m.Request == nil {
		t.Fatalf("%s is about no request", c.File)
	}
	return m.Request, b
}

// Of 200 clients at once one is slow: its trace is written, with its task, and no other.
func TestSlowRequest(t *testing.T) {
	written := make(chan Trace, 10)
	r := start(t, Options{OnCapture: func(c Trace) { written <- c }})
	mux := http.NewServeMux()
	serve := http.HandlerFunc(func(w http.ResponseWriter, req *http.Request) { w.WriteHeader(http.StatusNoContent) })
	mux.Handle("POST /charge/{id}", r.Slow(serve, 0)) // any request takes longer
	mux.Handle("/other/{id}", r.Slow(serve, time.Hour))
	server := httptest.NewServer(mux)
	defer server.Close()
	id := func(i int) string { return fmt.Sprintf("%s%03d", traceID[:29], i) }
	var wg sync.WaitGroup
	for i := range 200 {
		wg.Go(func() {
			path := "/other/"
			if i == 17 {
				path = "/charge/"
			}
			req, _ := http.NewRequest("POST", server.URL+path+fmt.Sprint(i), nil)
			req.Header.Set("traceparent", "00-"+id(i)+"-00f067aa0ba902b7-01")
			res, err := http.DefaultClient.Do(req)
			if err != nil {
				t.Error(err)
				return
			}
			res.Body.Close()
		})
	}
	wg.Wait()
	about, b := read(t, <-written)
	if about.Name != "POST /charge/{id}" || about.TraceID != id(17) || about.LimitNs != 0 || about.Ns <= 0 {
		t.Errorf("about %+v", about)
	}
	if !strings.Contains(string(b), "POST /charge/{id}") || !strings.Contains(string(b), about.TraceID) {
		t.Error("the trace does not have the request's task")
	}
	if len(written) != 0 {
		t.Errorf("and %+v", <-written)
	}
}

// What does not end is captured while it is under way, and within the cooldown no other.
func TestOnSlow(t *testing.T) {
	written := make(chan Trace, 10)
	r := start(t, Options{Window: time.Millisecond, OnCapture: func(c Trace) { written <- c }})
	ctx, end := Task(context.Background(), "nightly", "no ID")
	defer end()
	done := r.OnSlow(ctx, time.Millisecond)
	c := <-written
	if about, _ := read(t, c); about.Name != "nightly" || about.TraceID != "" || !strings.HasPrefix(c.Reason, "nightly has taken ") {
		t.Errorf("about %+v: %s", about, c.Reason)
	}
	done()
	r.OnSlow(context.Background(), 0)()
	r.Stop()
	r.OnSlow(ctx, 0)()
	(*Recorder)(nil).OnSlow(ctx, 0)()
	if len(written) != 0 {
		t.Errorf("and %+v", <-written)
	}
}

// A panic of a handler goes on, and its request may be slow.
func TestSlowPanic(t *testing.T) {
	written := make(chan Trace, 1)
	r := start(t, Options{OnCapture: func(c Trace) { written <- c }})
	func() {
		defer func() {
			if recover() == nil {
				t.Error("the panic is gone")
			}
		}()
		r.Slow(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { panic(http.ErrAbortHandler) }), 0).
			ServeHTTP(httptest.NewRecorder(), httptest.NewRequest("GET", "/", nil))
	}()
	if c := <-written; !strings.HasPrefix(c.Reason, "GET took ") {
		t.Error(c.Reason)
	}
}

func TestTraceParent(t *testing.T) {
	for header, want := range map[string]string{
		"00-" + traceID + "-00f067aa0ba902b7-01":       traceID,
		"01-" + traceID + "-00f067aa0ba902b7-01-later": traceID,
		"":                                       "",
		traceID:                                  "",
		"00-" + traceID:                          "",
		"ff-" + traceID + "-00f067aa0ba902b7-01": "",
		"00-" + strings.ToUpper(traceID) + "-00f067aa0ba902b7-01":     "",
		"00-" + strings.Repeat("0", 32) + "-00f067aa0ba902b7-01":      "",
		"00-" + traceID[:31] + "\x00-00f067aa0ba902b7-01":             "",
		"00-" + strings.Repeat("a", 1<<20) + "-00f067aa0ba902b7-01":   "",
		"00-<script>alert(document.cookie)</script>-00f067aa0ba902b7": "",
	} {
		if got := TraceParent(header); got != want {
			t.Errorf("%.60q: %q, want %q", header, got, want)
		}
	}
}

// A client chooses no name of a task.
func TestRoute(t *testing.T) {
	for _, tt := range []struct{ method, pattern, want string }{
		{"GET", "", "GET"},
		{"BREW", "", "other"},
		{"POST", "/charge/", "POST /charge/"},
		{"HEAD", "GET /charge/{id}", "GET /charge/{id}"},
	} {
		req := httptest.NewRequest(tt.method, "/secret", nil)
		if req.Pattern = tt.pattern; route(req) != tt.want {
			t.Errorf("%+v: %q", tt, route(req))
		}
	}
}
