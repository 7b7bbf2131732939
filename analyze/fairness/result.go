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

// Pressure is the share of the recorded time in which goroutines waited, after Linux's
// pressure stall information (Documentation/accounting/psi). Runnable and running are
// goroutines of the program; queued are all goroutines in run queues.
type Pressure struct {
	Some          float64 `json:"some"`           // at least one goroutine was runnable
	Full          float64 `json:"full"`           // at least one was runnable and none of the program ran
	UnclaimedIdle float64 `json:"unclaimed_idle"` // share of P-time that was idle while work was queued: the integral of min(idle Ps, queued goroutines)
	// Windows are the same shares in windows of 10 ms, 100 ms and 1 s, which show a bad
	// second of a calm trace; only windows that are whole and fully recorded count.
	Windows []PressureWindow `json:"windows"`
	Age     Age              `json:"starvation_age"` // time waited so far by the runnable goroutine that has waited longest
}

// PressureWindow is the pressure in the N whole windows of one length.
type PressureWindow struct {
	LengthNs int64 `json:"length_ns"` // length of the windows
	N        int64 `json:"n"`         // number of windows
	Some     Worst `json:"some"`      // shares of time as Pressure.Some, one for each window
	Full     Worst `json:"full"`      // shares of time as Pressure.Full, one for each window
}

// Worst is a distribution over windows of shares of their time, from 0 to 1. Quantiles are within 1/1,000.
type Worst struct {
	P50  float64 `json:"p50"`   // median
	P99  float64 `json:"p99"`   // 99th percentile
	Max  float64 `json:"max"`   // exact maximum
	AtNs int64   `json:"at_ns"` // beginning of the first window with Max, ns since the first event of the trace
}

// Age is the time waited so far by the runnable goroutine of the program that has waited
// longest, those that yielded left out. It rises while a goroutine starves, long before
// quantiles of finished waits do.
type Age struct {
	MaxNs int64   `json:"max_ns"` // largest age, ns
	AtNs  int64   `json:"at_ns"`  // time of the largest age, ns since the first event of the trace
	BinNs int64   `json:"bin_ns"` // width of a bin, ns
	Bins  []int64 `json:"bins"`   // largest in each bin, ns; at most 512
}

// Result is how evenly running time was shared. Within a class it is about the scheduler,
// between classes about the program.
type Result struct {
	Jain        float64  `json:"jain"`       // Jain's index of service received over ideal service; 1 is even
	Judged      int64    `json:"judged"`     // goroutines in that index
	MaxLagNs    int64    `json:"max_lag_ns"` // most running time owed to one goroutine
	P99LagNs    int64    `json:"p99_lag_ns"` // 99th percentile of the most owed to each goroutine
	Slowdown    Slowdown `json:"slowdown"`
	Bypass      Bypass   `json:"bypass"`
	LittleError float64  `json:"little_error"` // self-check: gap between mean queue length and rate × mean wait
	Classes     []Class  `json:"classes"`
}

// Bypass is how far starts kept the order in which goroutines of the program became
// runnable, those that yielded left out.
type Bypass struct {
	P50 int64 `json:"p50"` // median, over waits, of the goroutines that became runnable later but started earlier; within 0.1 %
	P99 int64 `json:"p99"` // 99th percentile of the same
	Max int64 `json:"max"` // maximum
	// Inversions is the share of starts, except from runnext, at which a goroutine that had
	// become runnable earlier still waited in any queue.
	Inversions float64 `json:"inversions"`
}

// Slowdown is (wait + run) / run of activations: from runnable to the end of the run
// interval. Activations that the trace does not show whole are left out. Mean and Max are
// exact, the quantiles within 0.1 % and 0.01.
type Slowdown struct {
	Mean      float64  `json:"mean"`       // 1 means no wait
	P50       float64  `json:"p50"`        // median
	P99       float64  `json:"p99"`        // 99th percentile
	Max       float64  `json:"max"`        // maximum
	ByService []Decile `json:"by_service"` // by running time, shortest first, in groups of about a tenth: shows short work that pays for long work
}

// Decile is the slowdown of the N activations that ran for at least FromNs and less than
// ToNs. Bounds are powers of two and quarters between, so that a group may hold more than a
// tenth.
type Decile struct {
	FromNs int64   `json:"from_ns"` // lower bound, inclusive
	ToNs   int64   `json:"to_ns"`   // upper bound, exclusive
	N      int64   `json:"n"`       // how many
	Mean   float64 `json:"mean"`    // mean slowdown
	Max    float64 `json:"max"`     // maximum
}

// Class is the fairness within one class of goroutines.
type Class struct {
	ID       int32   `json:"id"`         // handle of the class
	Name     string  `json:"name"`       // start function of the class
	Creator  string  `json:"creator"`    // function that executed the go statement
	N        int64   `json:"n"`          // goroutines that were runnable or ran
	Judged   int64   `json:"judged"`     // those in Jain and MinMax
	Jain     float64 `json:"jain"`       // Jain's index of service received / ideal service; 1 is fair
	Gini     float64 `json:"gini"`       // inequality of total waiting: 0 if all waited equally long, near 1 if one goroutine did nearly all of it
	MinMax   float64 `json:"min_max"`    // service received / ideal service of the least served, by that of the most served; 1 is fair
	MaxLagNs int64   `json:"max_lag_ns"` // most running time owed to one goroutine
}
