// Package procs answers: what did the Ps do all the time, and how did work and
// Ps change hands? It is one of the accumulators of step 5 of package analyze.
//
// [Accumulator] takes the account: every nanosecond of a P's life belongs to
// one [State], so a P's times sum to its lifetime exactly, in integers.
// The rules that turn decisions into states and queue lengths are those of
// [github.com/gmpscope/gmpscope/analyze/ledger].
//
// What a result holds is stable, the rest serves this module: see package gmpscope.
package procs

import "math"

// Result is the account of the Ps and of the decisions that moved work
// between them.
type Result struct {
	Ps          []Proc  `json:"ps"`           // by number
	Steals      Steals  `json:"steals"`       // goroutines that Ps took from other Ps
	Handoffs    Counts  `json:"handoffs"`     // Ps handed to another thread
	Retakes     Counts  `json:"retakes"`      // Ps taken from threads in system calls
	Preemptions Counts  `json:"preemptions"`  // goroutines made to yield
	Overflows   int64   `json:"overflows"`    // puts on a full ring
	GlobalTakes int64   `json:"global_takes"` // takes from the global queue, batches counted once
	Queues      Queues  `json:"queues"`       // lengths of the run queues
	Procs       []Procs `json:"gomaxprocs"`   // at most 1,024, the first ones
	// OmittedPs is the number of Ps below the largest GOMAXPROCS without an account because
	// there are more than MaxPs, OmittedMentions the number of times that the stream named
	// such a P. Both are 0 except in damaged or made-up traces.
	OmittedPs       int32 `json:"omitted_ps,omitempty"`
	OmittedMentions int64 `json:"omitted_mentions,omitempty"`
}

// Proc is what one P did, and how long its local run queue was. Its times sum to LifetimeNs
// exactly.
type Proc struct {
	P             int32   `json:"p"`               // its ID
	LifetimeNs    int64   `json:"lifetime_ns"`     // from its first appearance below GOMAXPROCS to the end
	RunningNs     int64   `json:"running_ns"`      // goroutines of the program
	SystemNs      int64   `json:"system_ns"`       // goroutines of the runtime, without mark workers and the tracer
	GCNs          int64   `json:"gc_ns"`           // mark workers
	TracerNs      int64   `json:"tracer_ns"`       // goroutines of the tracer
	SyscallNs     int64   `json:"syscall_ns"`      // goroutine in a system call, P not retaken
	SchedNs       int64   `json:"sched_ns"`        // with a thread but no goroutine: scheduler, search for work
	IdleNs        int64   `json:"idle_ns"`         // no thread
	HostNs        int64   `json:"-"`               // part of IdleNs in which a goroutine of the runtime was on the P and the program's host had control
	StoppedNs     int64   `json:"stopped_ns"`      // stopped for a stop-the-world
	UnusedNs      int64   `json:"unused_ns"`       // at or above GOMAXPROCS
	NotRecordedNs int64   `json:"not_recorded_ns"` // gaps, until the trace shows the P again; excluded from QueueMean and all shares elsewhere
	Starts        int64   `json:"starts"`          // goroutines started
	Parks         int64   `json:"parks"`           // times that it went idle
	QueueMean     float64 `json:"queue_mean"`      // mean length of its local run queue, by time recorded
	QueueMax      int32   `json:"queue_max"`       // its largest length
}

// UsableNs returns the time, in ns, in which the P existed and is recorded: the base of
// shares of its time.
func (p *Proc) UsableNs() int64 { return p.LifetimeNs - p.UnusedNs - p.NotRecordedNs }

// InUse returns the P-time with a thread while the world was not stopped, and the recorded
// P-time, in ns.
func (r *Result) InUse() (ns, of int64) {
	for i := range r.Ps {
		p := &r.Ps[i]
		ns += p.RunningNs + p.SystemNs + p.GCNs + p.TracerNs + p.SyscallNs + p.SchedNs
		of += p.UsableNs()
	}
	return ns, of
}

// Host moves ns, in nanoseconds, of the time in which Ps ran goroutines of the runtime to
// their idle time: under js/wasm the host of the program had control then.
func (r *Result) Host(ns int64) {
	for i := range r.Ps {
		p := &r.Ps[i]
		part := min(ns, p.SystemNs)
		p.SystemNs, p.IdleNs, p.HostNs, ns = p.SystemNs-part, p.IdleNs+part, p.HostNs+part, ns-part
	}
}

// PTime returns the recorded P-time, in ns, of a trace with this GOMAXPROCS and duration, in
// ns.
func (r *Result) PTime(gomaxprocs int, duration int64) int64 {
	n := int64(max(1, gomaxprocs))
	if duration > math.MaxInt64/n { // of a trace that was made up
		return math.MaxInt64
	}
	ns := duration * n
	for i := range r.Ps {
		ns -= r.Ps[i].NotRecordedNs
	}
	return max(0, ns)
}

// Steals counts how often Ps took goroutines from other Ps' local run queues.
type Steals struct {
	Count  int64     `json:"count"`            // steals
	Moved  int64     `json:"moved"`            // goroutines moved
	Matrix [][]int64 `json:"matrix,omitempty"` // steals by thief, then victim; absent with more than 512 Ps
}

// Counts is a number of decisions of one kind, such as handoffs, in all and by cause.
type Counts struct {
	Count   int64            `json:"count"`    // how many
	ByCause map[string]int64 `json:"by_cause"` // by cause, such as "sysmon" or "slice" ("why" of dump)
}

// Queues sums up queue lengths over all of the trace that is recorded, time-weighted.
type Queues struct {
	GlobalMean   float64 `json:"global_mean"`   // length of the global run queue
	GlobalMax    int32   `json:"global_max"`    // largest length of the global run queue
	LocalMean    float64 `json:"local_mean"`    // length of all local run queues together
	RunnableMean float64 `json:"runnable_mean"` // runnable goroutines
	RunnableMax  int64   `json:"runnable_max"`  // most runnable goroutines at a time
}

// Procs is a value of GOMAXPROCS, and since when it held.
type Procs struct {
	AtNs int64 `json:"at_ns"` // start of its validity
	N    int32 `json:"n"`     // value
}
