package compare

import (
	"github.com/gmpscope/gmpscope/analyze"
	"github.com/gmpscope/gmpscope/analyze/findings"
)

// Verdict is the answer of a comparison in a word: whether the traces after the change are better than
// those before it.
type Verdict string

// The verdicts of a comparison.
const (
	Better       Verdict = "better"                // what got better outweighs what got worse
	Worse        Verdict = "worse"                 // what got worse outweighs what got better
	Mixed        Verdict = "mixed"                 // some metrics got better, some worse, and neither outweighs the other
	NoChange     Verdict = "no significant change" // nothing that chance and the machine do not explain
	Inconclusive Verdict = "inconclusive"          // too few traces to tell, another machine or load, or nothing to compare
)

// Result is what changed between the traces from before a change and those from after it.
// Times are ns.
type Result struct {
	Verdict      Verdict               `json:"verdict"`
	Headline     string                `json:"headline"` // what changed, in about 90 characters
	Lines        []string              `json:"lines"`    // further reasons for the verdict and against it, and by which cause
	Machine      Conditions            `json:"machine"`
	Basis        Basis                 `json:"basis"` // what waiting times are relative to
	Before       Side                  `json:"before"`
	After        Side                  `json:"after"`
	Caveats      []string              `json:"caveats"`      // differences besides the change, and what cannot be concluded, in sentences
	Metrics      []Metric              `json:"metrics"`      // of whole traces, the primary ones first
	Waiting      Waiting               `json:"waiting"`      // of the program's goroutines, those that yielded included, on the basis of the comparison
	Distribution []Bar                 `json:"distribution"` // waiting by the length of the waits
	Causes       []CauseChange         `json:"causes"`       // in the order of the causes; they add up to Waiting exactly
	Classes      []ClassChange         `json:"classes"`      // largest change first; they add up to Waiting exactly
	Work         []KindChange          `json:"work"`         // kinds that decide first, then by their share of the time; at most 100
	Renames      []Rename              `json:"renames"`
	Findings     []FindingChange       `json:"findings"`             // by detector
	Suppressed   []findings.Suppressed `json:"suppressed,omitempty"` // findings excluded from the comparison: of each detector and class the costliest
}

// Basis is what times are relative to.
type Basis string

// The bases of waiting times.
const (
	PerTrace   Basis = "per trace"             // both sides did the same work
	PerSecond  Basis = "per second"            // they had the same load
	PerRunning Basis = "per second of running" // neither
)

// Side is what one side's traces have in common.
type Side struct {
	Traces     []string               `json:"traces"`         // names of the traces
	N          int                    `json:"n"`              // number of traces
	DurationNs int64                  `json:"duration_ns"`    // median, without gaps
	GOMAXPROCS []int                  `json:"gomaxprocs"`     // all values
	CPUs       float64                `json:"cpus,omitempty"` // CPUs of the process, from --cpus
	GoVersions []string               `json:"go_versions"`    // all values
	Rules      []analyze.RulesApplied `json:"rules"`          // all by which they were analysed
	RunningNs  int64                  `json:"running_ns"`     // of goroutines of the program, median
	Starts     int64                  `json:"starts"`         // median
}

// Direction is the direction in which a metric improves.
type Direction string

// How a metric improves.
const (
	Lower   Direction = "lower"   // less is better
	Higher  Direction = "higher"  // more is better
	Neither Direction = "neither" // it describes, but does not judge
)

// Estimate is a metric on one side, with its 95 % confidence interval.
type Estimate struct {
	Value float64  `json:"value"` // geometric mean over the traces, for shares of the odds; median if not tested
	Lo    *float64 `json:"lo"`    // lower end; null if not tested
	Hi    *float64 `json:"hi"`    // upper end; null if not tested
}

// Metric is one number of each trace, compared.
type Metric struct {
	Name        string      `json:"name"`  // path in the document of analyze, if it is there
	Title       string      `json:"title"` // name for people
	Unit        string      `json:"unit"`  // "ns", "share", "1/s" or empty
	Better      Direction   `json:"better"`
	Primary     bool        `json:"primary"` // it is tested, and counts for the verdict
	Before      Estimate    `json:"before"`
	After       Estimate    `json:"after"`
	Delta       float64     `json:"delta"`       // after − before
	Ratio       *float64    `json:"ratio"`       // after / before; null where before is 0
	RatioCI     *[2]float64 `json:"ratio_ci"`    // 95 % confidence interval of Ratio; null if not tested, and for shares
	P           *float64    `json:"p"`           // probability of at least this difference without a change of the program; null if not tested
	PAdjusted   *float64    `json:"p_adjusted"`  // corrected for the number of primary metrics, and for the machine
	Detectable  *float64    `json:"detectable"`  // smallest factor that is significant in four of five comparisons; of the odds for shares
	Significant bool        `json:"significant"` // unlikely to be due to chance and the machine

	machine bool // without what the machine may account for it would be significant
}

// Waiting is all waiting of the program, on the basis of the comparison.
type Waiting struct {
	BeforeNs int64 `json:"before_ns"` // mean over the traces
	AfterNs  int64 `json:"after_ns"`  // mean over the traces
	DeltaNs  int64 `json:"delta_ns"`  // after − before
}

// Bar is the share of all waiting in waits of [FromNs, ToNs), summed over a side's traces.
type Bar struct {
	FromNs int64   `json:"from_ns"` // lower bound, inclusive
	ToNs   int64   `json:"to_ns"`   // upper bound, exclusive
	Before float64 `json:"before"`  // before the change
	After  float64 `json:"after"`   // after the change
}

// CauseChange is the change of the waiting by one cause.
type CauseChange struct {
	Cause    string `json:"cause"`     // one of the causes of waiting
	BeforeNs int64  `json:"before_ns"` // mean over the traces
	AfterNs  int64  `json:"after_ns"`  // mean over the traces
	DeltaNs  int64  `json:"delta_ns"`  // after − before
}

// ClassChange is the change of the waiting of one class, matched by start function and
// creator.
type ClassChange struct {
	Name             string `json:"name"`              // start function of the class
	Short            string `json:"short"`             // with as much of the path of its package as is unambiguous
	Creator          string `json:"creator"`           // function that executed the go statement
	In               string `json:"in"`                // "both", "before" or "after"
	BeforeNs         int64  `json:"before_ns"`         // mean over the traces
	AfterNs          int64  `json:"after_ns"`          // mean over the traces
	DeltaNs          int64  `json:"delta_ns"`          // after − before
	BeforeGoroutines int64  `json:"before_goroutines"` // median over the traces
	AfterGoroutines  int64  `json:"after_goroutines"`  // median over the traces
	BeforeRunningNs  int64  `json:"before_running_ns"` // median over the traces
	AfterRunningNs   int64  `json:"after_running_ns"`  // median over the traces
	BeforeP99Ns      int64  `json:"before_p99_ns"`     // 99th percentile of waits, largest over the traces
	AfterP99Ns       int64  `json:"after_p99_ns"`      // 99th percentile of waits, largest over the traces
}

// Rename is a class that disappeared and a similar one that appeared.
type Rename struct {
	Before string `json:"before"` // start function before the change
	After  string `json:"after"`  // start function after it
	Why    string `json:"why"`    // what they have in common
}

// Change specifies what became of a finding: see [New], [Gone], [Grown], [Shrunk] and [Same].
type Change string

// The changes of a finding from the first side to the second.
const (
	New    Change = "new"    // in no trace before the change, and in at least half of those after it
	Gone   Change = "gone"   // in at least half of the traces before the change, and in none after it
	Grown  Change = "worse"  // else: it costs at least twice as much as before
	Shrunk Change = "better" // else: it costs at most half as much as before
	Same   Change = "same"   // neither
)

// FindingChange is a finding on both sides, matched by its ID.
type FindingChange struct {
	ID           string        `json:"id"` // ID of the detector, for gmpscope explain
	Change       Change        `json:"change"`
	BeforeN      int           `json:"before_n"`       // traces that have it
	AfterN       int           `json:"after_n"`        // traces that have it
	BeforeCostNs int64         `json:"before_cost_ns"` // median over all traces of the side, 0 for those without it
	AfterCostNs  int64         `json:"after_cost_ns"`  // median over all traces of the side, 0 for those without it
	Severity     string        `json:"severity"`       // worst on either side
	Title        findings.Text `json:"title"`          // of the costliest, from after if it is there
	BeforeTitle  findings.Text `json:"before_title"`   // title of the costliest before the change; empty if there is none
	AfterTitle   findings.Text `json:"after_title"`    // title of the costliest after the change; empty if there is none
}
