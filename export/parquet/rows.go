package parquet

import "github.com/gmpscope/gmpscope/analyze/waits"

// Causes is the part of a waiting time that each cause accounts for, in ns: a row of the
// tables has a column for each.
type Causes struct {
	STW          int64 `parquet:"world_stopped_ns"`      // the world was stopped
	PUnavailable int64 `parquet:"p_unavailable_ns"`      // its P was in a system call, or being handed to a locked thread
	GC           int64 `parquet:"garbage_collector_ns"`  // its P ran a mark worker
	IdlePWaking  int64 `parquet:"p_waking_up_ns"`        // the P that ran it in the end had been started, and looked for work
	IdlePMissed  int64 `parquet:"idle_p_available_ns"`   // a P was idle and did not take it
	Behind       int64 `parquet:"queueing_ns"`           // goroutines that became runnable earlier ran
	Overtaken    int64 `parquet:"overtaken_ns"`          // goroutines that became runnable later ran
	Tracer       int64 `parquet:"tracer_ns"`             // the tracer's goroutines ran
	Residue      int64 `parquet:"scheduler_overhead_ns"` // between goroutines: scheduler, thread wake-up, operating system
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
	Goroutine int64  `parquet:"goroutine"`  // ID of the goroutine
	Class     string `parquet:"class,dict"` // its start function
	ClassID   int32  `parquet:"class_id"`   // handle of its class, as in classes.parquet
	Kind      string `parquet:"kind,dict"`  // "self" after runtime.Gosched, "system" of the runtime and the tracer, else "user"
	ReadyNs   int64  `parquet:"ready_ns"`   // beginning of the wait, or of its part in the window, ns since the first event of the trace
	StartNs   int64  `parquet:"start_ns"`   // end of the wait, or of that part
	WaitNs    int64  `parquet:"wait_ns"`    // StartNs less ReadyNs, and the sum of the next nine
	Causes
	Queue          string `parquet:"queue,dict"`               // where the P took it from in the end, such as "local" or "steal" ("src" of dump)
	Waker          string `parquet:"waker,dict"`               // start function of the goroutine that made it runnable; if none did, what did, in parentheses
	WakerGoroutine *int64 `parquet:"waker_goroutine,optional"` // ID of the goroutine that made it runnable; null if none did
	P              int32  `parquet:"p"`                        // number of the P that ran it in the end
	Begins         bool   `parquet:"begins"`                   // it began in the window, where it counts
	Basis          string `parquet:"basis,dict"`               // how Queue is known: a level of certainty, with the rule if there is one
}

// Start is a row of starts.parquet: a goroutine went from runnable to running, or is First.
type Start struct {
	TimeNs    int64  `parquet:"t_ns"`             // time of the start, ns since the first event of the trace
	Goroutine int64  `parquet:"goroutine"`        // ID of the goroutine
	Class     string `parquet:"class,dict"`       // its start function
	ClassID   int32  `parquet:"class_id"`         // handle of its class, as in classes.parquet
	P         int32  `parquet:"p"`                // number of the P on which it started
	M         *int64 `parquet:"m,optional"`       // ID of the thread; null if it is not known
	Source    string `parquet:"source,dict"`      // where the P took it from, such as "local" or "steal" ("src" of dump)
	Victim    *int32 `parquet:"victim,optional"`  // number of the P that it was stolen from; null if it was not stolen
	Batch     *int32 `parquet:"batch,optional"`   // number of goroutines that were taken together; null if it was no batch
	WaitNs    *int64 `parquet:"wait_ns,optional"` // time since it became runnable, ns; null if that is not known
	// First is set where the trace shows the goroutine running without its start: those are
	// no starts in the reconstruction of the JSON.
	First       bool   `parquet:"first"`
	Locked      bool   `parquet:"locked"`                // the P was handed to a locked thread
	LocalQueue  *int32 `parquet:"local_queue,optional"`  // length of the P's queue afterwards; null if queues are not rebuilt
	GlobalQueue *int32 `parquet:"global_queue,optional"` // length of the global queue afterwards
	Basis       string `parquet:"basis,dict"`            // how Source is known: a level of certainty, with the rule if there is one
}

// Run is a row of runs.parquet: an interval in which a goroutine ran on a P. A system call
// ends one.
type Run struct {
	Goroutine int64  `parquet:"goroutine"`  // ID of the goroutine
	Class     string `parquet:"class,dict"` // its start function
	ClassID   int32  `parquet:"class_id"`   // handle of its class, as in classes.parquet
	P         int32  `parquet:"p"`          // number of the P
	M         *int64 `parquet:"m,optional"` // ID of the thread; null if it is not known
	FromNs    int64  `parquet:"from_ns"`    // beginning, ns since the first event of the trace
	ToNs      int64  `parquet:"to_ns"`      // end, ns since the first event of the trace
	RunNs     int64  `parquet:"run_ns"`     // ToNs less FromNs
	Started   bool   `parquet:"started"`    // it began with a start, not with the return from a system call
	Stop      string `parquet:"stop,dict"`  // why it ended, such as "block", "slice" or "syscall" ("why" of dump); "unknown" at the end of the trace, too
}

// Class is a row of classes.parquet: goroutines of one start function and creator.
type Class struct {
	ClassID    int32  `parquet:"class_id"`   // handle, as in the other tables
	Class      string `parquet:"class"`      // its name: the start function
	Creator    string `parquet:"creator"`    // function that executed the go statement
	StartedBy  string `parquet:"started_by"` // start function, where Class is a function that was given to it
	System     bool   `parquet:"system"`     // it belongs to the runtime
	Goroutines int64  `parquet:"goroutines"` // how many
	Starts     int64  `parquet:"starts"`     // times that one went from runnable to running
	RunningNs  int64  `parquet:"running_ns"` // running time, summed
	Waits      int64  `parquet:"waits"`      // waits for a P that ended
	WaitNs     int64  `parquet:"wait_ns"`    // their sum, and the sum of the next nine
	Causes
}

// Finding is a row of findings.parquet: what a detector found. Times are in ns.
type Finding struct {
	ID       string   `parquet:"id"`            // ID of the detector
	Kind     string   `parquet:"kind"`          // what it is about: "cause", "symptom", "machine" or "trace"
	Severity string   `parquet:"severity"`      // "note", "warning" or "critical"
	Title    string   `parquet:"title"`         // what happened, in one sentence with numbers
	CostNs   int64    `parquet:"cost_ns"`       // goroutine-time or P-time that was lost
	FromNs   int64    `parquet:"from_ns"`       // beginning of the window in which it is worst, since the first event of the trace
	ToNs     int64    `parquet:"to_ns"`         // end of that window
	Basis    string   `parquet:"basis"`         // how it is known: "certain", "inferred" or "suspected"
	Victims  []string `parquet:"victims,list"`  // start functions of the goroutines that waited
	Causes   []string `parquet:"causes,list"`   // start functions of the goroutines that made them wait
	Evidence []string `parquet:"evidence,list"` // lines with the numbers behind it
	Advice   []string `parquet:"advice,list"`   // what to try, a sentence each
}
