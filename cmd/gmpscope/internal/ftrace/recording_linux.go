package ftrace

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"
	"sync"
	"syscall"
	"time"
)

// Recording writes what the kernel records until Stop.
type Recording struct {
	fs   tracefs
	dir  string // of the instance
	w    io.Writer
	max  int64
	stop chan struct{}
	done chan struct{} // closed when the instance is removed
	once sync.Once     // closes stop
	off  error         // of switching the recording off

	mu   sync.Mutex // held while pipe is read or closed
	pipe int        // trace_pipe; -1 if it is not open

	stats Stats // these two are stream's until done
	err   error
}

// Start begins to write what the scheduler does to w, in the form of trace_pipe with a
// header. Times are of CLOCK_MONOTONIC, in µs. Stop must be called. An error says what
// to do where tracefs is not there, or not for this user.
func Start(w io.Writer, o Options) (*Recording, error) {
	process := "self"
	if o.PID != 0 {
		process = strconv.Itoa(o.PID)
	}
	mask, err := cpuMask("/proc", process)
	if err != nil {
		return nil, err
	}
	t, err := find(places)
	if err != nil {
		return nil, err
	}
	return t.start(w, mask, o.MaxBytes)
}

func (t tracefs) start(w io.Writer, mask string, maxBytes int64) (_ *Recording, err error) {
	t.removeStale()
	r := &Recording{fs: t, dir: t.instance(os.Getpid()), w: w, max: maxBytes, stop: make(chan struct{}), done: make(chan struct{}), pipe: -1}
	if err := r.create(); err != nil {
		return nil, err
	}
	defer func() {
		if err != nil {
			err = errors.Join(err, r.remove())
		}
	}()
	if err := configure(r.dir, mask); err != nil {
		return nil, err
	}
	head, err := header(r.dir, mask)
	if err != nil {
		return nil, err
	}
	if err := r.write([]byte(head)); err != nil {
		return nil, err
	}
	if err := r.open(); err != nil {
		return nil, err
	}
	if err := enable(r.dir); err != nil {
		return nil, err
	}
	go r.stream()
	return r, nil
}

var live = struct {
	sync.Mutex // held while an instance is made or removed
	recordings map[*Recording]bool
}{recordings: map[*Recording]bool{}}

// RemoveInstances removes the instances of all recordings, for a program that is about
// to end. No other can be begun, or stopped, afterwards.
func RemoveInstances() {
	live.Lock() // for good
	for r := range live.recordings {
		r.close()
		_ = r.fs.remove(r.dir)
	}
}

func (r *Recording) create() error {
	live.Lock()
	defer live.Unlock()
	if err := r.fs.create(r.dir); err != nil {
		return err
	}
	live.recordings[r] = true
	return nil
}

func (r *Recording) remove() error {
	r.close()
	live.Lock()
	defer live.Unlock()
	delete(live.recordings, r)
	return r.fs.remove(r.dir)
}

// open opens trace_pipe so that reading it does not wait: a reader that waits is woken by
// each event, and each time that is more events.
func (r *Recording) open() error {
	name := filepath.Join(r.dir, "trace_pipe")
	fd, err := syscall.Open(name, syscall.O_RDONLY|syscall.O_NONBLOCK|syscall.O_CLOEXEC, 0)
	if err != nil {
		return denied(&os.PathError{Op: "open", Path: name, Err: err})
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	r.pipe = fd
	return nil
}

func (r *Recording) close() {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.pipe >= 0 {
		syscall.Close(r.pipe)
		r.pipe = -1
	}
}

// Stop ends the recording when all that was recorded is written, removes the instance,
// and says what came of it. Further calls return the same.
func (r *Recording) Stop() (Stats, error) {
	r.once.Do(func() {
		// Before stream hears of it: it may be unable to keep up with what is recorded.
		r.off = set(filepath.Join(r.dir, "tracing_on"), "0")
		close(r.stop)
	})
	<-r.done
	if r.err == nil && !errors.Is(r.off, fs.ErrNotExist) { // it ended before
		return r.stats, r.off
	}
	return r.stats, r.err
}

// pollInterval is how often the kernel's buffer is emptied.
const pollInterval = 50 * time.Millisecond

// stream writes what the kernel records, until Stop or an error. It removes the instance
// itself, so that it goes in a panic, too.
func (r *Recording) stream() {
	defer close(r.done)
	defer func() { r.stats.Left = r.remove() }()
	tick := time.NewTicker(pollInterval)
	defer tick.Stop()
	for stopped := false; !stopped && !r.stats.Full && r.err == nil; {
		select {
		case <-tick.C:
		case <-r.stop:
			stopped = true
		}
		r.err = r.drain()
	}
	r.stats.Lost = lost(r.dir)
}

// drain writes what is in the kernel's buffer. A read gives whole lines: the kernel
// makes a page or two of them at once (seq_buf of tracing_read_pipe).
func (r *Recording) drain() error {
	buf := make([]byte, 1<<16)
	for !r.stats.Full {
		n, err := r.read(buf)
		switch {
		case errors.Is(err, syscall.EINTR):
		case n <= 0 && (err == nil || errors.Is(err, syscall.EAGAIN)):
			return nil // nothing is left for now
		case err != nil:
			return fmt.Errorf("reading %s: %w", filepath.Join(r.dir, "trace_pipe"), err)
		default:
			if err := r.write(buf[:n]); err != nil {
				return err
			}
		}
	}
	return nil
}

func (r *Recording) read(buf []byte) (int, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	return syscall.Read(r.pipe, buf)
}

// write writes whole lines, unless they are too many.
func (r *Recording) write(p []byte) error {
	if r.max > 0 && r.stats.Bytes+int64(len(p)) > r.max {
		r.stats.Full = true
		return nil
	}
	n, err := r.w.Write(p)
	r.stats.Bytes += int64(n)
	return err
}
