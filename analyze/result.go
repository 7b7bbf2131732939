package analyze

import (
	"github.com/gmpscope/gmpscope/analyze/fairness"
	"github.com/gmpscope/gmpscope/analyze/findings"
	"github.com/gmpscope/gmpscope/analyze/procs"
	"github.com/gmpscope/gmpscope/analyze/span"
	"github.com/gmpscope/gmpscope/analyze/timeline"
	"github.com/gmpscope/gmpscope/analyze/waits"
	"github.com/gmpscope/gmpscope/reference"
)

// Result is everything that the analysis of one trace found. Times are in ns
// since the first event of the trace.
type Result struct {
	Trace          Trace
	Reconstruction Reconstruction
	Waits          waits.Result
	Procs          procs.Result
	Fairness       fairness.Result
	Pressure       fairness.Pressure
	Span           Span
	Timeline       timeline.Result
	Findings       []findings.Finding    // by severity, then cost
	Suppressed     []findings.Suppressed // what Suppress took out of them, in their order
	Detectors      []Detector            // all that ran, in their order
}

// Trace describes the input.
type Trace struct {
	Name        string   `json:"name"`
	Format      string   `json:"format"`     // as in the file's header: "go 1.26"
	GoVersion   string   `json:"go_version"` // the versions that write this format: "1.26 or 1.27"
	Program     string   `json:"program"`    // guessed from the start function of goroutine 1 and its package; "" if unknown
	DurationNs  int64    `json:"duration_ns"`
	GOMAXPROCS  int      `json:"gomaxprocs"` // the largest, where it changes
	Events      int64    `json:"events"`
	Generations int      `json:"generations"`
	Goroutines  int64    `json:"goroutines"`
	Threads     int64    `json:"threads"`
	Samples     int64    `json:"cpu_samples"`
	Tasks       int64    `json:"tasks"`
	Regions     int64    `json:"regions"`
	Logs        int64    `json:"logs"`
	Bytes       int64    `json:"bytes"`                 // uncompressed
	LostBytes   int64    `json:"lost_bytes"`            // of them, what could not be read, or not be used without what is missing
	LostNs      int64    `json:"lost_ns"`               // time of the trace of which events are lost, between those that were read
	Incomplete  bool     `json:"incomplete"`            // the trace stops short or has damage: what is missing may not even be in the file
	Interrupted bool     `json:"interrupted,omitempty"` // incomplete because the analysis was interrupted: it is about a beginning of the trace
	Compression string   `json:"compression,omitempty"`
	Reduced     bool     `json:"reduced"`        // v1 trace: no threads, no retakes; queues are not rebuilt
	TracerNs    int64    `json:"tracer_ns"`      // P-time of the tracer's own goroutines
	Wall        string   `json:"wall,omitempty"` // wall-clock time of the start, RFC 3339, where the trace has it
	Warnings    []string `json:"warnings"`
}

// RecordedNs is the duration without the gaps: what rates, and shares of time, are of.
func (t *Trace) RecordedNs() int64 { return t.DurationNs - t.LostNs }

// PTime is the P-time that is recorded, ns.
func (r *Result) PTime() int64 { return r.Procs.PTime(r.Trace.GOMAXPROCS, r.Trace.DurationNs) }

// Reconstruction says how far the hidden decisions could be explained. A start
// is explained if one rule of the scheduler accounts for it, ambiguous if
// several do or the model had to be corrected by it, else unexplained.
type Reconstruction struct {
	Starts      int64            `json:"starts"`
	Explained   int64            `json:"explained"`
	Ambiguous   int64            `json:"ambiguous"`
	Unexplained int64            `json:"unexplained"`
	BySource    map[string]int64 `json:"by_source"`
	ByBasis     map[string]int64 `json:"by_basis"`
	Corrections int64            `json:"corrections"` // goroutines moved in the model because later events contradicted it
}

// EitherTick is the number of ambiguous starts that were taken from the head of
// the global queue all the same: at the 61st tick, or because the P had nothing
// of its own. Both come to the same.
func (r *Reconstruction) EitherTick() int64 {
	return r.ByBasis[reference.Known(reference.Ambiguous, reference.RuleTick).String()]
}

// Span says how much of the work had to be done one after the other, and what
// scheduling could gain at most: see package span, which defines the terms. Times
// are in ns.
type Span struct {
	WorkNs        int64      `json:"work_ns"` // T1
	SpanNs        int64      `json:"span_ns"` // Tinf
	BusyNs        int64      `json:"busy_ns"` // time in which the program ran or wanted to
	Parallelism   float64    `json:"parallelism"`
	BoundNs       int64      `json:"bound_ns"`     // max(T1/P, Tinf)
	ABPBoundNs    int64      `json:"abp_bound_ns"` // T1/Pa + Tinf·P/Pa
	UsablePs      float64    `json:"usable_ps"`    // Pa
	Efficiency    float64    `json:"efficiency"`
	RecoverableNs int64      `json:"recoverable_ns"`
	Hops          int64      `json:"hops"` // wake-ups and creations on the critical path
	Path          []PathPart `json:"path"` // the critical path by class, longest first
	OtherNs       int64      `json:"other_ns"`
}

// PathPart is the part of the critical path in which one class ran.
type PathPart struct {
	Name    string   `json:"name"`
	Creator string   `json:"creator"`
	Ns      int64    `json:"ns"`
	Stack   []string `json:"stack"` // where its longest part ended
}

func spanOf(r *span.Result, class func(int32) (string, string), stack func(int32) []string) Span {
	out := Span{
		WorkNs: r.WorkNs, SpanNs: r.SpanNs, BusyNs: r.BusyNs, Parallelism: r.Parallelism(), BoundNs: r.BoundNs(), ABPBoundNs: r.ABPNs(),
		UsablePs: r.Usable, Efficiency: r.Efficiency(), RecoverableNs: r.RecoverableNs(), Hops: r.Hops, Path: []PathPart{}, OtherNs: r.OtherNs,
	}
	for _, s := range r.Path {
		p := PathPart{Ns: s.Ns, Stack: []string{}}
		p.Name, p.Creator = class(s.Class)
		if s.Stack != 0 {
			p.Stack = append(p.Stack, stack(s.Stack)...)
		}
		out.Path = append(out.Path, p)
	}
	return out
}

// Detector is a detector that ran.
type Detector struct {
	ID    string        `json:"id"`
	Kind  findings.Kind `json:"kind"`
	Title string        `json:"title"`
	Found int           `json:"found"` // findings, also those that were suppressed
	// Configured reports whether its thresholds are others than the defaults.
	Configured bool `json:"configured,omitempty"`
}
