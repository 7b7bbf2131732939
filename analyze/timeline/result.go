// Package timeline answers: what did it look like over time? It is one of the
// accumulators of step 5 of package analyze.
//
// [Accumulator] paints two pictures in one pass. The coarse one has a bounded
// number of bins: they start narrow, and where they would become too many,
// neighbours are merged and the width doubles. Bins hold integer sums until the
// end, so a merged bin is exactly the bin that a wider start would have made.
// The fine one holds single stints, queue lengths and movements, for the whole
// trace if that is short, else around the moments given to [Accumulator.Mark].
package timeline

// Result is the picture of a trace over time, at a resolution that does not
// grow with its length: Bins equal bins from time 0, BinNs ns wide, plus a few
// windows of exact detail. The last bin may reach beyond EndNs; shares and
// means in it are those of its part up to EndNs. Means, of bins that are partly not
// recorded, are those of the rest; where nothing is, they are 0.
type Result struct {
	BinNs  int64  `json:"bin_ns"`
	Bins   int    `json:"bins"`
	EndNs  int64  `json:"end_ns"`
	Lanes  []Lane `json:"lanes"`  // by P
	Global Series `json:"global"` // global run queue
	// Runnable is the number of all runnable goroutines; IdleP the number of
	// idle Ps.
	Runnable Series `json:"runnable"`
	IdleP    Series `json:"idle_p"`
	// Missed is, per bin, the mean of min(idle Ps, queued goroutines).
	Missed []float32 `json:"missed"`
	// Counts per bin.
	Steals      []int32  `json:"steals"`
	Retakes     []int32  `json:"retakes"`
	Handoffs    []int32  `json:"handoffs"`
	Preemptions []int32  `json:"preemptions"`
	STW         []Span   `json:"stw"` // at most 2,000, longest kept
	GC          []Span   `json:"gc"`
	Windows     []Window `json:"windows"`
	// NotRecorded are the gaps in the trace, of more than 2,000 the longest.
	NotRecorded []Span `json:"not_recorded,omitempty"`
	// OmittedPs is how many Ps have no lane because there are more than 1,024;
	// IdleP and the counts include them. 0 but in very large or made-up traces.
	OmittedPs int32 `json:"omitted_ps,omitempty"`
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
	Mean []float32 `json:"mean"`
	Max  []int32   `json:"max"`
}

// Lane is one P. Each share is the part of the bin in 1/255; what is left to
// 255 is the idle share. They never sum to more.
type Lane struct {
	P       int32   `json:"p"`
	User    []uint8 `json:"user"`
	System  []uint8 `json:"system"` // runtime and tracer goroutines
	GC      []uint8 `json:"gc"`
	Syscall []uint8 `json:"syscall"`
	Sched   []uint8 `json:"sched"`
	Stopped []uint8 `json:"stopped"`
	Queue   Series  `json:"queue"` // local run queue
	// Unused is the share in which the P did not exist: before the trace knew of
	// it, or at or above GOMAXPROCS. Nil where it is 0 throughout.
	Unused []uint8 `json:"unused,omitempty"`
	// NotRecorded is the share in which nobody knows what it did: gaps in the trace,
	// and the time from each until the trace shows the P again. Nil where it is 0
	// throughout.
	NotRecorded []uint8 `json:"not_recorded,omitempty"`
}

// Span is a named interval, ns.
type Span struct {
	From int64  `json:"from"`
	To   int64  `json:"to"`
	Name string `json:"name"`
}

// Window is a stretch of time in exact detail. Stints are cut to the window.
// Depths begin with the length of each queue at FromNs; where a window has more
// than 8,192, they are thinned to the longest of each 1/2,048 of its time.
type Window struct {
	Title  string  `json:"title"`
	FromNs int64   `json:"from_ns"`
	ToNs   int64   `json:"to_ns"`
	Stints []Stint `json:"stints"`
	Depths []Depth `json:"depths"`
	Arrows []Arrow `json:"arrows"`
}

// State is what a P did during a stint.
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
	_ // unused: not a stint
	NotRecorded
)

// Stint is one interval of one P in one state.
type Stint struct {
	P     int32 `json:"p"`
	From  int64 `json:"from"`
	To    int64 `json:"to"`
	State State `json:"state"`
	G     int64 `json:"g"`     // -1 where none
	Class int32 `json:"class"` // 0 where none
	Wait  int64 `json:"wait"`  // ns that G had waited before it; -1 where unknown or none
	Src   uint8 `json:"src"`   // reference.Source of the start; 0 where none
	// Before is how many ns of the stint lie before From, cut off by the window.
	Before int64 `json:"before,omitempty"`
}

// Depth is a queue length from a time on.
type Depth struct {
	P   int32 `json:"p"` // -1: the global run queue
	At  int64 `json:"at"`
	Len int32 `json:"len"`
}

// Arrow is a movement between Ps.
type Arrow struct {
	Kind string `json:"kind"` // steal, handoff, retake, overflow, global-batch
	At   int64  `json:"at"`
	From int32  `json:"from"` // P; -1: the global queue, or none
	To   int32  `json:"to"`
	N    int32  `json:"n"`
}
