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
//		Dir:    "/var/lib/checkout/traces",
//		Budget: capture.Budget{Latency: 20 * time.Millisecond},
//	})
//	if err != nil {
//		log.Print(err) // the program does without
//	}
//	defer r.Stop()
//	http.Handle("/debug/capture", r) // the last seconds on demand
//
// Beside each trace lies a file with what the trace cannot show: the CPU quota and what
// it did meanwhile, the CPUs and the memory that the process may use, its build and
// Options.Labels. gmpscope reads it by itself.
//
// A process can have one active flight recorder, so it can have one Recorder.
// A trace by [trace.Start] or by net/http/pprof can run beside it: each gets all
// events.
package capture

import (
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"io"
	"runtime/trace"
	"sync"
	"time"

	"github.com/gmpscope/gmpscope/capture/internal/sidecar"
)

// Options are those of [Start]. A Budget or a Signal is needed if anything is to be written
// without being asked; for the rest, the zero value is a default.
type Options struct {
	// Dir is the folder for the traces. It is created if it does not exist. Nobody
	// else should be able to create it or to write to it: a folder below the system's
	// temporary one can be anybody's. Without it no file is written: the last seconds
	// are there for WriteTo and ServeHTTP.
	Dir string

	// Name is the first part of the names of the files. The default is "trace".
	// Programs that share a folder need different ones.
	Name string

	// Budget is the tolerated latency. The zero value tolerates everything.
	Budget Budget

	// Signal, if set, is called once per Interval. See also [Runnable], [Any] and [All].
	Signal Signal

	// Interval is the time between checks of Budget and Signal. The default is one second; it
	// is at least 10 ms.
	Interval time.Duration

	// Window is how far back a trace goes, at least, unless WindowBytes is less.
	// The default is 10 s.
	Window time.Duration

	// WindowBytes is about how much memory the window may take, in bytes. It wins
	// over Window. The default is 16 MiB.
	WindowBytes uint64

	// Cooldown is the time after a capture during which Budget, Signal and OnSlow cause no
	// other. The default is five minutes. After one that failed it is ten Intervals, if they
	// are less.
	Cooldown time.Duration

	// MaxFiles and MaxBytes bound what is kept in Dir under Name: the traces that
	// were written first are removed. The defaults are 10 files and 256 MiB.
	MaxFiles int
	MaxBytes int64

	// Labels are kept with each trace, such as service, version and host. They are at most
	// 64, of 1,024 bytes.
	Labels map[string]string

	// OnCapture, if set, is called with each trace that was written to a file, once
	// for those that asked for it at the same time.
	OnCapture func(Trace)

	// OnError, if set, is called when a trace could not be written. The recorder
	// goes on.
	OnError func(error)
}

// Trace is a trace that a [Recorder] wrote to a file.
type Trace struct {
	File   string    // its path
	Reason string    // why it was captured
	At     time.Time // when
	Bytes  int64     // its size, in bytes
}

// Recorder is an active flight recorder with a budget. Its methods can be called
// by several goroutines at once, and on a nil Recorder: they then do nothing.
type Recorder struct {
	o        Options
	sendTime time.Duration // how long a client may take to read a trace
	stop     chan struct{}
	done     chan struct{}
	slow     chan incident // what took too long, for watch

	// The snapshots in memory: one while it is written, and two that are sent. Clients
	// have their own, since slow ones must keep no trace of an incident waiting.
	files *shared[Trace]
	sent  *shared[[]byte]

	mu     sync.Mutex // of flight; held while a snapshot is made
	flight flightRecorder

	quota quota
}

// flightRecorder is what a Recorder needs of a trace.FlightRecorder.
type flightRecorder interface {
	WriteTo(io.Writer) (int64, error)
	Stop()
}

// ErrStopped is the error of calls of a stopped Recorder.
var ErrStopped = errors.New("capture: the recorder was stopped")

var errNoDir = errors.New("capture: Options.Dir is empty: name the folder for the traces")

// Start starts the flight recorder and begins to watch. It fails if the folder
// cannot be created, or if the process has a flight recorder already.
func Start(o Options) (*Recorder, error) {
	o.setDefaults()
	if err := o.check(); err != nil {
		return nil, err
	}
	if o.Dir != "" {
		if err := o.createDir(); err != nil {
			return nil, fmt.Errorf("capture: %w", err)
		}
	}
	flight := trace.NewFlightRecorder(trace.FlightRecorderConfig{MinAge: o.Window, MaxBytes: o.WindowBytes})
	if err := flight.Start(); err != nil {
		return nil, fmt.Errorf("capture: starting the flight recorder: %w", err)
	}
	r := newRecorder(o, flight)
	if o.Dir == "" { // nothing is captured
		close(r.done)
		return r, nil
	}
	r.quota.count(time.Now(), o.Window)
	go r.watch()
	return r, nil
}

func newRecorder(o Options, flight flightRecorder) *Recorder {
	return &Recorder{
		o:        o,
		sendTime: time.Minute,
		stop:     make(chan struct{}),
		done:     make(chan struct{}),
		slow:     make(chan incident, 1),
		files:    newShared[Trace](1),
		sent:     newShared[[]byte](2),
		flight:   flight,
		quota:    quota{process: sidecar.NewProcess("/", "self")},
	}
}

func (o *Options) setDefaults() {
	o.Name = cmp.Or(o.Name, "trace")
	o.Interval = cmp.Or(o.Interval, time.Second)
	o.Window = cmp.Or(o.Window, 10*time.Second)
	o.WindowBytes = cmp.Or(o.WindowBytes, 16<<20)
	o.Cooldown = cmp.Or(o.Cooldown, 5*time.Minute)
	o.MaxFiles = cmp.Or(o.MaxFiles, 10)
	o.MaxBytes = cmp.Or(o.MaxBytes, 256<<20)
}

func (o *Options) check() error {
	switch {
	case o.Dir == "" && (o.Budget != Budget{} || o.Signal != nil):
		return errNoDir
	case !plainName(o.Name):
		return fmt.Errorf("capture: Options.Name is %q: it must be part of a file name, of letters, digits, - and _", o.Name)
	case o.Interval < 10*time.Millisecond:
		return fmt.Errorf("capture: Options.Interval is %v: it must be 10ms at least", o.Interval)
	case o.Window < 0 || o.Cooldown < 0 || o.MaxFiles < 0 || o.MaxBytes < 0:
		return errors.New("capture: Window, Cooldown, MaxFiles and MaxBytes of Options must not be negative")
	}
	if err := sidecar.CheckLabels(o.Labels); err != nil {
		return fmt.Errorf("capture: Options.Labels: %w", err)
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
	if r.flight != nil {
		close(r.stop)
		r.flight.Stop()
		r.flight = nil
	}
	r.mu.Unlock()
	<-r.done
	r.files.release(r.files.get(nil, func() (Trace, error) { return Trace{}, ErrStopped })) // after the one that is being written
}

// stopped reports whether r records nothing.
func (r *Recorder) stopped() bool {
	if r == nil {
		return true
	}
	select {
	case <-r.stop:
		return true
	default:
		return false
	}
}

// Capture writes the trace of the last seconds to a file, whatever the budget
// says and however recent the last one is. Those who ask at the same time get the
// same file.
func (r *Recorder) Capture(reason string) (Trace, error) {
	return r.captureFor(incident{reason: reason})
}

// incident is why a trace is captured.
type incident struct {
	reason  string
	request *sidecar.SlowRequest // what took too long; nil if the trace is about nothing in particular
}

func (r *Recorder) captureFor(why incident) (Trace, error) {
	if r.stopped() {
		return Trace{}, ErrStopped
	}
	first := false
	written := r.files.get(nil, func() (Trace, error) {
		first = true
		return r.capture(time.Now(), why)
	})
	t, err := written.value, written.err
	r.files.release(written)
	if err != nil {
		return Trace{}, err
	}
	if first && r.o.OnCapture != nil {
		r.o.OnCapture(t)
	}
	t.Reason = why.reason
	return t, nil
}

func (r *Recorder) capture(now time.Time, why incident) (Trace, error) {
	if r.o.Dir == "" {
		return Trace{}, errNoDir
	}
	data, err := r.snapshot()
	if err != nil {
		return Trace{}, err
	}
	name, err := r.write(now, data, why.request)
	return Trace{File: name, Reason: why.reason, At: now, Bytes: int64(len(data))}, err
}

// snapshot returns what the flight recorder holds. It is kept in memory, since a
// slow disk or client must not keep the next snapshot waiting.
func (r *Recorder) snapshot() ([]byte, error) {
	var b bytes.Buffer
	_, err := r.WriteTo(&b)
	return b.Bytes(), err
}

// WriteTo writes the trace of the last seconds to w. It implements [io.WriterTo]. While w is
// slow, no trace is captured: let it be a buffer.
func (r *Recorder) WriteTo(w io.Writer) (int64, error) {
	if r == nil {
		return 0, ErrStopped
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.flight == nil {
		return 0, ErrStopped
	}
	n, err := r.flight.WriteTo(w)
	if err != nil {
		err = fmt.Errorf("capture: reading the flight recorder: %w", err)
	}
	return n, err
}

// Window returns how far back the trace goes, at least, unless the window's bytes are
// fewer; 0 of a nil Recorder.
func (r *Recorder) Window() time.Duration {
	if r == nil {
		return 0
	}
	return r.o.Window
}

// watch captures a trace whenever the budget breaks, the signal is raised or something was slow.
func (r *Recorder) watch() {
	defer close(r.done)
	tick := time.NewTicker(r.o.Interval)
	defer tick.Stop()
	signal := r.o.signal()
	var next time.Time // no capture before it
	for {
		var why incident
		var raised bool
		select {
		case <-r.stop:
			return
		case now := <-tick.C:
			r.quota.count(now, r.o.Window)
			why.reason, raised = signal()
		case why = <-r.slow:
			raised = true
		}
		now := time.Now()
		if !raised || now.Before(next) {
			continue
		}
		_, err := r.captureFor(why)
		next = now.Add(r.o.Cooldown)
		if err != nil { // a disk may have room again, or a folder be there, long before the end of the cooldown
			next = now.Add(min(r.o.Cooldown, 10*r.o.Interval))
		}
		if err != nil && !errors.Is(err, ErrStopped) && r.o.OnError != nil {
			r.o.OnError(err)
		}
	}
}

// signal returns that of the budget and of the program.
func (o *Options) signal() Signal {
	var all []Signal
	if o.Budget.Latency > 0 {
		all = append(all, o.Budget.Signal())
	}
	if o.Signal != nil {
		all = append(all, o.Signal)
	}
	return Any(all...)
}
