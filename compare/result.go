package compare

import (
	"github.com/gmpscope/gmpscope/analyze"
	"github.com/gmpscope/gmpscope/analyze/findings"
)

// Verdict is the answer in a word.
type Verdict string

// The verdicts.
const (
	Better       Verdict = "better"
	Worse        Verdict = "worse"
	Mixed        Verdict = "mixed" // some better, some worse
	NoChange     Verdict = "no significant change"
	Inconclusive Verdict = "inconclusive" // too few traces to tell, another machine or load, or nothing to compare
)

// Result is a comparison. Times are ns.
type Result struct {
	Verdict  Verdict `json:"verdict"`  // the answer in a word
	Headline string  `json:"headline"` // what changed, in some 90 characters
	// Lines are what else speaks for the verdict and against it, and by which cause.
	Lines   []string   `json:"lines"`
	Machine Conditions `json:"machine"` // what of the machine differs
	Basis   Basis      `json:"basis"`   // what times of waiting are put in relation to
	Before  Side       `json:"before"`  // the traces from before the change
	After   Side       `json:"after"`   // the traces from after it
	// Caveats are what makes the two sides differ besides the change, and what cannot
	// be concluded, in sentences.
	Caveats []string `json:"caveats"`
	Metrics []Metric `json:"metrics"` // of whole traces, those that decide first
	Waiting Waiting  `json:"waiting"` // all waiting of the program's goroutines, those that yielded included, on the basis of the comparison
	// Distribution is where all waiting lies, by the length of the waits.
	Distribution []Bar           `json:"distribution"`
	Causes       []CauseChange   `json:"causes"`   // in the order of the causes; they add up to Waiting exactly
	Classes      []ClassChange   `json:"classes"`  // largest change first; they add up to Waiting exactly
	Work         []KindChange    `json:"work"`     // units of work by kind: those that decide first, then by their share of the time; at most 100
	Renames      []Rename        `json:"renames"`  // classes that may be the same under another name
	Findings     []FindingChange `json:"findings"` // by detector
	// Suppressed are findings of either side that no comparison is about: of each
	// detector and class the costliest.
	Suppressed []findings.Suppressed `json:"suppressed,omitempty"`
}

// Basis specifies what times are put in relation to.
type Basis string

// The bases.
const (
	PerTrace   Basis = "per trace"             // both sides did the same work
	PerSecond  Basis = "per second"            // they had the same load
	PerRunning Basis = "per second of running" // neither
)

// Side is what one side's traces have in common.
type Side struct {
	Traces     []string               `json:"traces"`         // their names
	N          int                    `json:"n"`              // how many
	DurationNs int64                  `json:"duration_ns"`    // median; gaps in the traces are left out
	GOMAXPROCS []int                  `json:"gomaxprocs"`     // all values that occur
	CPUs       float64                `json:"cpus,omitempty"` // that the process had, as set by --cpus; absent if it does not
	GoVersions []string               `json:"go_versions"`    // all that occur
	Rules      []analyze.RulesApplied `json:"rules"`          // all by which they were analysed
	RunningNs  int64                  `json:"running_ns"`     // of goroutines of the program, median
	Starts     int64                  `json:"starts"`         // median
}

// Direction specifies which direction of a metric is an improvement.
type Direction string

// The directions.
const (
	Lower   Direction = "lower"
	Higher  Direction = "higher"
	Neither Direction = "neither" // it describes, but does not judge
)

// Estimate is a metric on one side, with its confidence interval.
type Estimate struct {
	// Value is the geometric mean over the side's traces, of shares that of the odds; of a metric
	// that is not tested it is the median.
	Value float64  `json:"value"`
	Lo    *float64 `json:"lo"` // lower end of its 95 % confidence interval; null if it is not tested
	Hi    *float64 `json:"hi"` // upper end
}

// Metric is one number of each trace, compared.
type Metric struct {
	Name    string      `json:"name"`     // its path in the document of analyze, where it is there
	Title   string      `json:"title"`    // its name for people
	Unit    string      `json:"unit"`     // "ns", "share", "1/s" or empty
	Better  Direction   `json:"better"`   // which direction is an improvement
	Primary bool        `json:"primary"`  // it is tested, and takes part in the verdict
	Before  Estimate    `json:"before"`   // before the change
	After   Estimate    `json:"after"`    // after it
	Delta   float64     `json:"delta"`    // after less before
	Ratio   *float64    `json:"ratio"`    // after / before; null where before is 0
	RatioCI *[2]float64 `json:"ratio_ci"` // 95 % confidence interval of Ratio; null if it is not tested, and for shares
	// P is how likely it is that a program that did not change differs by as much; null if it is
	// not tested.
	P         *float64 `json:"p"`
	PAdjusted *float64 `json:"p_adjusted"` // corrected for the number of metrics that decide, and for the machine
	// Detectable is the smallest factor that would have been significant, in four of five
	// comparisons: of the odds for shares.
	Detectable  *float64 `json:"detectable"`
	Significant bool     `json:"significant"` // chance and the machine alone would hardly do it

	machine bool // without what the machine may account for it would be significant
}

// Waiting is all waiting of the program, on the basis of the comparison.
type Waiting struct {
	BeforeNs int64 `json:"before_ns"` // a mean over the traces
	AfterNs  int64 `json:"after_ns"`  // a mean over the traces
	DeltaNs  int64 `json:"delta_ns"`  // after less before
}

// Bar is the waits of [FromNs, ToNs): the shares of all waiting, summed over a
// side's traces, that lies in them.
type Bar struct {
	FromNs int64   `json:"from_ns"` // waits of at least this
	ToNs   int64   `json:"to_ns"`   // and of less than this
	Before float64 `json:"before"`  // share of all waiting in them before the change
	After  float64 `json:"after"`   // and after it
}

// CauseChange is how the waiting by one cause changed.
type CauseChange struct {
	Cause    string `json:"cause"`     // one of the causes of waiting
	BeforeNs int64  `json:"before_ns"` // a mean over the traces
	AfterNs  int64  `json:"after_ns"`  // a mean over the traces
	DeltaNs  int64  `json:"delta_ns"`  // after less before
}

// ClassChange is how the waiting of one class changed. Classes are matched by start function and
// creator.
type ClassChange struct {
	Name             string `json:"name"`              // start function, as classes have it in the document of analyze
	Short            string `json:"short"`             // the name for short: with as much of the path of its package as tells it from others here
	Creator          string `json:"creator"`           // function that executed the go statement
	In               string `json:"in"`                // "both", "before" or "after"
	BeforeNs         int64  `json:"before_ns"`         // a mean over the traces
	AfterNs          int64  `json:"after_ns"`          // a mean over the traces
	DeltaNs          int64  `json:"delta_ns"`          // after less before
	BeforeGoroutines int64  `json:"before_goroutines"` // how many, median over the traces
	AfterGoroutines  int64  `json:"after_goroutines"`  // how many, median over the traces
	BeforeRunningNs  int64  `json:"before_running_ns"` // how long they ran, median over the traces
	AfterRunningNs   int64  `json:"after_running_ns"`  // how long they ran, median over the traces
	BeforeP99Ns      int64  `json:"before_p99_ns"`     // 99 % of their waits are at most this; the largest over the traces
	AfterP99Ns       int64  `json:"after_p99_ns"`      // 99 % of their waits are at most this; the largest over the traces
}

// Rename is a class that went away and one that came, and that are alike.
type Rename struct {
	Before string `json:"before"` // start function before the change
	After  string `json:"after"`  // and after it
	Why    string `json:"why"`    // what they have in common, in words
}

// Change is what became of a finding.
type Change string

// The changes.
const (
	New    Change = "new"
	Gone   Change = "gone"
	Grown  Change = "worse"
	Shrunk Change = "better"
	Same   Change = "same" // or less than twice as much
)

// FindingChange is a finding on both sides, matched by its ID.
type FindingChange struct {
	ID           string `json:"id"`             // the detector's
	Change       Change `json:"change"`         // what became of it
	BeforeN      int    `json:"before_n"`       // how many traces have it
	AfterN       int    `json:"after_n"`        // how many traces have it
	BeforeCostNs int64  `json:"before_cost_ns"` // median over all traces of the side, 0 for those without it
	AfterCostNs  int64  `json:"after_cost_ns"`  // median over all traces of the side, 0 for those without it
	Severity     string `json:"severity"`       // the worst on either side
	Title        string `json:"title"`          // of the costliest, from after if it is there
	BeforeTitle  string `json:"before_title"`   // Title of this side; empty where it is not
	AfterTitle   string `json:"after_title"`    // Title of this side; empty where it is not
}
