package capture

import (
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/gmpscope/gmpscope/capture/internal/sidecar"
)

// fakeFlight is a flight recorder that holds a trace of so many bytes.
type fakeFlight struct {
	bytes int
	block chan struct{} // if set, WriteTo waits for an element
	made  atomic.Int32  // how often WriteTo was called
}

func (f *fakeFlight) WriteTo(w io.Writer) (int64, error) {
	f.made.Add(1)
	if f.block != nil {
		<-f.block
	}
	n, err := w.Write(make([]byte, f.bytes))
	return int64(n), err
}

func (f *fakeFlight) Stop() {}

// fake returns a recorder of a flight that looks at nothing by itself.
func fake(t *testing.T, o Options, f *fakeFlight) *Recorder {
	t.Helper()
	if o.Dir == "" {
		o.Dir = t.TempDir()
	}
	o.setDefaults()
	r := newRecorder(o, f)
	close(r.done)
	return r
}

// names returns the names of the files in a folder, but those beside traces.
func names(t *testing.T, dir string) (names []string) {
	t.Helper()
	entries, err := os.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range entries {
		if !strings.HasSuffix(e.Name(), sidecar.Suffix) {
			names = append(names, e.Name())
		}
	}
	return names
}

func put(t *testing.T, dir, name string, bytes int) {
	t.Helper()
	if err := os.WriteFile(filepath.Join(dir, name), make([]byte, bytes), 0o600); err != nil {
		t.Fatal(err)
	}
}

// await returns when condition holds.
func await(t *testing.T, condition func() bool) {
	t.Helper()
	for end := time.Now().Add(5 * time.Minute); !condition(); runtime.Gosched() {
		if time.Now().After(end) {
			t.Fatal("what the test waits for does not come")
		}
	}
}

// waiting returns how many ask for a result that is not begun.
func (s *shared[T]) waiting() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.next == nil {
		return 0
	}
	return s.next.users
}

// What was written first is removed first, whatever the clock shows.
func TestClockPutBack(t *testing.T) {
	r := fake(t, Options{Name: "x", MaxFiles: 3}, &fakeFlight{bytes: 10})
	now := time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)
	for i, step := range []time.Duration{0, time.Hour, 24 * time.Hour, -time.Minute, -time.Hour, 48 * time.Hour, -time.Second} {
		name, err := r.write(now.Add(step), make([]byte, 10), nil)
		if err != nil {
			t.Fatal(err)
		}
		var left []string
		for _, file := range names(t, r.o.Dir) {
			left = append(left, file[strings.LastIndex(file, "-")+1:])
		}
		var want []string
		for n := max(1, i-1); n <= i+1; n++ {
			want = append(want, fmt.Sprintf("%d.trace", n))
		}
		if slices.Sort(left); !slices.Equal(left, want) {
			t.Errorf("%v remain after %s, want %v", left, filepath.Base(name), want)
		}
	}
	// Beside traces that another version left, with numbers by chance.
	dir := t.TempDir()
	for i := range 10 {
		put(t, dir, fmt.Sprintf("x-%s-%d.trace", time.Now().Add(24*time.Hour).UTC().Format(stamp), 4294967295-i), 10)
	}
	r = fake(t, Options{Dir: dir, Name: "x"}, &fakeFlight{bytes: 10})
	for range 3 {
		c, err := r.Capture("")
		if err != nil {
			t.Fatal(err)
		}
		if _, err := os.Stat(c.File); err != nil {
			t.Error(err)
		}
	}
	if n := len(names(t, dir)); n != 10 {
		t.Errorf("%d files remain, want 10", n)
	}
}

// What programs left that were killed while they wrote goes; what others write
// stays.
func TestUnfinished(t *testing.T) {
	dir := t.TempDir()
	for i := range 100 {
		put(t, dir, fmt.Sprintf("x-20260102T030405.%06dZ-%d.tmp", i, i), 10)
	}
	others := []string{"x.tmp", "x-1.tmp", "y-20260102T030405.000000Z-1.tmp", "x-20260102T030405.000000Z-1.tmp~"}
	for _, name := range others {
		put(t, dir, name, 10)
	}
	r := fake(t, Options{Dir: dir, Name: "x"}, &fakeFlight{bytes: 10})
	c, err := r.Capture("")
	if err != nil {
		t.Fatal(err)
	}
	want := append(others, filepath.Base(c.File))
	slices.Sort(want)
	if got := names(t, dir); !slices.Equal(got, want) {
		t.Errorf("%d files remain: %v, want %v", len(got), got, want)
	}
}

// A trace that is not written leaves nothing, and removes none.
func TestFailedWrite(t *testing.T) {
	dir := t.TempDir()
	r := fake(t, Options{Dir: dir, Name: "x", MaxFiles: 1}, &fakeFlight{bytes: 10})
	c, err := r.Capture("")
	if err != nil {
		t.Fatal(err)
	}
	// A folder has the name that the next one would get: it cannot be renamed to it.
	now := time.Now()
	if err := os.MkdirAll(filepath.Join(dir, "x-"+now.UTC().Format(stamp)+"-2.tmp", "full"), 0o777); err != nil {
		t.Fatal(err)
	}
	if _, err := r.write(now, make([]byte, 10), nil); err == nil {
		t.Fatal("a trace could be written over a folder")
	}
	if got := names(t, dir); len(got) != 2 || !slices.Contains(got, filepath.Base(c.File)) {
		t.Errorf("%v remain, want the folder and %s", got, c.File)
	}
}

func TestFolderVanishes(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "a", "b")
	r := fake(t, Options{Dir: dir}, &fakeFlight{bytes: 10})
	for range 2 {
		c, err := r.Capture("")
		if err != nil {
			t.Fatal(err)
		}
		if _, err := os.Stat(c.File); err != nil {
			t.Error(err)
		}
		if err := os.RemoveAll(filepath.Dir(dir)); err != nil {
			t.Fatal(err)
		}
	}
}

// After a capture that failed the next one is not as late as after a good one.
func TestFailedCapture(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "d")
	var failed atomic.Int32
	raised := make(chan struct{})
	written := make(chan Trace, 1)
	start(t, Options{
		Dir:      dir,
		Interval: 10 * time.Millisecond,
		Cooldown: 1000 * time.Hour,
		Signal: func() (string, bool) {
			<-raised
			return "always", true
		},
		OnError: func(error) {
			if failed.Add(1) == 2 {
				os.Remove(dir)
			}
		},
		OnCapture: func(c Trace) { written <- c },
	})
	// A file is where the folder was.
	if err := os.Remove(dir); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(dir, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	close(raised)
	<-written
	if failed.Load() != 2 {
		t.Errorf("%d captures failed, want 2", failed.Load())
	}
}

// Whoever asks at the same time gets the same file.
func TestCaptureTogether(t *testing.T) {
	const n = 60
	f := &fakeFlight{bytes: 10, block: make(chan struct{})}
	var called atomic.Int32
	r := fake(t, Options{OnCapture: func(Trace) { called.Add(1) }}, f)
	var wg sync.WaitGroup
	ask := func(i int) {
		wg.Go(func() {
			reason := fmt.Sprint(i)
			if c, err := r.Capture(reason); err != nil || c.Reason != reason || c.Bytes != 10 {
				t.Errorf("%+v, %v, want the reason %s", c, err, reason)
			}
		})
	}
	ask(0)
	await(t, func() bool { return f.made.Load() == 1 })
	for i := range n {
		ask(1 + i) // too late for the first snapshot
	}
	await(t, func() bool { return r.files.waiting() == n })
	close(f.block)
	wg.Wait()
	if got := names(t, r.o.Dir); len(got) != 2 || f.made.Load() != 2 || called.Load() != 2 {
		t.Errorf("%d files of %d snapshots, OnCapture called %d times, want 2: %v", len(got), f.made.Load(), called.Load(), got)
	}
}

// Stop waits for a trace that is being written, and a capture after it is none.
func TestStopWaits(t *testing.T) {
	f := &fakeFlight{bytes: 10, block: make(chan struct{})}
	r := fake(t, Options{}, f)
	turn := r.files.get(nil, func() (Trace, error) { return Trace{}, nil }) // writes
	stopped := make(chan struct{})
	go func() {
		r.Stop()
		close(stopped)
	}()
	await(t, func() bool { return r.files.waiting() == 1 })
	select {
	case <-stopped:
		t.Error("Stop did not wait")
	default:
	}
	r.files.release(turn)
	<-stopped
	if _, err := r.Capture(""); !errors.Is(err, ErrStopped) {
		t.Error(err)
	}
}

// slowWriter is a client that reads nothing until it is released.
type slowWriter struct {
	*httptest.ResponseRecorder
	sending  *sending
	deadline time.Time
}

// sending counts the snapshots that are being sent.
type sending struct {
	release chan struct{}

	mu      sync.Mutex
	clients map[*byte]int // of each snapshot
	most    int
	all     int
}

func (w *slowWriter) SetWriteDeadline(t time.Time) error {
	w.deadline = t
	return nil
}

func (w *slowWriter) Write(b []byte) (int, error) {
	if w.Code != http.StatusOK {
		return len(b), nil // the text of an error
	}
	s := w.sending
	s.mu.Lock()
	s.all++
	s.clients[&b[0]]++
	s.most = max(s.most, len(s.clients))
	s.mu.Unlock()
	<-s.release
	s.mu.Lock()
	if s.clients[&b[0]]--; s.clients[&b[0]] == 0 {
		delete(s.clients, &b[0])
	}
	s.mu.Unlock()
	return 0, os.ErrDeadlineExceeded
}

func (s *sending) client() *slowWriter {
	return &slowWriter{ResponseRecorder: httptest.NewRecorder(), sending: s}
}

var get = httptest.NewRequest(http.MethodGet, "/", nil)

// A thousand clients that read nothing have two snapshots in memory, and keep no
// capture waiting.
func TestSlowClients(t *testing.T) {
	const n = 1000
	f := &fakeFlight{bytes: 1 << 10}
	r := fake(t, Options{}, f)
	s := &sending{release: make(chan struct{}), clients: map[*byte]int{}}
	var wg sync.WaitGroup
	clients := make([]*slowWriter, n)
	for i := range clients {
		clients[i] = s.client()
		wg.Go(func() { r.ServeHTTP(clients[i], get) })
	}
	await(t, func() bool {
		s.mu.Lock()
		defer s.mu.Unlock()
		return s.all+r.sent.waiting() == n
	})
	before := f.made.Load()
	if before > 2 {
		t.Errorf("%d snapshots were made for clients that ask at the same time", before)
	}
	if _, err := r.Capture("an incident"); err != nil || f.made.Load() != before+1 {
		t.Errorf("beside clients: %v, %d snapshots", err, f.made.Load()-before)
	}
	close(s.release)
	wg.Wait()
	if s.most > 2 || s.all != n {
		t.Errorf("%d snapshots in memory at one time; %d of %d clients got one", s.most, s.all, n)
	}
	for _, c := range clients {
		if c.deadline.IsZero() {
			t.Fatal("a client without a deadline")
		}
	}
	if len(r.sent.turns) != 0 {
		t.Errorf("%d snapshots are still counted", len(r.sent.turns))
	}
}

// Who asks while others are being sent gets a later trace, or an error.
func TestBusy(t *testing.T) {
	r := fake(t, Options{}, &fakeFlight{bytes: 10})
	s := &sending{release: make(chan struct{}), clients: map[*byte]int{}}
	var wg sync.WaitGroup
	for i := range 2 {
		wg.Go(func() { r.ServeHTTP(s.client(), get) })
		await(t, func() bool {
			s.mu.Lock()
			defer s.mu.Unlock()
			return len(s.clients) == i+1
		})
	}
	r.sendTime = time.Millisecond
	w := httptest.NewRecorder()
	r.ServeHTTP(w, get)
	if w.Code != http.StatusServiceUnavailable || !strings.Contains(w.Body.String(), "try again") {
		t.Errorf("%d %s", w.Code, w.Body)
	}
	close(s.release)
	wg.Wait()
	w = httptest.NewRecorder()
	r.sendTime = time.Hour
	r.ServeHTTP(w, get)
	if w.Code != http.StatusOK || w.Body.Len() != 10 {
		t.Errorf("%d, %d bytes", w.Code, w.Body.Len())
	}
}

// A client that does not read is cut off.
func TestCutOff(t *testing.T) {
	r := fake(t, Options{}, &fakeFlight{bytes: 64 << 20})
	r.sendTime = 10 * time.Millisecond
	returned := make(chan struct{})
	srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, req *http.Request) {
		r.ServeHTTP(w, req)
		close(returned)
	}))
	defer srv.Close()
	c, err := net.Dial("tcp", srv.Listener.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	fmt.Fprintf(c, "GET / HTTP/1.1\r\nHost: x\r\n\r\n")
	<-returned
}

func TestHead(t *testing.T) {
	f := &fakeFlight{bytes: 10}
	r := fake(t, Options{Name: "svc"}, f)
	head := httptest.NewRequest(http.MethodHead, "/", nil)
	w := httptest.NewRecorder()
	r.ServeHTTP(w, head)
	if w.Code != http.StatusOK || !strings.Contains(w.Header().Get("Content-Disposition"), "svc-") || f.made.Load() != 0 {
		t.Errorf("%d %v, %d snapshots", w.Code, w.Header(), f.made.Load())
	}
	r.Stop()
	w = httptest.NewRecorder()
	r.ServeHTTP(w, head)
	if w.Code != http.StatusServiceUnavailable {
		t.Errorf("%d after Stop", w.Code)
	}
}
