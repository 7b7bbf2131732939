// Package fairness answers: did everyone get a fair share, and how much of the
// time did work wait? It is one of the accumulators of step 5 of package
// analyze.
//
// [Accumulator] compares what each goroutine of the program got with what ideal
// sharing would have given it. The goroutines of the runtime and of the tracer
// are not judged; the Ps that mark workers hold are not there to be shared.
//
// What a result holds is stable, the rest serves this module: see package gmpscope.
package fairness

// Pressure reports for how much of the time runnable goroutines waited, in the
// manner of Linux's pressure stall information (Documentation/accounting/psi).
// All are shares of the trace's duration, what is not recorded left out. Runnable and running are goroutines
// of the program; queued are all goroutines in run queues.
type Pressure struct {
	Some float64 `json:"some"` // share of the time in which at least one goroutine was runnable
	Full float64 `json:"full"` // share in which at least one was runnable and no goroutine of the program ran
	// UnclaimedIdle is the share of all P-time that was idle while work was queued:
	// the integral of min(idle Ps, queued goroutines).
	UnclaimedIdle float64 `json:"unclaimed_idle"`
	// Windows has the same shares in windows of 10 ms, 100 ms and 1 s, one by one: a
	// trace that is calm on the whole may hold a bad second. Lengths of which not one
	// window is whole are left out, and so are windows of which not all is recorded.
	Windows []PressureWindow `json:"windows"`
	Age     Age              `json:"starvation_age"` // for how long the goroutine had waited that waited longest, over time
}

// PressureWindow is the pressure in the N whole windows of one length.
type PressureWindow struct {
	LengthNs int64 `json:"length_ns"` // length of the windows
	N        int64 `json:"n"`         // how many are whole
	Some     Worst `json:"some"`      // distribution of the share over them
	Full     Worst `json:"full"`      // distribution of the share over them
}

// Worst is a distribution of shares over windows. Max is exact; it is that of
// the window that begins at AtNs, the first of those with it. Quantiles are
// within 1/1,000.
type Worst struct {
	P50  float64 `json:"p50"`   // in half of the windows it is at most this
	P99  float64 `json:"p99"`   // in 99 % of the windows it is at most this
	Max  float64 `json:"max"`   // the largest
	AtNs int64   `json:"at_ns"` // when the first window with that begins
}

// Age is for how long the goroutine had waited that waited longest, over time:
// of those that were runnable, that of the program, and had not yielded. It
// rises where a goroutine starves, long before quantiles of finished waits do.
type Age struct {
	MaxNs int64   `json:"max_ns"` // the most
	AtNs  int64   `json:"at_ns"`  // when it was reached
	BinNs int64   `json:"bin_ns"` // width of a bin
	Bins  []int64 `json:"bins"`   // the most in each bin, ns; at most 512
}

// Result judges how running time was shared. Within a class it is a statement
// about the scheduler, between classes one about the program.
type Result struct {
	Jain        float64  `json:"jain"`       // index over all user goroutines of service received / ideal service; 1 is fair
	Judged      int64    `json:"judged"`     // goroutines in that index: those with at least Options.MinIdeal of ideal service
	MaxLagNs    int64    `json:"max_lag_ns"` // most service owed to one goroutine at any time, against ideal sharing
	P99LagNs    int64    `json:"p99_lag_ns"` // 99 of 100 goroutines were never owed more; within 0.1 %
	Slowdown    Slowdown `json:"slowdown"`
	Bypass      Bypass   `json:"bypass"`
	LittleError float64  `json:"little_error"` // relative gap between mean queue length and rate x mean wait: a self-check
	Classes     []Class  `json:"classes"`
}

// Bypass reports how far starts kept the order in which goroutines of the program
// became runnable, those that yielded left out.
type Bypass struct {
	// P50 is how many goroutines became runnable after one that waited, and were
	// started before it: for half of all waits, at most this. Within 0.1 %.
	P50 int64 `json:"p50"`
	P99 int64 `json:"p99"` // for 99 % of all waits, at most this; within 0.1 %
	Max int64 `json:"max"` // the largest number
	// Inversions is the share of starts, those from runnext left out, at which a
	// goroutine that had become runnable earlier still waited, in any queue.
	Inversions float64 `json:"inversions"`
}

// Slowdown is (wait + run) / run of single activations: from runnable to the
// end of the run interval. Activations that the trace does not show from
// beginning to end are left out. Mean and Max are exact, the quantiles within
// 0.1 % and 0.01.
type Slowdown struct {
	Mean float64 `json:"mean"` // 1 means no wait at all
	P50  float64 `json:"p50"`  // half of the activations have at most this
	P99  float64 `json:"p99"`  // 99 % of the activations have at most this
	Max  float64 `json:"max"`  // the largest
	// ByService is the slowdown of activations by how long they ran, shortest first,
	// in groups of about a tenth of them: short work that pays for long work shows
	// here.
	ByService []Decile `json:"by_service"`
}

// Decile is the slowdown of the N activations that ran for at least FromNs and
// less than ToNs. Bounds are powers of two and quarters between, so that a group
// may hold more than a tenth.
type Decile struct {
	FromNs int64   `json:"from_ns"` // they ran at least this long
	ToNs   int64   `json:"to_ns"`   // and less than this
	N      int64   `json:"n"`       // how many
	Mean   float64 `json:"mean"`    // their slowdown
	Max    float64 `json:"max"`     // the largest
}

// Class is fairness within the goroutines of one class.
type Class struct {
	ID       int32   `json:"id"`         // handle of the class
	Name     string  `json:"name"`       // start function of the class
	Creator  string  `json:"creator"`    // function that executed the go statement
	N        int64   `json:"n"`          // goroutines that were runnable or ran
	Judged   int64   `json:"judged"`     // those in Jain and MinMax
	Jain     float64 `json:"jain"`       // Jain's index within it
	Gini     float64 `json:"gini"`       // inequality of total waiting
	MinMax   float64 `json:"min_max"`    // least served / most served, relative to ideal service
	MaxLagNs int64   `json:"max_lag_ns"` // most running time owed to one of them
}
