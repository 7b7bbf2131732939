package analyze

import (
	"time"

	"github.com/gmpscope/gmpscope/analyze/breakdown"
	"github.com/gmpscope/gmpscope/analyze/fairness"
	"github.com/gmpscope/gmpscope/analyze/findings"
	"github.com/gmpscope/gmpscope/analyze/kernel"
	"github.com/gmpscope/gmpscope/analyze/procs"
	"github.com/gmpscope/gmpscope/analyze/sidecar"
	"github.com/gmpscope/gmpscope/analyze/span"
	"github.com/gmpscope/gmpscope/analyze/stacks"
	"github.com/gmpscope/gmpscope/analyze/timeline"
	"github.com/gmpscope/gmpscope/analyze/waits"
	"github.com/gmpscope/gmpscope/analyze/work"
	"github.com/gmpscope/gmpscope/reference"
)

// Result is everything that the analysis of one trace found. Times are in ns
// since the first event of the trace.
type Result struct {
	Trace          Trace
	Reconstruction Reconstruction
	Waits          waits.Result
	Stacks         stacks.Result // where goroutines had stopped that then waited
	Procs          procs.Result
	Fairness       fairness.Result
	Pressure       fairness.Pressure
	Breakdown      breakdown.Result
	Span           Span
	Timeline       timeline.Result
	Findings       []findings.Finding    // as findings.Rank sorts them; the one to begin with is findings.Chief
	Doubts         []findings.Doubt      // of the whole trace, that findings refer to
	LeftOut        findings.LeftOut      // what package testing did in a tested program
	Work           work.Units            // units of work by kind
	Program        Program               // what kind of program it is of
	Kernel         *kernel.Machine       // what the kernel's records show; nil: there are none
	Focus          *Focused              // which part of the trace it is about; nil: all
	Suppressed     []findings.Suppressed // what Suppress took out of them, in their order
	Detectors      []Detector            // all that ran, in their order
	// DecisionsOnly reports whether nothing was measured, as Options.DecisionsOnly asks.
	DecisionsOnly bool
}

// Trace describes the input.
type Trace struct {
	// Name is the last part of the path, with more of it where traces of one command
	// would be called the same; with --full path as given on the command line, with
	// --anonymize "trace"; a URL without user name, password, fragment, and
	// parameters other than seconds and debug.
	Name       string       `json:"name"`
	Format     string       `json:"format"`      // as in the header of the file: "go 1.26"
	GoVersion  string       `json:"go_version"`  // the versions that write this format: "1.26 or 1.27"
	Rules      RulesApplied `json:"rules"`       // the rules of the scheduler by which it was analysed
	Program    string       `json:"program"`     // guessed from the folder of main.main, the package that is tested, or the start function of goroutine 1; empty if unknown
	DurationNs int64        `json:"duration_ns"` // from the first event to the last
	GOMAXPROCS int          `json:"gomaxprocs"`  // the largest, where it changes
	// CPUs is how many CPUs the process had, as set by --cpus, or the file beside the trace;
	// absent if neither does.
	CPUs float64 `json:"cpus,omitempty"`
	// Sidecar is the file TRACE.meta.json beside the trace, see docs/capture.md; absent if
	// there is none.
	Sidecar     *sidecar.Meta `json:"sidecar,omitempty"`
	Events      int64         `json:"events"`      // decoded events
	Generations int           `json:"generations"` // pieces that the tracer wrote
	Goroutines  int64         `json:"goroutines"`  // distinct ones seen
	Threads     int64         `json:"threads"`     // distinct ones seen
	Samples     int64         `json:"cpu_samples"` // CPU samples
	Tasks       int64         `json:"tasks"`       // user tasks that began
	Regions     int64         `json:"regions"`     // user regions that began
	Logs        int64         `json:"logs"`        // log messages
	Bytes       int64         `json:"bytes"`       // uncompressed
	Stored      int64         `json:"-"`           // bytes read as stored, that is, compressed
	LostBytes   int64         `json:"lost_bytes"`  // of them, what could not be read, or not be used without what is missing
	// LostNs is the time of which events are lost, between those that could be read;
	// the warnings say where, and dump has a "lost" there.
	LostNs int64 `json:"lost_ns"`
	// Incomplete reports whether the trace stops short or has damage, so that what is
	// missing may not even be in the file, or the analysis was interrupted.
	Incomplete bool `json:"incomplete"`
	// Interrupted reports whether the analysis was interrupted, or --max-memory ended
	// it: all numbers are about a beginning of the trace, DurationNs long.
	Interrupted bool      `json:"interrupted,omitempty"`
	Compression string    `json:"compression,omitempty"` // "gzip" or "zstd"; absent if none
	Reduced     bool      `json:"reduced"`               // an old trace: no threads, no retakes; queues are not rebuilt
	TracerNs    int64     `json:"tracer_ns"`             // P-time of the tracer's own goroutines
	Wall        string    `json:"wall,omitempty"`        // wall-clock time of the start, RFC 3339; absent if the trace has none
	Began       time.Time `json:"-"`                     // Wall, exactly; zero if the trace has none
	Warnings    []string  `json:"warnings"`              // what is missing or odd
}

// RecordedNs is the duration without the gaps: what rates, and shares of time, are of.
func (t *Trace) RecordedNs() int64 { return t.DurationNs - t.LostNs }

// BeginNs and EndNs bound what the result is about: the trace, or a window of it.
func (r *Result) BeginNs() int64 {
	if r.Focus != nil {
		return r.Focus.FromNs
	}
	return 0
}

// EndNs is BeginNs for the end.
func (r *Result) EndNs() int64 {
	if r.Focus != nil {
		return r.Focus.ToNs
	}
	return r.Trace.DurationNs
}

// RecordedNs is the duration of what the result is about without the gaps: what rates,
// and shares of time, are of.
func (r *Result) RecordedNs() int64 {
	if r.Focus != nil {
		return r.Focus.RecordedNs
	}
	return r.Trace.RecordedNs()
}

// PTime is the P-time that is recorded, ns.
func (r *Result) PTime() int64 { return r.Procs.PTime(r.Trace.GOMAXPROCS, r.EndNs()) }

// Reconstruction reports how far the hidden decisions could be explained. A start
// is explained if one rule of the scheduler accounts for it, ambiguous if
// several do or the model had to be corrected by it, else unexplained.
type Reconstruction struct {
	Starts      int64            `json:"starts"`      // transitions from Runnable to Running
	Explained   int64            `json:"explained"`   // one rule of the scheduler accounts for it
	Ambiguous   int64            `json:"ambiguous"`   // several do, or the start corrected the model
	Unexplained int64            `json:"unexplained"` // none does
	BySource    map[string]int64 `json:"by_source"`   // starts by their source, the "src" of dump
	ByBasis     map[string]int64 `json:"by_basis"`    // starts by how their source is known, the "basis" of dump
	Corrections int64            `json:"corrections"` // goroutines moved in the model because later events contradicted it
}

// EitherTick is the number of ambiguous starts that were taken from the head of
// the global queue all the same: at the 61st tick, or because the P had nothing
// of its own. Both come to the same.
func (r *Reconstruction) EitherTick() int64 {
	return r.ByBasis[reference.Known(reference.Ambiguous, reference.RuleTick).String()]
}

// Span reports how much of the work had to be done one after the other, and what
// scheduling could gain at most: see package span, which defines the terms. Times
// are in ns.
type Span struct {
	WorkNs        int64      `json:"work_ns"`        // T1: how long the program ran, on all Ps
	SpanNs        int64      `json:"span_ns"`        // Tinf: the longest chain of it, through wake-ups and creations; a lower bound
	BusyNs        int64      `json:"busy_ns"`        // time in which something of it ran or was ready to
	Parallelism   float64    `json:"parallelism"`    // T1 / Tinf
	BoundNs       int64      `json:"bound_ns"`       // max(T1/P, Tinf): no scheduler takes less of the busy time
	ABPBoundNs    int64      `json:"abp_bound_ns"`   // T1/Pa + Tinf·P/Pa: the order of time that work stealing takes with the Ps that were usable
	UsablePs      float64    `json:"usable_ps"`      // Pa, the mean number of usable Ps
	Efficiency    float64    `json:"efficiency"`     // BoundNs / BusyNs
	RecoverableNs int64      `json:"recoverable_ns"` // the busy time beyond the bound
	Hops          int64      `json:"hops"`           // wake-ups and creations on the critical path
	Path          []PathPart `json:"path"`           // the critical path by class, longest first
	OtherNs       int64      `json:"other_ns"`       // of it, further classes
}

// PathPart is the part of the critical path in which one class ran.
type PathPart struct {
	Name    string   `json:"name"`    // start function of the class
	Creator string   `json:"creator"` // function that executed the go statement
	Ns      int64    `json:"ns"`      // how long it ran on the path
	Stack   []string `json:"stack"`   // where its longest part ended
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
	ID    string        `json:"id"`    // never changes its meaning
	Kind  findings.Kind `json:"kind"`  // that of its findings
	Title string        `json:"title"` // what it looks for
	Found int           `json:"found"` // number of findings, also of those that were suppressed
	// Configured reports whether its thresholds are others than the defaults.
	Configured bool `json:"configured,omitempty"`
}
