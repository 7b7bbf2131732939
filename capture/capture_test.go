package capture

import (
	"bytes"
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"runtime/trace"
	"strings"
	"testing"
	"time"
)

// start starts a recorder that looks at nothing by itself.
func start(t *testing.T, o Options) *Recorder {
	t.Helper()
	if o.Dir == "" {
		o.Dir = t.TempDir()
	}
	if o.Interval == 0 {
		o.Interval = time.Hour
	}
	r, err := Start(o)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(r.Stop)
	return r
}

// isTrace checks that b begins and ends like a whole trace.
func isTrace(t *testing.T, b []byte) {
	t.Helper()
	if !bytes.HasPrefix(b, []byte("go 1.")) {
		t.Fatalf("%d bytes that begin with %q are no trace", len(b), b[:min(len(b), 16)])
	}
}

func TestCapture(t *testing.T) {
	var told []Trace
	dir := filepath.Join(t.TempDir(), "new", "folder")
	r := start(t, Options{Dir: dir, Name: "svc", OnCapture: func(c Trace) { told = append(told, c) }})
	c, err := r.Capture("by hand")
	if err != nil {
		t.Fatal(err)
	}
	b, err := os.ReadFile(c.File)
	if err != nil {
		t.Fatal(err)
	}
	isTrace(t, b)
	if c.Bytes != int64(len(b)) || c.Reason != "by hand" || filepath.Dir(c.File) != dir || filepath.Base(c.File) != "svc-"+c.At.UTC().Format(stamp)+"-1.trace" {
		t.Errorf("%+v for a file of %d bytes", c, len(b))
	}
	if len(told) != 1 || told[0] != c {
		t.Errorf("told of %+v, want %+v", told, c)
	}
	if list, _ := os.ReadDir(dir); len(list) != 1 {
		t.Errorf("%d files in the folder: %v", len(list), list)
	}
}

// The watcher captures a trace by itself when the signal is raised.
func TestWatch(t *testing.T) {
	got := make(chan Trace, 1)
	raised := false
	start(t, Options{
		Interval: 10 * time.Millisecond,
		Signal: func() (string, bool) {
			first := !raised
			raised = true
			return "queue full", first
		},
		OnCapture: func(c Trace) { got <- c },
	})
	if c := <-got; c.Reason != "queue full" {
		t.Errorf("captured for %q", c.Reason)
	}
}

func TestOneRecorder(t *testing.T) {
	r := start(t, Options{})
	if _, err := Start(Options{Dir: t.TempDir()}); err == nil || !strings.Contains(err.Error(), "flight recorder") {
		t.Errorf("a second recorder: %v", err)
	}
	r.Stop()
	r.Stop()
	if _, err := r.Capture(""); !errors.Is(err, ErrStopped) {
		t.Errorf("a capture after Stop: %v", err)
	}
	start(t, Options{}) // there is none any more
}

func TestNil(t *testing.T) {
	var r *Recorder
	r.Stop()
	if _, err := r.Capture(""); !errors.Is(err, ErrStopped) {
		t.Error(err)
	}
	w := httptest.NewRecorder()
	r.ServeHTTP(w, httptest.NewRequest(http.MethodGet, "/", nil))
	if w.Code != http.StatusServiceUnavailable {
		t.Error(w.Code)
	}
}

// A trace by trace.Start can run before, during and after a recorder.
func TestBesideTrace(t *testing.T) {
	var whole bytes.Buffer
	if err := trace.Start(&whole); err != nil {
		t.Fatal(err)
	}
	r := start(t, Options{})
	c, err := r.Capture("")
	if err != nil {
		t.Fatal(err)
	}
	r.Stop()
	trace.Stop()
	isTrace(t, whole.Bytes())
	b, err := os.ReadFile(c.File)
	if err != nil {
		t.Fatal(err)
	}
	isTrace(t, b)
}

func TestHTTP(t *testing.T) {
	r := start(t, Options{Name: "svc"})
	srv := httptest.NewServer(r)
	defer srv.Close()
	resp, err := http.Get(srv.URL)
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	b, err := io.ReadAll(resp.Body)
	if err != nil || resp.StatusCode != http.StatusOK {
		t.Fatal(resp.Status, err)
	}
	isTrace(t, b)
	if d := resp.Header.Get("Content-Disposition"); !strings.Contains(d, `filename="svc-`) {
		t.Errorf("Content-Disposition: %s", d)
	}
	post, err := http.Post(srv.URL, "", nil)
	if err != nil {
		t.Fatal(err)
	}
	post.Body.Close()
	if post.StatusCode != http.StatusMethodNotAllowed {
		t.Error(post.Status)
	}
	if list, _ := os.ReadDir(r.o.Dir); len(list) != 0 {
		t.Errorf("serving left %v", list)
	}
}

func TestLimits(t *testing.T) {
	dir := t.TempDir()
	others := []string{"notes.txt", "other-20260102T030405.000000Z-1.trace", "t-now-1.trace", "t-20260102T030405.000000Z-x.trace", "t-20260102T030405.000000Z.trace"}
	for _, name := range others {
		if err := os.WriteFile(filepath.Join(dir, name), make([]byte, 1000), 0o666); err != nil {
			t.Fatal(err)
		}
	}
	r := &Recorder{o: Options{Dir: dir, Name: "t", MaxFiles: 3, MaxBytes: 250}}
	var names []string
	for i := range 5 {
		name, err := r.write(time.Date(2026, 1, 2, 3, 4, i, 0, time.UTC), make([]byte, 80))
		if err != nil {
			t.Fatal(err)
		}
		names = append(names, name)
	}
	exist := func() (n int) {
		for _, name := range names {
			if _, err := os.Stat(name); err == nil {
				n++
			}
		}
		return n
	}
	if _, err := os.Stat(names[4]); err != nil || exist() != 3 {
		t.Errorf("%d of 5 traces are left, the newest: %v", exist(), err)
	}
	name, err := r.write(time.Date(2026, 1, 2, 3, 5, 0, 0, time.UTC), make([]byte, 200))
	if err != nil || exist() != 0 {
		t.Errorf("%d old traces beside one that fills MaxBytes; %v", exist(), err)
	}
	if _, err := r.write(time.Now(), make([]byte, 251)); err == nil || !strings.Contains(err.Error(), "MaxBytes") {
		t.Errorf("a trace beyond MaxBytes: %v", err)
	}
	if _, err := os.Stat(name); err != nil {
		t.Error("a trace that is too large removed another:", err)
	}
	for _, name := range others {
		if _, err := os.Stat(filepath.Join(dir, name)); err != nil {
			t.Errorf("a file of somebody else is gone: %v", err)
		}
	}
}

func TestOptions(t *testing.T) {
	for want, o := range map[string]Options{
		"Dir is empty":       {},
		"must be part of":    {Dir: "x", Name: "../x"},
		"10ms at least":      {Dir: "x", Interval: time.Millisecond},
		"must not be negati": {Dir: "x", Window: -1},
		"between 0 and 1":    {Dir: "x", Budget: Budget{Quantile: 1.5, Latency: 1}},
		"has no Latency":     {Dir: "x", Budget: Budget{Quantile: 0.5}},
	} {
		if _, err := Start(o); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%+v: %v, want %q", o, err, want)
		}
	}
}
