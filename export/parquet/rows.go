package parquet

import "github.com/gmpscope/gmpscope/analyze/waits"

// Causes is time by cause, ns.
type Causes struct {
	STW          int64 `parquet:"world_stopped_ns"`
	PUnavailable int64 `parquet:"p_unavailable_ns"`
	GC           int64 `parquet:"garbage_collector_ns"`
	IdlePWaking  int64 `parquet:"p_waking_up_ns"`
	IdlePMissed  int64 `parquet:"idle_p_available_ns"`
	Behind       int64 `parquet:"queueing_ns"`
	Overtaken    int64 `parquet:"overtaken_ns"`
	Tracer       int64 `parquet:"tracer_ns"`
	Residue      int64 `parquet:"scheduler_overhead_ns"`
}

// of fills c with time in the order of [waits.Causes].
func (c *Causes) of(ns *[waits.NumCauses]int64) {
	*c = Causes{
		STW: ns[0], PUnavailable: ns[1], GC: ns[2], IdlePWaking: ns[3], IdlePMissed: ns[4],
		Behind: ns[5], Overtaken: ns[6], Tracer: ns[7], Residue: ns[8],
	}
}

// Wait is a row of waits.parquet: a wait that has ended, or what of it lies in the window.
type Wait struct {
	Goroutine int64  `parquet:"goroutine"`
	Class     string `parquet:"class,dict"`
	ClassID   int32  `parquet:"class_id"`
	Kind      string `parquet:"kind,dict"` // "user", "self" or "system": in which part of the waits of the JSON it counts
	ReadyNs   int64  `parquet:"ready_ns"`  // since when it counts
	StartNs   int64  `parquet:"start_ns"`  // until when
	WaitNs    int64  `parquet:"wait_ns"`   // the time between them, and the sum of the next nine
	Causes
	Queue          string `parquet:"queue,dict"`               // that it was taken from: "src" of dump
	Waker          string `parquet:"waker,dict"`               // class of who made it runnable, or what did, in parentheses
	WakerGoroutine *int64 `parquet:"waker_goroutine,optional"` // null if none did
	P              int32  `parquet:"p"`                        // that ran it in the end
	Begins         bool   `parquet:"begins"`                   // it began in the window, where it counts
	Basis          string `parquet:"basis,dict"`               // how the queue is known
}

// Start is a row of starts.parquet: a goroutine went from runnable to running, or is First.
type Start struct {
	TimeNs    int64  `parquet:"t_ns"`
	Goroutine int64  `parquet:"goroutine"`
	Class     string `parquet:"class,dict"`
	ClassID   int32  `parquet:"class_id"`
	P         int32  `parquet:"p"`
	M         *int64 `parquet:"m,optional"`       // thread; null if it is not known
	Source    string `parquet:"source,dict"`      // "src" of dump
	Victim    *int32 `parquet:"victim,optional"`  // P that it was stolen from; null if it was not
	Batch     *int32 `parquet:"batch,optional"`   // how many were taken together; null if it was no batch
	WaitNs    *int64 `parquet:"wait_ns,optional"` // since it became runnable; null if that is not known
	// First is set where the trace shows the goroutine running without its start: those are
	// no starts in the reconstruction of the JSON.
	First       bool   `parquet:"first"`
	Locked      bool   `parquet:"locked"`                // the P was handed to a locked thread
	LocalQueue  *int32 `parquet:"local_queue,optional"`  // length of the P's queue afterwards; null if queues are not rebuilt
	GlobalQueue *int32 `parquet:"global_queue,optional"` // length of the global queue afterwards
	Basis       string `parquet:"basis,dict"`            // how the source is known
}

// Run is a row of runs.parquet: an interval in which a goroutine ran on a P. A system call
// ends one.
type Run struct {
	Goroutine int64  `parquet:"goroutine"`
	Class     string `parquet:"class,dict"`
	ClassID   int32  `parquet:"class_id"`
	P         int32  `parquet:"p"`
	M         *int64 `parquet:"m,optional"` // thread; null if it is not known
	FromNs    int64  `parquet:"from_ns"`
	ToNs      int64  `parquet:"to_ns"`
	RunNs     int64  `parquet:"run_ns"`    // the time between them
	Started   bool   `parquet:"started"`   // it began with a start, not with the return from a system call
	Stop      string `parquet:"stop,dict"` // why it ended, as "why" of dump; "unknown" at the end of the trace, too
}

// Class is a row of classes.parquet: goroutines of one start function and creator.
type Class struct {
	ClassID    int32  `parquet:"class_id"`
	Class      string `parquet:"class"`
	Creator    string `parquet:"creator"`
	StartedBy  string `parquet:"started_by"`
	System     bool   `parquet:"system"`
	Goroutines int64  `parquet:"goroutines"`
	Starts     int64  `parquet:"starts"`
	RunningNs  int64  `parquet:"running_ns"`
	Waits      int64  `parquet:"waits"`
	WaitNs     int64  `parquet:"wait_ns"`
	Causes
}

// Finding is a row of findings.parquet.
type Finding struct {
	ID       string   `parquet:"id"`
	Kind     string   `parquet:"kind"`
	Severity string   `parquet:"severity"`
	Title    string   `parquet:"title"`
	CostNs   int64    `parquet:"cost_ns"`
	FromNs   int64    `parquet:"from_ns"`
	ToNs     int64    `parquet:"to_ns"`
	Basis    string   `parquet:"basis"`
	Victims  []string `parquet:"victims,list"` // classes
	Causes   []string `parquet:"causes,list"`  // classes
	Evidence []string `parquet:"evidence,list"`
	Advice   []string `parquet:"advice,list"`
}
