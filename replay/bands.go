package replay

import "math"

// The bands in which a simulation of a trace's own scheduler counts as good, as
// parts of the observed value. docs/replay.md says how many traces are in them.
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

// OutOfBand names the metrics in which the simulation is out of its band: busy,
// makespan, waited, p50, p99.
func (r *Result) OutOfBand() []string { return outOfBand(r.Observed, r.Free.Simulated) }

func outOfBand(observed, simulated Run) []string {
	out, e := []string{}, compare(observed, simulated)
	far := func(name string, e *float64, band float64) {
		if e != nil && math.Abs(*e) > band {
			out = append(out, name)
		}
	}
	far("busy", e.Busy, bandBusy)
	far("makespan", e.Makespan, bandMakespan)
	far("waited", e.Waits.Total, bandWaited)
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
