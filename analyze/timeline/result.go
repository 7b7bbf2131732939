// Package timeline answers: what did it look like over time? It is one of the
// accumulators of step 5 of package analyze.
//
// [Accumulator] paints two pictures in one pass. The coarse one has a bounded
// number of bins: they start narrow, and where they would become too many,
// neighbours are merged and the width doubles. Bins hold integer sums until the
// end, so a merged bin is exactly the bin that a wider start would have made.
// The fine one holds single intervals, queue lengths and movements, for the whole
// trace if that is short, else around the moments given to [Accumulator.Mark]; and in
// it tasks and regions of the program. With the kernel's records both have the CPUs, too.
// [HeapAccumulator] follows the size of the heap, of which no decision tells.
//
// What a result holds is stable, the rest serves this module: see package gmpscope.
package timeline

import (
	"github.com/gmpscope/gmpscope/analyze/stacks"
	"github.com/gmpscope/gmpscope/analyze/waits"
)

// Result is the timeline: Bins equal bins of BinNs from FromNs on, and windows in exact
// detail. The last bin may reach beyond EndNs; shares and means are of its part up to there,
// and of the recorded part of any bin; 0 if nothing is recorded.
type Result struct {
	BinNs       int64          `json:"bin_ns"`                 // width of a bin
	Bins        int            `json:"bins"`                   // number of bins
	FromNs      int64          `json:"from_ns,omitempty"`      // beginning of the window; absent if 0
	EndNs       int64          `json:"end_ns"`                 // last event, or end of the window
	Lanes       []Lane         `json:"lanes"`                  // by P
	Global      Series         `json:"global"`                 // length of the global run queue
	Runnable    Series         `json:"runnable"`               // number of runnable goroutines
	IdleP       Series         `json:"idle_p"`                 // number of idle Ps
	Missed      []float32      `json:"missed"`                 // mean of min(idle Ps, queued goroutines), per bin
	Steals      []int32        `json:"steals"`                 // number of steals, per bin
	Retakes     []int32        `json:"retakes"`                // number of Ps taken from threads in system calls, per bin
	Handoffs    []int32        `json:"handoffs"`               // number of Ps handed to another thread, per bin
	Preemptions []int32        `json:"preemptions"`            // number of goroutines made to yield, per bin
	STW         []Span         `json:"stw"`                    // stop-the-world; at most 2,000, the longest
	GC          []Span         `json:"gc"`                     // mark phases; at most 2,000, the longest
	Windows     []Window       `json:"windows"`                // stretches of time in exact detail
	NotRecorded []Span         `json:"not_recorded,omitempty"` // gaps; at most 2,000, the longest; absent if none
	Frames      []stacks.Frame `json:"frames,omitempty"`       // frames of Stacks, at most 4,096
	// Stacks are the stacks of the run intervals in Windows, at most 2,048, as indices in
	// frames, innermost first; the first is empty and stands for unknown.
	Stacks      [][]int32 `json:"stacks,omitempty"`
	OmittedPs   int32     `json:"omitted_ps,omitempty"`  // Ps beyond the 1,024 lanes; IdleP and the counts include them; absent if none
	Annotations []string  `json:"annotations,omitempty"` // types of the tasks and regions in windows, at most 256; the first stands for further ones; absent if none
	Heap        *Heap     `json:"heap,omitempty"`        // absent if not in the trace
	CPUs        *CPUs     `json:"cpus,omitempty"`        // absent without the kernel's records
}

// RecordedNs returns the recorded part of [from, to), in ns.
func (r *Result) RecordedNs(from, to int64) int64 {
	ns := to - from
	for _, s := range r.NotRecorded {
		ns -= max(0, min(s.To, to)-max(s.From, from))
	}
	return ns
}

// Series is a mean and a maximum per bin.
type Series struct {
	Mean []float32 `json:"mean"` // per bin
	Max  []int32   `json:"max"`  // per bin
}

// Lane is one P. Each share is the part of the bin in 1/255, and the rest to 255 is idle.
type Lane struct {
	P           int32   `json:"p"`                      // its ID
	User        []uint8 `json:"user"`                   // goroutines of the program
	System      []uint8 `json:"system"`                 // goroutines of the runtime and the tracer
	GC          []uint8 `json:"gc"`                     // mark workers
	Syscall     []uint8 `json:"syscall"`                // goroutine in a system call
	Sched       []uint8 `json:"sched"`                  // thread without a goroutine
	Stopped     []uint8 `json:"stopped"`                // stopped for a stop-the-world
	Queue       Series  `json:"queue"`                  // length of its local run queue
	Unused      []uint8 `json:"unused,omitempty"`       // before the P appears, or at or above GOMAXPROCS; absent where 0 throughout
	NotRecorded []uint8 `json:"not_recorded,omitempty"` // gaps, until the trace shows the P again; absent where 0 throughout
}

// Span is a named interval.
type Span struct {
	From int64  `json:"from"` // beginning, ns since the first event of the trace
	To   int64  `json:"to"`   // end, ns since the first event of the trace
	Name string `json:"name"` // what it was
}

// Window is a stretch of time in exact detail. Intervals are cut to it. Depths begin with the
// length of each queue at FromNs; of more than 8,192, the longest of each 1/2,048 of the
// window are kept.
type Window struct {
	Title     string      `json:"title"`   // why it was kept
	FromNs    int64       `json:"from_ns"` // beginning of the window
	ToNs      int64       `json:"to_ns"`   // end of the window
	Intervals []PInterval `json:"stints"`  // what each P did
	Depths    []Depth     `json:"depths"`  // lengths of the run queues
	Arrows    []Arrow     `json:"arrows"`  // what moved between Ps
	// Annotations are the tasks and regions that begin in the trace, by goroutine and time:
	// at most 2,500 for each 2,500 intervals, the longest; absent if none.
	Annotations     []Annotation `json:"annotations,omitempty"`
	MoreAnnotations int          `json:"more_annotations,omitempty"` // number left out; absent if none
	// OnCPU is the use of the CPUs from CPUsFromNs on: at most 16,384 stretches for a whole
	// trace, else 4,096 for each 2,500 intervals; absent without the kernel's records.
	OnCPU      []OnCPU  `json:"on_cpu,omitempty"`
	OffCPU     []OffCPU `json:"off_cpu,omitempty"`      // run intervals that lacked a CPU; absent if none known
	CPUsFromNs int64    `json:"cpus_from_ns,omitempty"` // time from which on OnCPU and OffCPU are complete; absent if 0
}

// State is the state of a P during an interval.
type State uint8

// The states of a P, as the accounting in package procs names them.
const (
	Idle        State = iota // without a thread
	User                     // ran a goroutine of the program
	System                   // ran a goroutine of the runtime
	GC                       // ran a mark worker
	Tracer                   // ran a goroutine of the tracer
	Syscall                  // its goroutine was in a system call
	Sched                    // with a thread but no goroutine
	Stopped                  // stopped for a stop-the-world
	_                        // unused: not an interval
	NotRecorded              // in a gap of the trace
)

// PInterval is one interval [From, To), ns since the first event of the trace, of one P in one state.
type PInterval struct {
	P      int32 `json:"p"`                // its ID
	From   int64 `json:"from"`             // its beginning
	To     int64 `json:"to"`               // its end
	State  State `json:"state"`            // 0 idle, 1 program, 2 runtime, 3 GC, 4 tracer, 5 system call, 6 scheduler, 7 stopped, 9 not recorded
	G      int64 `json:"g"`                // ID of the goroutine; -1 if none
	Class  int32 `json:"class"`            // ID of its class; 0 if none
	Wait   int64 `json:"wait"`             // how long the goroutine had waited for a P before, ns; -1 if unknown, or there is none
	Src    uint8 `json:"src"`              // index in the list of sources of dump (reference.Source); 0 if none
	Before int64 `json:"before,omitempty"` // ns cut off before From; absent if none
	M      int64 `json:"m,omitempty"`      // thread; absent if no goroutine ran, or unknown
	// Stop is why the goroutine stopped, as "why" of dump; "syscall" for a system call;
	// absent if it did not stop here, or unknown.
	Stop      string      `json:"stop,omitempty"`
	BlockedOn string      `json:"blocked_on,omitempty"` // reason for which it blocked, as in the "blocked" of a life; absent if it did not
	Stack     int32       `json:"stack,omitempty"`      // where it stopped: index in stacks; absent if unknown
	Cause     waits.Cause `json:"cause,omitempty"`      // main cause of its wait before; absent if it did not wait, or the wait does not count
	Woken     string      `json:"woken,omitempty"`      // what made it runnable, as "why" of dump; absent if unknown
	By        int64       `json:"by,omitempty"`         // goroutine that made it runnable; absent if none or unknown
	ByStack   int32       `json:"by_stack,omitempty"`   // where that goroutine did so: index in stacks; absent if unknown
}

// Depth is the length of a run queue from a time on.
type Depth struct {
	P   int32 `json:"p"`   // P; -1: the global run queue
	At  int64 `json:"at"`  // beginning, ns
	Len int32 `json:"len"` // length
}

// Arrow is a movement between Ps.
type Arrow struct {
	Kind string `json:"kind"` // "steal", "handoff", "retake", "overflow" or "global-batch"
	At   int64  `json:"at"`   // ns
	From int32  `json:"from"` // P; -1: the global queue, or none
	To   int32  `json:"to"`   // P; -1: the global queue, or none
	N    int32  `json:"n"`    // goroutines moved
}
