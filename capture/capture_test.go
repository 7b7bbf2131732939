package capture

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"runtime"
	"runtime/trace"
	"strings"
	"testing"
	"time"

	"github.com/gmpscope/gmpscope/capture/internal/sidecar"
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
	if list, _ := os.ReadDir(dir); len(list) != 2 || list[1].Name() != filepath.Base(c.File)+sidecar.Suffix {
		t.Errorf("%d files in the folder: %v", len(list), list)
	}
}

// Beside a trace lies what the quota did in its window, and what is known of the program.
func TestSidecar(t *testing.T) {
	root := t.TempDir()
	write := func(name, text string) {
		t.Helper()
		name = filepath.Join(root, name)
		if err := os.MkdirAll(filepath.Dir(name), 0o777); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(name, []byte(text), 0o666); err != nil {
			t.Fatal(err)
		}
	}
	write("proc/self/cgroup", "0::/\n")
	write("proc/self/mountinfo", "30 23 0:26 / /cg rw - cgroup2 cgroup2 rw\n")
	write("cg/cpu.max", "40000 100000\n")
	stat := func(n int) {
		write("cg/cpu.stat", fmt.Sprintf("nr_periods %d\nnr_throttled %d\nthrottled_usec %d\n", n, n, n))
	}
	r := fake(t, Options{Window: 8 * time.Second, Labels: map[string]string{"service": "checkout"}}, &fakeFlight{bytes: 10})
	r.quota.process = sidecar.NewProcess(root, "self")
	now := time.Now()
	for i := range 20 { // one a second
		stat(i)
		r.quota.count(now.Add(time.Duration(i)*time.Second), r.o.Window)
		for j := range r.quota.counted {
			r.quota.counted[j].AtNs = now.Add(time.Duration(i-len(r.quota.counted)+1+j) * time.Second).UnixNano()
		}
	}
	if n := len(r.quota.counted); n != samples+1 {
		t.Errorf("%d counts are kept", n)
	}
	stat(20)
	name, err := r.write(now.Add(20*time.Second), make([]byte, 10), nil)
	if err != nil {
		t.Fatal(err)
	}
	text, err := os.ReadFile(name + sidecar.Suffix)
	if err != nil {
		t.Fatal(err)
	}
	var m sidecar.Meta
	if err := json.Unmarshal(text, &m); err != nil {
		t.Fatal(err)
	}
	q := m.Quota
	if q == nil || q.CPUs != 0.4 || q.Before.Throttled != 12 || q.After.Throttled != 20 || q.After.ThrottledNs != 20_000 {
		t.Errorf("quota %+v", q)
	}
	if m.Version != 1 || m.GOMAXPROCS != runtime.GOMAXPROCS(0) || m.GoVersion != runtime.Version() || m.Labels["service"] != "checkout" || m.Build == nil {
		t.Errorf("%s", text)
	}
	// It goes with the trace, and what a program that was killed left of one goes, too.
	r.o.MaxFiles = 1
	left := filepath.Join(r.o.Dir, "trace-20260102T030405.000000Z-7")
	for _, suffix := range []string{unfinished, suffix + sidecar.Suffix} {
		if err := os.WriteFile(left+suffix, nil, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	if _, err := r.write(now.Add(21*time.Second), make([]byte, 10), nil); err != nil {
		t.Fatal(err)
	}
	if got, _ := os.ReadDir(r.o.Dir); len(got) != 2 {
		t.Errorf("the folder has %q", got)
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
	r := newRecorder(Options{Dir: dir, Name: "t", MaxFiles: 3, MaxBytes: 250}, nil)
	var names []string
	for i := range 5 {
		name, err := r.write(time.Date(2026, 1, 2, 3, 4, i, 0, time.UTC), make([]byte, 80), nil)
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
	name, err := r.write(time.Date(2026, 1, 2, 3, 5, 0, 0, time.UTC), make([]byte, 200), nil)
	if err != nil || exist() != 0 {
		t.Errorf("%d old traces beside one that fills MaxBytes; %v", exist(), err)
	}
	if _, err := r.write(time.Now(), make([]byte, 251), nil); err == nil || !strings.Contains(err.Error(), "MaxBytes") {
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

// Without a folder no file is written, and the last seconds can be had all the same.
func TestNoFolder(t *testing.T) {
	r, err := Start(Options{Window: 3 * time.Second})
	if err != nil {
		t.Fatal(err)
	}
	if r.Window() != 3*time.Second {
		t.Errorf("the window is %v", r.Window())
	}
	if _, err := r.Capture("by hand"); !errors.Is(err, errNoDir) {
		t.Errorf("Capture: %v", err)
	}
	var b bytes.Buffer
	if n, err := r.WriteTo(&b); err != nil || n != int64(b.Len()) {
		t.Errorf("WriteTo: %d bytes of %d, %v", n, b.Len(), err)
	}
	isTrace(t, b.Bytes())
	r.Stop()
	if _, err := r.WriteTo(&b); !errors.Is(err, ErrStopped) {
		t.Errorf("WriteTo of a recorder that was stopped: %v", err)
	}
	if _, err := (*Recorder)(nil).WriteTo(&b); !errors.Is(err, ErrStopped) {
		t.Errorf("WriteTo of no recorder: %v", err)
	}
}

func TestOptions(t *testing.T) {
	for want, o := range map[string]Options{
		"Dir is empty":       {Budget: Budget{Latency: 1}},
		"must be part of":    {Dir: "x", Name: "../x"},
		"10ms at least":      {Dir: "x", Interval: time.Millisecond},
		"must not be negati": {Dir: "x", Window: -1},
		"between 0 and 1":    {Dir: "x", Budget: Budget{Quantile: 1.5, Latency: 1}},
		"has no Latency":     {Dir: "x", Budget: Budget{Quantile: 0.5}},
		"a label has no":     {Dir: "x", Labels: map[string]string{"": "x"}},
	} {
		if _, err := Start(o); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%+v: %v, want %q", o, err, want)
		}
	}
}
