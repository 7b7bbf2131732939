package live

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"runtime"
	"runtime/debug"
	"runtime/metrics"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/google/pprof/profile"

	"github.com/gmpscope/gmpscope/analyze"
	"github.com/gmpscope/gmpscope/capture"
	"github.com/gmpscope/gmpscope/internal/testkit/hostile"
	"github.com/gmpscope/gmpscope/internal/testkit/tracetest"
)

// fake is a recorder that holds a trace.
type fake struct {
	data    []byte
	err     error
	asked   atomic.Int32
	writing func() // called by WriteTo
}

func (f *fake) WriteTo(w io.Writer) (int64, error) {
	f.asked.Add(1)
	if f.writing != nil {
		f.writing()
	}
	n, err := w.Write(f.data)
	if f.err != nil {
		err = f.err
	}
	return int64(n), err
}

func (f *fake) Window() time.Duration { return 10 * time.Second }

func (f *fake) ServeHTTP(w http.ResponseWriter, _ *http.Request) { w.Write(f.data) }

// serve returns a handler of a recording that makes no pauses.
func serve(t testing.TB, name string) (*server, *fake) {
	t.Helper()
	f := &fake{data: tracetest.Recorded(t, name)}
	s := handler(f, Options{CPU: 100})
	s.after = func(time.Duration) <-chan time.Time { c := make(chan time.Time); close(c); return c }
	return s, f
}

func get(t testing.TB, h http.Handler, url string, header ...string) *httptest.ResponseRecorder {
	t.Helper()
	req := httptest.NewRequest("GET", url, nil)
	for i := 0; i < len(header); i += 2 {
		req.Header.Set(header[i], header[i+1])
	}
	w := httptest.NewRecorder()
	h.ServeHTTP(w, req)
	return w
}

const here = "http://localhost:6060/debug/gmpscope/"

func TestViews(t *testing.T) {
	s, f := serve(t, "network-go1.26-p4")
	page := get(t, s, here)
	if page.Code != 200 || !strings.HasPrefix(page.Body.String(), "<!doctype html>") || page.Header().Get("Content-Type") != "text/html; charset=utf-8" {
		t.Errorf("the page: %d, %.100q", page.Code, page.Body)
	}
	var work Work
	body := get(t, s, here+"work").Body.Bytes()
	if err := json.Unmarshal(body, &work); err != nil || len(work.Work.Kinds) == 0 || work.Headline == "" || work.DurationNs == 0 || work.Warnings == nil {
		t.Errorf("work: %v in %.300s", err, body)
	}
	all := profileOf(t, get(t, s, here+"wait"))
	last := profileOf(t, get(t, s, here+"wait?seconds=0.01"))
	if len(all.Sample) == 0 || len(all.SampleType) != 4 || last.DurationNanos != 10_000_000 || sum(last) >= sum(all) || sum(last) == 0 {
		t.Errorf("wait: %d samples of %v in %d ns; of the last 10 ms %d of %d ns", len(all.Sample), all.SampleType, last.DurationNanos, sum(last), sum(all))
	}
	if b := get(t, s, here+"trace").Body.Bytes(); !bytes.Equal(b, f.data) {
		t.Errorf("the trace has %d bytes of %d", len(b), len(f.data))
	}
}

func profileOf(t *testing.T, w *httptest.ResponseRecorder) *profile.Profile {
	t.Helper()
	p, err := profile.ParseData(w.Body.Bytes())
	if err != nil {
		t.Fatalf("%d: %v", w.Code, err)
	}
	return p
}

// sum is what all waited and were blocked, ns.
func sum(p *profile.Profile) (ns int64) {
	for _, s := range p.Sample {
		ns += s.Value[1] + s.Value[3]
	}
	return ns
}

// TestOwnWork has the units of this package left out, and those of others not.
func TestOwnWork(t *testing.T) {
	for function, want := range map[string]bool{
		"github.com/gmpscope/gmpscope/live.(*server).ServeHTTP":                true,
		"github.com/gmpscope/gmpscope/analyze/events.(*Stream).dispatch.func2": true,
		"github.com/gmpscope/gmpscope/testdata/traces/programs/network.serve":  false,
		"github.com/gmpscope/gmpscope/livestock.Count":                         false,
		"main.handle": false,
	} {
		if got := ours(function); got != want {
			t.Errorf("%s: %v", function, got)
		}
	}
}

func TestRefuse(t *testing.T) {
	s, f := serve(t, "network-go1.26-p4")
	s.o.Hosts = []string{"checkout.internal"}
	cross := []string{"Sec-Fetch-Site", "cross-site"}
	for _, c := range []struct {
		url    string
		header []string
		want   int
	}{
		{"http://127.0.0.1/work", nil, 200},
		{"http://[::1]:6060/work", nil, 200},
		{"http://Checkout.Internal:8080/work", nil, 200},
		{"http://localhost/work", []string{"Origin", "http://localhost"}, 200},
		{"http://localhost/work", []string{"Sec-Fetch-Site", "same-origin"}, 200},
		{"http://localhost/work", append([]string{"Sec-Fetch-Mode", "navigate", "Sec-Fetch-Dest", "document"}, cross...), 200},
		{"http://evil.example/work", nil, 421},
		{"http://localhost.evil.example/trace", nil, 421},
		{"http://localhost/work", []string{"Origin", "http://evil.example"}, 403},
		{"http://localhost/work", []string{"Origin", "null"}, 403},
		{"http://localhost:1/trace", []string{"Origin", "http://localhost:2"}, 403},
		{"http://localhost/work", cross, 403},
		{"http://localhost/", append([]string{"Sec-Fetch-Mode", "navigate", "Sec-Fetch-Dest", "iframe"}, cross...), 403},
		{"http://localhost/elsewhere", nil, 404},
		{"http://localhost/wait?seconds=11", nil, 400},
		{"http://localhost/wait?seconds=-1", nil, 400},
		{"http://localhost/wait?seconds=NaN", nil, 400},
		{"http://localhost/work?seconds=1", nil, 400},
	} {
		before := f.asked.Load()
		w := get(t, s, c.url, c.header...)
		if w.Code != c.want {
			t.Errorf("%s %v: status %d, want %d: %.200s", c.url, c.header, w.Code, c.want, w.Body)
		}
		if w.Code != 200 && (f.asked.Load() != before || !strings.HasPrefix(w.Body.String(), "live: ")) {
			t.Errorf("%s %v: refused after a look, or without a word: %s", c.url, c.header, w.Body)
		}
		if w.Header().Get("Access-Control-Allow-Origin") != "" {
			t.Errorf("%s: allows other origins", c.url)
		}
	}
	req := httptest.NewRequest("POST", "http://localhost/work", nil)
	w := httptest.NewRecorder()
	if s.ServeHTTP(w, req); w.Code != http.StatusMethodNotAllowed || w.Header().Get("Allow") == "" {
		t.Errorf("POST: status %d", w.Code)
	}
}

// What the recorder holds may be anything: each is one clear error, or what can be read.
func TestBadTraces(t *testing.T) {
	whole := tracetest.Recorded(t, "network-go1.26-p4")
	for name, c := range map[string]struct {
		fake *fake
		code int
		want string
	}{
		"nothing":   {&fake{}, 500, "is empty"},
		"no trace":  {&fake{data: []byte("#!/bin/sh\necho this is no trace\n")}, 500, "analysing the last seconds"},
		"no events": {&fake{data: whole[:16]}, 503, "no events"},
		"half":      {&fake{data: whole[:len(whole)/2]}, 200, "<!doctype html>"},
		"stopped":   {&fake{err: capture.ErrStopped}, 503, "was stopped"},
		"no memory": {&fake{err: errors.New("capture: reading the flight recorder: no")}, 500, "reading the flight recorder"},
		"a panic":   {&fake{writing: func() { panic("boom") }}, 500, "internal error"},
	} {
		w := get(t, handler(c.fake, Options{CPU: 100}), here)
		if w.Code != c.code || !strings.Contains(w.Body.String(), c.want) {
			t.Errorf("%s: status %d, want %d and %q: %.300s", name, w.Code, c.code, c.want, w.Body)
		}
	}
	if w := get(t, Handler(nil, Options{}), here); w.Code != 503 {
		t.Errorf("no recorder: status %d: %s", w.Code, w.Body)
	}
}

// Where the process has a memory limit, an analysis gets what is left of it, or is refused.
func TestMemoryLimit(t *testing.T) {
	s, _ := serve(t, "network-go1.26-p4")
	defer debug.SetMemoryLimit(debug.SetMemoryLimit(-1))
	for _, c := range []struct {
		limit int64
		code  int
	}{{1 << 30, 200}, {analyze.MinMemory, 503}} {
		debug.SetMemoryLimit(c.limit)
		w := get(t, s, here+"work")
		if w.Code != c.code || c.code == 503 && (w.Header().Get("Retry-After") == "" || !strings.Contains(w.Body.String(), "GOMEMLIMIT")) {
			t.Errorf("with %d bytes: status %d, want %d: %.200s", c.limit, w.Code, c.code, w.Body)
		}
	}
	debug.SetMemoryLimit(s.o.MaxMemory + 1<<30)
	if got, err := s.memory(0); got != s.o.MaxMemory || err != nil {
		t.Errorf("with room: %d bytes of %d, %v", got, s.o.MaxMemory, err)
	}
	if got, err := s.memory(1<<30 - 1<<20); got >= s.o.MaxMemory || err != nil {
		t.Errorf("with little room: %d bytes of %d, %v", got, s.o.MaxMemory, err)
	}
}

// A hostile trace costs no more memory than Options.MaxMemory allows, and ends in an answer or in one line.
func TestHostile(t *testing.T) {
	size := hostile.Full
	size.Stored, size.Unpacked = size.Stored/32, size.Unpacked/32
	serveHostile(t, size)
}

func serveHostile(t *testing.T, size hostile.Size) {
	for _, in := range hostile.Inputs() {
		var data bytes.Buffer
		if err := in.Write(&data, size); err != nil {
			t.Fatal(err)
		}
		s := handler(&fake{data: data.Bytes()}, Options{CPU: 100, MaxMemory: analyze.MinMemory})
		for _, view := range []string{"", "wait?seconds=0.01"} { // which make most of what the others do
			s.after = func(time.Duration) <-chan time.Time { c := make(chan time.Time); close(c); return c }
			runtime.GC()
			before, stop := heapSize(), make(chan struct{})
			most := make(chan int64)
			go func() {
				var peak int64
				for tick := time.NewTicker(5 * time.Millisecond); ; {
					peak = max(peak, heapSize()-before)
					select {
					case <-tick.C:
					case <-stop:
						most <- peak
						return
					}
				}
			}()
			began := time.Now()
			w := get(t, s, here+view)
			close(stop)
			peak := <-most
			t.Logf("%s, %q: status %d, %d KiB, %v, %d MiB", in.Name, view, w.Code, w.Body.Len()>>10, time.Since(began).Round(time.Millisecond), peak>>20)
			if w.Code != 200 && (!strings.HasPrefix(w.Body.String(), "live: ") || strings.Count(w.Body.String(), "\n") != 1 || strings.Contains(w.Body.String(), "internal error")) {
				t.Errorf("%s, %q: status %d: %.300s", in.Name, view, w.Code, w.Body)
			}
			// As scripts/hostile allows it, and as much garbage again.
			if bound := int64(2*(analyze.MinMemory+analyze.MinMemory/4+32<<20) + data.Len() + 2*w.Body.Len()); peak > bound {
				t.Errorf("%s, %q: the heap grew by %d MiB, the bound is %d", in.Name, view, peak>>20, bound>>20)
			}
		}
	}
}

// heapSize is how many bytes the objects in the heap take.
func heapSize() int64 {
	m := []metrics.Sample{{Name: "/memory/classes/heap/objects:bytes"}}
	metrics.Read(m)
	return int64(m[0].Value.Uint64())
}

// Many clients: each gets the page, or is told to come back; one analysis runs at a time, and those
// who ask for the same thing share it.
func TestClients(t *testing.T) {
	s, f := serve(t, "network-go1.26-p2")
	var now, most atomic.Int32
	f.writing = func() {
		n := now.Add(1)
		defer now.Add(-1)
		for m := most.Load(); n > m && !most.CompareAndSwap(m, n); m = most.Load() {
		}
		time.Sleep(10 * time.Millisecond) // lets the others ask
	}
	srv := httptest.NewServer(s)
	defer srv.Close()
	var wg sync.WaitGroup
	codes := make([]int, 200)
	for i := range codes {
		wg.Go(func() {
			resp, err := http.Get(srv.URL + []string{"/", "/work", "/wait", "/wait?seconds=0.001"}[min(i%16, 3)])
			if err != nil {
				t.Error(err)
				return
			}
			defer resp.Body.Close()
			b, err := io.ReadAll(resp.Body)
			if codes[i] = resp.StatusCode; err != nil || len(b) == 0 || codes[i] == 503 && resp.Header.Get("Retry-After") == "" {
				t.Errorf("client %d: status %d, %d bytes, %v", i, codes[i], len(b), err)
			}
		})
	}
	wg.Wait()
	served := 0
	for i, c := range codes {
		if c == 200 {
			served++
		} else if c != 503 {
			t.Errorf("client %d: status %d", i, c)
		}
	}
	t.Logf("%d of %d clients served by %d analyses, at most %d at one time", served, len(codes), f.asked.Load(), most.Load())
	if most.Load() != 1 || served == 0 {
		t.Errorf("%d analyses at one time", most.Load())
	}
	if s.answers.users() != 0 {
		t.Errorf("%d answers are still in memory", s.answers.users())
	}
}

// users is how many answers are in memory, or being made, after those who use them had time to leave.
func (d *answers) users() int {
	for range 1000 {
		d.mu.Lock()
		n := len(d.under) + len(d.room) + len(d.turn)
		d.mu.Unlock()
		if n == 0 {
			return 0
		}
		time.Sleep(10 * time.Millisecond)
	}
	return len(d.room)
}

// Where there is no room, clients are told so; when the last one has gone, the work ends.
func TestNoRoom(t *testing.T) {
	s, _ := serve(t, "network-go1.26-p2")
	s.answers = newAnswers(1)
	s.answers.patience = time.Millisecond
	began, ended := make(chan struct{}), make(chan error)
	a := s.answers.ask("slow", func(ctx context.Context) ([]byte, error) {
		close(began)
		<-ctx.Done()
		ended <- ctx.Err()
		return nil, ctx.Err()
	})
	<-began
	w := get(t, s, here)
	if w.Code != 503 || w.Header().Get("Retry-After") == "" || !strings.Contains(w.Body.String(), "try again") {
		t.Errorf("no room: status %d: %s", w.Code, w.Body)
	}
	if b := s.answers.ask("slow", nil); b != a {
		t.Error("who asks for the same gets another answer")
	}
	s.answers.leave(a)
	select {
	case err := <-ended:
		t.Fatal("the work ended while a client waits:", err)
	default:
	}
	s.answers.leave(a)
	if err := <-ended; !errors.Is(err, context.Canceled) {
		t.Error(err)
	}
	s.answers.patience = time.Minute
	if w := get(t, s, here+"work"); w.Code != 200 {
		t.Errorf("afterwards: status %d: %s", w.Code, w.Body)
	}
}

// What takes too long is given up.
func TestTooLong(t *testing.T) {
	s, _ := serve(t, "network-go1.26-p4")
	s.answers.maxTime = time.Nanosecond
	if w := get(t, s, here); w.Code != 503 || !strings.Contains(w.Body.String(), "took longer") {
		t.Errorf("status %d: %s", w.Code, w.Body)
	}
}

// Of this program, by a recorder that capture uses, too.
func TestOwnProgram(t *testing.T) {
	dir := t.TempDir()
	r, err := capture.Start(capture.Options{Dir: dir})
	if err != nil {
		t.Skip("no flight recorder: ", err) // go test -trace
	}
	defer r.Stop()
	mux := http.NewServeMux()
	mux.Handle("/debug/gmpscope/", Handler(r, Options{CPU: 100}))
	srv := httptest.NewServer(mux)
	defer srv.Close()
	for _, name := range []string{"", "work", "wait", "wait?seconds=0.05", "trace"} {
		resp, err := http.Get(srv.URL + "/debug/gmpscope/" + name)
		if err != nil {
			t.Fatal(err)
		}
		b, err := io.ReadAll(resp.Body)
		resp.Body.Close()
		if err != nil || resp.StatusCode != 200 || len(b) == 0 {
			t.Errorf("%s: status %d, %v: %.200s", name, resp.StatusCode, err, b)
		}
	}
	if _, err := r.Capture("beside it"); err != nil {
		t.Error(err)
	}
	r.Stop()
	if w := get(t, mux, here); w.Code != 503 || !strings.Contains(w.Body.String(), "stopped") {
		t.Errorf("after Stop: status %d: %s", w.Code, w.Body)
	}
}
