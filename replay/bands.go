package replay

import (
	"fmt"
	"math"

	"github.com/gmpscope/gmpscope/internal/quantity"
)

// The bands in which a simulation of a trace's own scheduler counts as good, as
// parts of the observed value. lab/docs/replay.md says how many traces are in them.
const (
	bandBusy     = 0.01
	bandMakespan = 0.03
	bandWaited   = 0.15
	bandQuantile = 1.5 // factor
	// bandFloor is the wait, in ns, below which a quantile is not compared by its
	// factor: the trace's clock ticks every 64 ns, and the model has no such short
	// waits.
	bandFloor = 1000
)

// Beyond these a simulation is not trusted at all: parts of the observed value.
const (
	farMakespan = 0.1
	farWaited   = 0.3
)

// far reports how far the model is off for the work of the trace as it was, if that is too
// far for its numbers to say anything; else it is empty. Where the makespan is right, what
// is said about makespans may be.
func far(e Error) string {
	if why := farOff(e); why != "" {
		return why
	}
	if beyond(e.Waits.Total, farWaited) {
		return fmt.Sprintf("the model is off by %s in the time waited for the work as it was: what it says of waiting is untrusted", quantity.Change(1+*e.Waits.Total))
	}
	return ""
}

// farOff is far for the makespan alone.
func farOff(e Error) string {
	if !beyond(e.Makespan, farMakespan) {
		return ""
	}
	return fmt.Sprintf("the model is off by %s in the makespan for the work as it was: its numbers are untrusted", quantity.Change(1+*e.Makespan))
}

// beyond reports whether an error is known, and larger than that.
func beyond(e *float64, limit float64) bool { return e != nil && math.Abs(*e) > limit }

// OutOfBand returns the names of the metrics whose error is outside its band: busy,
// makespan, waited, p50, p99.
func (r *Result) OutOfBand() []string { return outOfBand(r.Observed, r.Simulated.Simulated) }

func outOfBand(observed, simulated Run) []string {
	out, e := []string{}, compare(observed, simulated)
	check := func(name string, e *float64, band float64) {
		if beyond(e, band) {
			out = append(out, name)
		}
	}
	check("busy", e.Busy, bandBusy)
	check("makespan", e.Makespan, bandMakespan)
	check("waited", e.Waits.Total, bandWaited)
	factor := func(name string, observed, simulated int64) {
		a, b := float64(max(observed, bandFloor)), float64(max(simulated, bandFloor))
		if max(a/b, b/a) > bandQuantile {
			out = append(out, name)
		}
	}
	factor("p50", observed.Waits.P50, simulated.Waits.P50)
	factor("p99", observed.Waits.P99, simulated.Waits.P99)
	return out
}
