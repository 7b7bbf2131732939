package compare

import "github.com/gmpscope/gmpscope/analyze/findings"

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
	Verdict  Verdict `json:"verdict"`
	Headline string  `json:"headline"` // the verdict in a sentence
	Method   Method  `json:"method"`
	Basis    Basis   `json:"basis"`
	Before   Side    `json:"before"`
	After    Side    `json:"after"`
	// Caveats are what makes the two sides differ besides the change, and what
	// cannot be concluded, in sentences.
	Caveats []string `json:"caveats"`
	Metrics []Metric `json:"metrics"` // primary ones first
	Waiting Waiting  `json:"waiting"`
	// Distribution is where all waiting lies, by the length of the waits.
	Distribution []Bar           `json:"distribution"`
	Causes       []CauseChange   `json:"causes"`  // in the order of the causes; they add up to Waiting exactly
	Classes      []ClassChange   `json:"classes"` // largest change first; they add up to Waiting exactly
	Renames      []Rename        `json:"renames"` // suggestions
	Findings     []FindingChange `json:"findings"`
	// Suppressed are findings of either side that no comparison is about: of each
	// detector and class the costliest.
	Suppressed []findings.Suppressed `json:"suppressed,omitempty"`
}

// Method says how change was told from chance.
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

// Basis says what times are put in relation to.
type Basis string

// The bases.
const (
	PerTrace   Basis = "per trace"             // both sides did the same work
	PerSecond  Basis = "per second"            // they had the same load
	PerRunning Basis = "per second of running" // neither
)

// Side is what one side's traces have in common.
type Side struct {
	Traces     []string `json:"traces"`
	N          int      `json:"n"`
	DurationNs int64    `json:"duration_ns"` // median; gaps in the traces are left out
	GOMAXPROCS []int    `json:"gomaxprocs"`  // all values that occur
	GoVersions []string `json:"go_versions"`
	RunningNs  int64    `json:"running_ns"` // of goroutines of the program, median
	Starts     int64    `json:"starts"`     // median
}

// Direction says which direction of a metric is an improvement.
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
	Median float64  `json:"median"`
	Lo     *float64 `json:"lo"`
	Hi     *float64 `json:"hi"`
}

// Metric is one number of each trace, compared.
type Metric struct {
	Name    string    `json:"name"` // its path in the JSON of analyze, where it is there
	Title   string    `json:"title"`
	Unit    string    `json:"unit"` // "ns", "share", "1/s", ""
	Better  Direction `json:"better"`
	Primary bool      `json:"primary"` // takes part in the verdict
	Before  Estimate  `json:"before"`
	After   Estimate  `json:"after"`
	Delta   float64   `json:"delta"` // of the medians
	// Ratio is after / before; null where before is 0.
	Ratio *float64 `json:"ratio"`
	// CI is the confidence interval of Delta, RatioCI that of Ratio; null with too
	// few traces, and RatioCI where before may be 0.
	CI      *[2]float64 `json:"ci"`
	RatioCI *[2]float64 `json:"ratio_ci"`
	// P is the p value of this metric by itself, PAdjusted that after the
	// correction for looking at several; the same for metrics that are not
	// primary. Null where none can be had.
	P           *float64 `json:"p"`
	PAdjusted   *float64 `json:"p_adjusted"`
	Significant bool     `json:"significant"`
}

// Waiting is all waiting of the program, on the basis of the comparison.
type Waiting struct {
	BeforeNs int64 `json:"before_ns"`
	AfterNs  int64 `json:"after_ns"`
	DeltaNs  int64 `json:"delta_ns"`
}

// Bar is the waits of [FromNs, ToNs): the shares of all waiting, summed over a
// side's traces, that lies in them.
type Bar struct {
	FromNs int64   `json:"from_ns"`
	ToNs   int64   `json:"to_ns"`
	Before float64 `json:"before"`
	After  float64 `json:"after"`
}

// CauseChange is one cause's part.
type CauseChange struct {
	Cause    string `json:"cause"`
	BeforeNs int64  `json:"before_ns"`
	AfterNs  int64  `json:"after_ns"`
	DeltaNs  int64  `json:"delta_ns"`
}

// ClassChange is one class's part. Classes are matched by start function and
// creator.
type ClassChange struct {
	Name     string `json:"name"`
	Creator  string `json:"creator"`
	In       string `json:"in"` // "both", "before" or "after"
	BeforeNs int64  `json:"before_ns"`
	AfterNs  int64  `json:"after_ns"`
	DeltaNs  int64  `json:"delta_ns"`
	// Goroutines and running time, medians over the traces.
	BeforeGoroutines int64 `json:"before_goroutines"`
	AfterGoroutines  int64 `json:"after_goroutines"`
	BeforeRunningNs  int64 `json:"before_running_ns"`
	AfterRunningNs   int64 `json:"after_running_ns"`
	BeforeP99Ns      int64 `json:"before_p99_ns"`
	AfterP99Ns       int64 `json:"after_p99_ns"`
}

// Rename is a class that went away and one that came, and that are alike.
type Rename struct {
	Before string `json:"before"`
	After  string `json:"after"`
	Why    string `json:"why"`
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
	ID     string `json:"id"`
	Change Change `json:"change"`
	// In how many traces of each side it is, and its median cost over all traces
	// of the side, 0 for those without it.
	BeforeN      int    `json:"before_n"`
	AfterN       int    `json:"after_n"`
	BeforeCostNs int64  `json:"before_cost_ns"`
	AfterCostNs  int64  `json:"after_cost_ns"`
	Severity     string `json:"severity"` // the worst on either side
	Title        string `json:"title"`    // of the costliest, from after if it is there
	// The same of each side; "" where it is not.
	BeforeTitle string `json:"before_title"`
	AfterTitle  string `json:"after_title"`
	// Significant says that chance alone would hardly do it.
	Significant bool     `json:"significant"`
	P           *float64 `json:"p"`
}
