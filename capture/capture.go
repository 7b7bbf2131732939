// Package capture writes an execution trace of the program that imports it at
// the moment when goroutines wait too long for a P.
//
// The runtime's flight recorder ([trace.FlightRecorder]) keeps the last seconds
// of the trace in memory. A [Recorder] watches a [Budget] for the latency of the
// scheduler, or a signal of the program's own, and writes what the flight
// recorder holds to a file when the budget breaks: the trace shows what led to
// it. gmpscope reads such a file like any other trace.
//
//	r, err := capture.Start(capture.Options{
//		Dir:    "/var/tmp/traces",
//		Budget: capture.Budget{Latency: 20 * time.Millisecond},
//	})
//	if err != nil {
//		log.Print(err) // the program does without
//	}
//	defer r.Stop()
//	http.Handle("/debug/capture", r) // the last seconds on demand
//
// A process can have one active flight recorder, so it can have one Recorder.
// A trace by [trace.Start] or by net/http/pprof can run beside it: each gets all
// events.
package capture

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"runtime/trace"
	"sync"
	"time"
)

// Options of Start. Dir is needed, and a Budget or a Signal if anything is to be
// written without being asked; for the rest, the zero value is a default.
type Options struct {
	// Dir is the folder for the traces. It is created if it does not exist.
	Dir string

	// Name is the first part of the names of the files. The default is "trace".
	// Programs that share a folder need different ones.
	Name string

	// Budget is what is tolerated. The zero value tolerates everything.
	Budget Budget

	// Signal, if set, is called once per Interval; if it reports true, a trace is
	// captured, and reason, a few words, says why.
	Signal func() (reason string, ok bool)

	// Interval is how often Budget and Signal are looked at. The default is one
	// second; it is at least 10 ms.
	Interval time.Duration

	// Window is how far back a trace goes, at least, unless WindowBytes is less.
	// The default is 10 s.
	Window time.Duration

	// WindowBytes is about how much memory the window may take, in bytes. It wins
	// over Window. The default is 16 MiB.
	WindowBytes uint64

	// Cooldown is the time after a capture during which neither Budget nor Signal
	// causes another. The default is five minutes.
	Cooldown time.Duration

	// MaxFiles and MaxBytes bound what is kept in Dir under Name: the oldest traces
	// are removed. The defaults are 10 files and 256 MiB.
	MaxFiles int
	MaxBytes int64

	// OnCapture, if set, is called with each trace that was written to a file.
	OnCapture func(Trace)

	// OnError, if set, is called when a trace could not be written. The recorder
	// goes on.
	OnError func(error)
}

// Trace is a trace that was written.
type Trace struct {
	File   string    // its path
	Reason string    // why it was captured
	At     time.Time // when
	Bytes  int64     // its size
}

// Recorder is an active flight recorder with a budget. Its methods can be called
// by several goroutines at once, and on a nil Recorder: they then do nothing.
type Recorder struct {
	o    Options
	stop chan struct{}
	done chan struct{}

	mu     sync.Mutex // of all that follows; held while a snapshot is made
	flight *trace.FlightRecorder
}

// ErrStopped is the error of what is asked of a Recorder that was stopped.
var ErrStopped = errors.New("capture: the recorder was stopped")

// Start starts the flight recorder and begins to watch. It fails if the folder
// cannot be created, or if the process has a flight recorder already.
func Start(o Options) (*Recorder, error) {
	o.setDefaults()
	if err := o.check(); err != nil {
		return nil, err
	}
	if err := os.MkdirAll(o.Dir, 0o777); err != nil {
		return nil, fmt.Errorf("capture: creating the folder for traces: %w", err)
	}
	r := &Recorder{
		o:      o,
		stop:   make(chan struct{}),
		done:   make(chan struct{}),
		flight: trace.NewFlightRecorder(trace.FlightRecorderConfig{MinAge: o.Window, MaxBytes: o.WindowBytes}),
	}
	if err := r.flight.Start(); err != nil {
		return nil, fmt.Errorf("capture: starting the flight recorder: %w", err)
	}
	go r.watch()
	return r, nil
}

func (o *Options) setDefaults() {
	if o.Name == "" {
		o.Name = "trace"
	}
	if o.Interval == 0 {
		o.Interval = time.Second
	}
	if o.Window == 0 {
		o.Window = 10 * time.Second
	}
	if o.WindowBytes == 0 {
		o.WindowBytes = 16 << 20
	}
	if o.Cooldown == 0 {
		o.Cooldown = 5 * time.Minute
	}
	if o.MaxFiles == 0 {
		o.MaxFiles = 10
	}
	if o.MaxBytes == 0 {
		o.MaxBytes = 256 << 20
	}
}

func (o *Options) check() error {
	switch {
	case o.Dir == "":
		return errors.New("capture: Options.Dir is empty: name the folder for the traces")
	case !plainName(o.Name):
		return fmt.Errorf("capture: Options.Name is %q: it must be part of a file name, of letters, digits, - and _", o.Name)
	case o.Interval < 10*time.Millisecond:
		return fmt.Errorf("capture: Options.Interval is %v: it must be 10ms at least", o.Interval)
	case o.Window < 0 || o.Cooldown < 0 || o.MaxFiles < 0 || o.MaxBytes < 0:
		return errors.New("capture: Window, Cooldown, MaxFiles and MaxBytes of Options must not be negative")
	}
	return o.Budget.check()
}

// Stop ends the recording and returns when no trace is being written any more. It
// can be called more than once, but not by OnCapture, OnError or Signal, for which
// it would wait.
func (r *Recorder) Stop() {
	if r == nil {
		return
	}
	r.mu.Lock()
	flight := r.flight
	if flight != nil {
		close(r.stop)
		flight.Stop()
		r.flight = nil
	}
	r.mu.Unlock()
	<-r.done
}

// Capture writes the trace of the last seconds to a file, whatever the budget
// says and however recent the last one is.
func (r *Recorder) Capture(reason string) (Trace, error) {
	if r == nil {
		return Trace{}, ErrStopped
	}
	return r.capture(time.Now(), reason)
}

func (r *Recorder) capture(now time.Time, reason string) (Trace, error) {
	data, err := r.snapshot()
	if err != nil {
		return Trace{}, err
	}
	t := Trace{Reason: reason, At: now, Bytes: int64(len(data))}
	if t.File, err = r.write(now, data); err != nil {
		return Trace{}, err
	}
	if r.o.OnCapture != nil {
		r.o.OnCapture(t)
	}
	return t, nil
}

// snapshot returns what the flight recorder holds. It is kept in memory, since a
// slow disk or client must not keep the next snapshot waiting.
func (r *Recorder) snapshot() ([]byte, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.flight == nil {
		return nil, ErrStopped
	}
	var b bytes.Buffer
	if _, err := r.flight.WriteTo(&b); err != nil {
		return nil, fmt.Errorf("capture: reading the flight recorder: %w", err)
	}
	return b.Bytes(), nil
}

// watch captures a trace whenever the budget breaks or the signal says so.
func (r *Recorder) watch() {
	defer close(r.done)
	tick := time.NewTicker(r.o.Interval)
	defer tick.Stop()
	w := watcher{budget: r.o.Budget, signal: r.o.Signal, cooldown: r.o.Cooldown}
	w.read = readLatencies()
	for {
		select {
		case <-r.stop:
			return
		case now := <-tick.C:
			reason, ok := w.look(now)
			if !ok {
				continue
			}
			_, err := r.capture(now, reason)
			if err != nil && !errors.Is(err, ErrStopped) && r.o.OnError != nil {
				r.o.OnError(err)
			}
		}
	}
}

// watcher decides when a trace is captured.
type watcher struct {
	budget   Budget
	signal   func() (string, bool)
	cooldown time.Duration
	read     func(*latencies)

	before, now latencies
	started     bool
	last        time.Time // of the last capture; zero if there was none
}

// look reports whether a trace is to be captured at time t, and why.
func (w *watcher) look(t time.Time) (reason string, ok bool) {
	if w.budget.Latency > 0 {
		w.before, w.now = w.now, w.before
		w.read(&w.now)
		if w.started {
			reason, ok = w.budget.broken(&w.before, &w.now)
		}
		w.started = true
	}
	if w.signal != nil {
		// Asked in any case: it may look at what happened since it was asked last.
		if why, raised := w.signal(); raised && !ok {
			reason, ok = why, true
		}
	}
	if !ok || !w.last.IsZero() && t.Sub(w.last) < w.cooldown {
		return "", false
	}
	w.last = t
	return reason, true
}
