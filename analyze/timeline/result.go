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

// Result is the picture of a trace over time, at a resolution that does not
// grow with its length: Bins equal bins from FromNs on, BinNs ns wide, plus a few
// windows of exact detail. The last bin may reach beyond EndNs; shares and
// means in it are those of its part up to EndNs. Means, of bins that are partly not
// recorded, are those of the rest; where nothing is, they are 0.
type Result struct {
	BinNs       int64     `json:"bin_ns"`            // width of a bin
	Bins        int       `json:"bins"`              // number of bins
	FromNs      int64     `json:"from_ns,omitempty"` // where the picture begins: the window's; absent if that is 0
	EndNs       int64     `json:"end_ns"`            // time of the last event, or the end of the window
	Lanes       []Lane    `json:"lanes"`             // the Ps
	Global      Series    `json:"global"`            // length of the global run queue
	Runnable    Series    `json:"runnable"`          // number of runnable goroutines
	IdleP       Series    `json:"idle_p"`            // number of idle Ps
	Missed      []float32 `json:"missed"`            // mean of min(idle Ps, queued goroutines), per bin
	Steals      []int32   `json:"steals"`            // number of steals, per bin
	Retakes     []int32   `json:"retakes"`           // number of retakes, per bin
	Handoffs    []int32   `json:"handoffs"`          // number of handoffs, per bin
	Preemptions []int32   `json:"preemptions"`       // number of preemptions, per bin
	STW         []Span    `json:"stw"`               // stop-the-world, of more than 2,000 the longest
	GC          []Span    `json:"gc"`                // mark phases, of more than 2,000 the longest
	Windows     []Window  `json:"windows"`           // stretches in exact detail
	// NotRecorded are the gaps in the trace, of more than 2,000 the longest; absent
	// if none. Means of bins that they touch are those of the rest.
	NotRecorded []Span `json:"not_recorded,omitempty"`
	// Frames are the places in the program that Stacks are made of, at most 4,096.
	Frames []stacks.Frame `json:"frames,omitempty"`
	// Stacks are those of the run intervals in Windows, at most 2,048, as indices in
	// frames, innermost first. The first is empty: it is that of which nothing is known.
	Stacks [][]int32 `json:"stacks,omitempty"`
	// OmittedPs is how many Ps have no lane because there are more than 1,024; IdleP
	// and the counts include them. Absent but in very large or made-up traces.
	OmittedPs int32 `json:"omitted_ps,omitempty"`
	// Annotations are the types of the tasks and regions in windows, at most 256. The first
	// stands for those that have no place in the list. Absent if there are none.
	Annotations []string `json:"annotations,omitempty"`
	// Heap is the size of the heap, and who swept it; absent if the trace shows neither.
	Heap *Heap `json:"heap,omitempty"`
	// CPUs is who had the CPUs, by the kernel's records; absent without them.
	CPUs *CPUs `json:"cpus,omitempty"`
}

// RecordedNs is how many ns of [from, to) are recorded.
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

// Lane is one P. Each share is the part of the bin in 1/255; what is left to
// 255 is the idle share. They never sum to more.
type Lane struct {
	P       int32   `json:"p"`       // the P
	User    []uint8 `json:"user"`    // goroutines of the program
	System  []uint8 `json:"system"`  // goroutines of the runtime and of the tracer
	GC      []uint8 `json:"gc"`      // mark workers
	Syscall []uint8 `json:"syscall"` // its goroutine was in a system call
	Sched   []uint8 `json:"sched"`   // it had a thread but ran no goroutine
	Stopped []uint8 `json:"stopped"` // stopped for a stop-the-world
	Queue   Series  `json:"queue"`   // length of its local run queue
	// Unused is the share in which the P did not exist: before the trace knew of it,
	// or at or above GOMAXPROCS. Absent where it is 0 throughout.
	Unused []uint8 `json:"unused,omitempty"`
	// NotRecorded is the share in which nobody knows what the P did: gaps in the
	// trace, and the time from each until the trace shows the P again. Absent where
	// it is 0 throughout.
	NotRecorded []uint8 `json:"not_recorded,omitempty"`
}

// Span is a named interval, ns.
type Span struct {
	From int64  `json:"from"` // ns
	To   int64  `json:"to"`   // ns
	Name string `json:"name"` // what it was
}

// Window is a stretch of time in exact detail. Intervals are cut to the window.
// Depths begin with the length of each queue at FromNs; where a window has more
// than 8,192, they are thinned to the longest of each 1/2,048 of its time.
type Window struct {
	Title     string      `json:"title"`   // why it was kept
	FromNs    int64       `json:"from_ns"` // beginning of the stretch
	ToNs      int64       `json:"to_ns"`   // its end
	Intervals []PInterval `json:"stints"`  // what the Ps did
	Depths    []Depth     `json:"depths"`  // lengths of queues
	Arrows    []Arrow     `json:"arrows"`  // movements between Ps
	// Annotations are the tasks and regions of the program in the window whose beginning was
	// seen, by goroutine and time: at most 2,500 for each 2,500 intervals, the longest; absent if
	// none.
	Annotations     []Annotation `json:"annotations,omitempty"`
	MoreAnnotations int          `json:"more_annotations,omitempty"` // how many are left out; absent if none
	// OnCPU is who was on the CPUs from CPUsFromNs on: at most 16,384 stretches for a whole
	// trace, and 4,096 for each 2,500 intervals elsewhere; absent without the kernel's records.
	OnCPU []OnCPU `json:"on_cpu,omitempty"`
	// OffCPU is which run intervals lacked a CPU, likewise; absent if none is known to have.
	OffCPU     []OffCPU `json:"off_cpu,omitempty"`
	CPUsFromNs int64    `json:"cpus_from_ns,omitempty"` // from when on OnCPU and OffCPU are complete; absent if that is 0
}

// State is what a P did during an interval.
type State uint8

// The states of a P, as the accounting in package procs names them.
const (
	Idle State = iota
	User
	System
	GC
	Tracer
	Syscall
	Sched
	Stopped
	_ // unused: not an interval
	NotRecorded
)

// PInterval is one interval of one P in one state. Times are ns since the first event.
type PInterval struct {
	P     int32 `json:"p"`     // the P
	From  int64 `json:"from"`  // ns
	To    int64 `json:"to"`    // ns
	State State `json:"state"` // 0 idle, 1 program, 2 runtime, 3 GC, 4 tracer, 5 system call, 6 scheduler, 7 stopped, 9 not recorded
	G     int64 `json:"g"`     // who ran; -1 if nobody
	Class int32 `json:"class"` // its class; 0 if nobody
	Wait  int64 `json:"wait"`  // ns that it had waited before; -1 if unknown or none
	// Src is where it was taken from: the position, from 0, in the list of sources of
	// dump (reference.Source); 0 where none.
	Src    uint8 `json:"src"`
	Before int64 `json:"before,omitempty"` // ns of the interval that lie before From, cut off by the window; absent if none
	M      int64 `json:"m,omitempty"`      // the thread that ran the goroutine; absent if no goroutine ran, or it is not known
	// Stop is why the goroutine stopped, as "why" of dump; "syscall" where it called the
	// operating system. Absent if it did neither here, or that is not known.
	Stop      string `json:"stop,omitempty"`
	BlockedOn string `json:"blocked_on,omitempty"` // what it blocked on, as in "blocked" of a life; absent if it did not
	Stack     int32  `json:"stack,omitempty"`      // where it stopped, in the list of stacks; absent if that is not known
	// Cause is the cause that owns most of its wait before: inferred, as all causes.
	// Absent if it did not wait, or the wait does not count.
	Cause   waits.Cause `json:"cause,omitempty"`
	Woken   string      `json:"woken,omitempty"`    // what made it runnable, as "why" of dump; absent if that is not known
	By      int64       `json:"by,omitempty"`       // the goroutine that did; absent if none did, or it is not known
	ByStack int32       `json:"by_stack,omitempty"` // where that goroutine did, in the list of stacks; absent if that is not known
}

// Depth is a queue length from a time on.
type Depth struct {
	P   int32 `json:"p"`   // -1: the global run queue
	At  int64 `json:"at"`  // ns: from when on
	Len int32 `json:"len"` // the length
}

// Arrow is a movement between Ps.
type Arrow struct {
	Kind string `json:"kind"` // "steal", "handoff", "retake", "overflow" or "global-batch"
	At   int64  `json:"at"`   // ns
	From int32  `json:"from"` // P; -1: the global queue, or none
	To   int32  `json:"to"`   // P; -1: the global queue, or none
	N    int32  `json:"n"`    // goroutines moved
}
