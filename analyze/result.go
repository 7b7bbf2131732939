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
	Trace          Trace                 // what the trace is
	Reconstruction Reconstruction        // how far hidden decisions could be explained
	Waits          waits.Result          // how long goroutines waited for a P, and why
	Stacks         stacks.Result         // stacks at which waiting goroutines had stopped
	Procs          procs.Result          // what the Ps did
	Fairness       fairness.Result       // how running time was shared
	Pressure       fairness.Pressure     // for how much of the time goroutines waited
	Breakdown      breakdown.Result      // what goroutines did with their life
	Span           Span                  // critical path
	Timeline       timeline.Result       // what happened when, for drawings
	Findings       []findings.Finding    // ranked by findings.Rank; findings.Chief selects the leading one
	Doubts         []findings.Doubt      // doubts about the whole trace, to which findings refer by ID
	LeftOut        findings.LeftOut      // actions of package testing in a tested program
	Parked         []Parked              // where goroutines were blocked all the time, most first; empty before Go 1.23
	Work           work.Units            // units of work by kind
	Program        Program               // kind of program
	Kernel         *kernel.Machine       // result of the kernel's records; nil without records
	Focus          *Focused              // part of the trace that was measured; nil for all of it
	Suppressed     []findings.Suppressed // findings removed by Suppress, in their order
	Detectors      []Detector            // detectors that ran, in their order
	// DecisionsOnly reports whether Options.DecisionsOnly was set, so that nothing was
	// measured.
	DecisionsOnly bool
}

// Trace describes the input.
type Trace struct {
	// Name is the base name, with more of the path where that is ambiguous; with --full the
	// path as given; with --anonymize "trace"; of a URL, no user name, password, fragment, or
	// parameters other than seconds and debug.
	Name      string       `json:"name"`
	Format    string       `json:"format"`     // from the header: "go 1.26"
	GoVersion string       `json:"go_version"` // versions that write this format: "1.26 or 1.27"
	Rules     RulesApplied `json:"rules"`
	// Program is guessed from the folder of main.main, the tested package, or the start
	// function of goroutine 1; empty if unknown.
	Program     string        `json:"program"`
	DurationNs  int64         `json:"duration_ns"`           // from the first event to the last
	GOMAXPROCS  int           `json:"gomaxprocs"`            // largest value
	CPUs        float64       `json:"cpus,omitempty"`        // CPUs of the process, from --cpus or the sidecar; absent if neither has it
	Sidecar     *sidecar.Meta `json:"sidecar,omitempty"`     // TRACE.meta.json beside the trace; absent if there is none
	Events      int64         `json:"events"`                // decoded events
	Generations int           `json:"generations"`           // pieces that the tracer wrote
	Goroutines  int64         `json:"goroutines"`            // distinct ones seen
	Threads     int64         `json:"threads"`               // distinct ones seen
	Samples     int64         `json:"cpu_samples"`           // CPU samples
	Tasks       int64         `json:"tasks"`                 // user tasks that began
	Regions     int64         `json:"regions"`               // user regions that began
	Logs        int64         `json:"logs"`                  // log messages
	Bytes       int64         `json:"bytes"`                 // uncompressed
	Stored      int64         `json:"-"`                     // bytes read before decompression
	LostBytes   int64         `json:"lost_bytes"`            // part of Bytes that is unreadable, or useless without what is missing
	LostNs      int64         `json:"lost_ns"`               // time between readable events in which events are lost
	Incomplete  bool          `json:"incomplete"`            // the trace is truncated or damaged, or the analysis was interrupted
	Interrupted bool          `json:"interrupted,omitempty"` // the analysis was interrupted, or stopped by --max-memory: all numbers are about the first DurationNs
	Compression string        `json:"compression,omitempty"` // "gzip" or "zstd"; absent if none
	Reduced     bool          `json:"reduced"`               // a trace of Go 1.21 or before: no threads, no retakes, no queues
	TracerNs    int64         `json:"tracer_ns"`             // P-time of the tracer's goroutines
	Wall        string        `json:"wall,omitempty"`        // wall-clock time of the start, RFC 3339; absent if unknown
	Began       time.Time     `json:"-"`                     // wall-clock time of the start; zero if unknown
	Warnings    []string      `json:"warnings"`              // what is missing or odd
}

// RecordedNs returns the duration of the trace without gaps, in ns: the base of rates and
// of shares of time.
func (t *Trace) RecordedNs() int64 { return t.DurationNs - t.LostNs }

// BeginNs returns the beginning of the trace, or of the window that was measured, in ns
// since the first event.
func (r *Result) BeginNs() int64 {
	if r.Focus != nil {
		return r.Focus.FromNs
	}
	return 0
}

// EndNs returns the end of the trace, or of the window that was measured, in ns since the
// first event.
func (r *Result) EndNs() int64 {
	if r.Focus != nil {
		return r.Focus.ToNs
	}
	return r.Trace.DurationNs
}

// RecordedNs returns the duration of the trace, or of the window, without gaps, in ns:
// the base of rates and of shares of time.
func (r *Result) RecordedNs() int64 {
	if r.Focus != nil {
		return r.Focus.RecordedNs
	}
	return r.Trace.RecordedNs()
}

// PTime returns the recorded P-time, in ns: the recorded time of all Ps below GOMAXPROCS, summed. It is
// the base of shares of P-time.
func (r *Result) PTime() int64 { return r.Procs.PTime(r.Trace.GOMAXPROCS, r.EndNs()) }

// Reconstruction counts the starts that the rules of the scheduler explain.
type Reconstruction struct {
	Starts      int64            `json:"starts"`      // transitions from Runnable to Running
	Explained   int64            `json:"explained"`   // by exactly one rule
	Ambiguous   int64            `json:"ambiguous"`   // by several rules, or by correcting the model
	Unexplained int64            `json:"unexplained"` // by no rule
	BySource    map[string]int64 `json:"by_source"`   // starts by where the goroutine was taken from, such as "local" or "steal" ("src" of dump)
	ByBasis     map[string]int64 `json:"by_basis"`    // starts by how that is known, such as "observed" or "inferred:queue" ("basis" of dump)
	Corrections int64            `json:"corrections"` // goroutines moved in the model because later events contradicted it
}

// EitherTick returns the number of ambiguous starts that certainly came from the head of
// the global queue, either at the 61st tick or because the P's own queue was empty.
func (r *Reconstruction) EitherTick() int64 {
	return r.ByBasis[reference.Known(reference.Ambiguous, reference.RuleTick).String()]
}

// Span is the work, its critical path, and the most that scheduling could gain. Package span
// defines the terms.
type Span struct {
	WorkNs        int64      `json:"work_ns"`        // T1: running time of the program, on all Ps
	SpanNs        int64      `json:"span_ns"`        // Tinf: longest chain through wake-ups and creations; a lower bound
	BusyNs        int64      `json:"busy_ns"`        // time in which part of it ran or was ready to
	Parallelism   float64    `json:"parallelism"`    // T1 / Tinf
	BoundNs       int64      `json:"bound_ns"`       // max(T1/P, Tinf): least busy time by any scheduler
	ABPBoundNs    int64      `json:"abp_bound_ns"`   // T1/Pa + Tinf·P/Pa: order of the time of work stealing with the usable Ps
	UsablePs      float64    `json:"usable_ps"`      // Pa, the mean number of usable Ps
	Efficiency    float64    `json:"efficiency"`     // BoundNs / BusyNs
	RecoverableNs int64      `json:"recoverable_ns"` // busy time beyond the bound
	Hops          int64      `json:"hops"`           // wake-ups and creations on the critical path
	Path          []PathPart `json:"path"`           // critical path by class, longest first
	OtherNs       int64      `json:"other_ns"`       // further classes on it
}

// PathPart is the part of the critical path in which one class ran.
type PathPart struct {
	Name    string   `json:"name"`    // start function of the class
	Creator string   `json:"creator"` // function that executed the go statement
	Ns      int64    `json:"ns"`      // running time on the path
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
	ID         string        `json:"id"` // never changes its meaning
	Kind       findings.Kind `json:"kind"`
	Title      string        `json:"title"`                // what it looks for
	Found      int           `json:"found"`                // findings, suppressed ones included
	Configured bool          `json:"configured,omitempty"` // thresholds differ from the defaults
}
