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
	Inconclusive Verdict = "inconclusive" // too few traces to tell, or nothing to compare
)

// Result is a comparison. Times are ns.
type Result struct {
	Verdict  Verdict `json:"verdict"`  // the answer in a word
	Headline string  `json:"headline"` // what changed, in some 90 characters
	// Lines are what else speaks for the verdict and against it, and by which cause.
	Lines  []string `json:"lines"`
	Method Method   `json:"method"` // how change was told from chance
	Basis  Basis    `json:"basis"`  // what times of waiting are put in relation to
	Before Side     `json:"before"` // the traces from before the change
	After  Side     `json:"after"`  // the traces from after it
	// Caveats are what makes the two sides differ besides the change, and what cannot
	// be concluded, in sentences.
	Caveats []string `json:"caveats"`
	Metrics []Metric `json:"metrics"` // primary ones first
	Waiting Waiting  `json:"waiting"` // all waiting of the program's goroutines, those that yielded included, on the basis of the comparison
	// Distribution is where all waiting lies, by the length of the waits.
	Distribution []Bar           `json:"distribution"`
	Causes       []CauseChange   `json:"causes"`   // in the order of the causes; they add up to Waiting exactly
	Classes      []ClassChange   `json:"classes"`  // largest change first; they add up to Waiting exactly
	Work         []KindChange    `json:"work"`     // units of work by kind, largest change first, then kinds of one side; at most 100
	Renames      []Rename        `json:"renames"`  // classes that may be the same under another name
	Findings     []FindingChange `json:"findings"` // by detector
	// Suppressed are findings of either side that no comparison is about: of each
	// detector and class the costliest.
	Suppressed []findings.Suppressed `json:"suppressed,omitempty"`

	held, waited amount // of time held up, and of waiting
}

// Method specifies how change was told from chance.
type Method string

// The methods.
const (
	// Traces: each trace is a sample; Mann–Whitney, corrected for the number of
	// primary metrics by the largest statistic over all ways to deal the traces
	// out to the sides (P. Westfall, S. Young: Resampling-Based Multiple Testing,
	// 1993).
	Traces Method = "traces"
	// Windows: one trace a side; windows of it are resampled in blocks (H. Künsch:
	// The Jackknife and the Bootstrap for General Stationary Observations, Annals
	// of Statistics 17(3), 1989). It tells whether the two recordings differ, not
	// whether the programs do.
	Windows Method = "windows"
)

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
	CPUs       float64                `json:"cpus,omitempty"` // that the process had, as --cpus says; absent if it does not
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

// Estimate is the median over a side's traces with its confidence interval.
// Lo and Hi are nil where there are too few.
type Estimate struct {
	Median float64  `json:"median"` // over the traces of the side
	Lo     *float64 `json:"lo"`     // lower end of its 95 % confidence interval; null with too few traces
	Hi     *float64 `json:"hi"`     // upper end
}

// Metric is one number of each trace, compared.
type Metric struct {
	Name        string      `json:"name"`     // its path in the document of analyze, where it is there
	Title       string      `json:"title"`    // its name for people
	Unit        string      `json:"unit"`     // "ns", "share", "1/s" or empty
	Better      Direction   `json:"better"`   // which direction is an improvement
	Primary     bool        `json:"primary"`  // takes part in the verdict
	UserVisible bool        `json:"felt"`     // primary, and about what users feel: it decides before queueing does
	Before      Estimate    `json:"before"`   // before the change
	After       Estimate    `json:"after"`    // after it
	Delta       float64     `json:"delta"`    // after less before, of the medians
	Ratio       *float64    `json:"ratio"`    // after / before; null where before is 0
	CI          *[2]float64 `json:"ci"`       // confidence interval of Delta, which it contains; null with too few traces
	RatioCI     *[2]float64 `json:"ratio_ci"` // confidence interval of Ratio; null with too few traces, and where before may be 0
	// P is the p value of this metric by itself: Mann–Whitney, or by block bootstrap
	// with windows. Null where none can be had.
	P           *float64 `json:"p"`
	PAdjusted   *float64 `json:"p_adjusted"`  // corrected for the number of primary metrics, of those that are felt or of the others; of a metric that is not primary, P
	Significant bool     `json:"significant"` // chance alone would hardly do it

	suggestive bool // with windows: it changed by more than is usual from one run to the next
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

// CauseChange is one cause's part.
type CauseChange struct {
	Cause    string `json:"cause"`     // one of the causes of waiting
	BeforeNs int64  `json:"before_ns"` // a mean over the traces
	AfterNs  int64  `json:"after_ns"`  // a mean over the traces
	DeltaNs  int64  `json:"delta_ns"`  // after less before
}

// ClassChange is one class's part. Classes are matched by start function and
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
	Same   Change = "same" // or within noise
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
	// Significant reports whether chance alone is an unlikely explanation.
	Significant bool     `json:"significant"`
	P           *float64 `json:"p"` // the p value; null where none can be had
}
