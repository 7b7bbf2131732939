package analyze

import (
	"github.com/gmpscope/gmpscope/analyze/fairness"
	"github.com/gmpscope/gmpscope/analyze/findings"
	"github.com/gmpscope/gmpscope/analyze/procs"
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
	Timeline       timeline.Result
	Findings       []findings.Finding // by severity, then cost
	Detectors      []Detector         // all that ran, in their order
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
	Bytes       int64    `json:"bytes"` // uncompressed
	LostBytes   int64    `json:"lost_bytes"`
	Incomplete  bool     `json:"incomplete"` // the trace stops short or has damage: what is missing may not even be in the file
	Compression string   `json:"compression,omitempty"`
	Reduced     bool     `json:"reduced"`        // v1 trace: no threads, no retakes; queues are not rebuilt
	TracerNs    int64    `json:"tracer_ns"`      // P-time of the tracer's own goroutines
	Wall        string   `json:"wall,omitempty"` // wall-clock time of the start, RFC 3339, where the trace has it
	Warnings    []string `json:"warnings"`
}

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

// Detector is a detector that ran.
type Detector struct {
	ID    string `json:"id"`
	Title string `json:"title"`
	Found int    `json:"found"`
}
