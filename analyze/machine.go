package analyze

import (
	"fmt"

	"github.com/gmpscope/gmpscope/analyze/events"
	"github.com/gmpscope/gmpscope/analyze/kernel"
	"github.com/gmpscope/gmpscope/analyze/waits"
	"github.com/gmpscope/gmpscope/internal/quantity"
)

// maxHeld is how many events wait until the clocks are compared.
const maxHeld = 1 << 17

// machine follows the records of the kernel's scheduler, if there are any.
type machine struct {
	*kernel.Accumulator
	held    []events.Event // the first ones of the trace
	started bool
}

// feed hands events to the reconstruction, the first ones once the clocks of the trace and
// of the kernel's records are compared.
func (a *analysis) feed(evs []events.Event) error {
	m := a.machine
	if m == nil || m.started {
		return a.reconstruct(evs)
	}
	start := a.stream.Stats().Start
	for i := range evs {
		if e := &evs[i]; e.Kind == events.Go && e.From != e.To && e.From != events.Undetermined && e.Res == e.G {
			m.Sample(start+e.Time, e.M)
		}
	}
	m.held = append(m.held, evs...)
	if len(m.held) < maxHeld {
		return nil
	}
	return a.startMachine()
}

// startMachine compares the clocks, and goes on with the events that waited for it.
func (a *analysis) startMachine() error {
	m := a.machine
	if m == nil || m.started {
		return nil
	}
	m.started = true
	if len(m.held) == 0 {
		return nil // an empty trace has an error of its own
	}
	if err := m.Start(a.stream.Stats().Start); err != nil {
		return err
	}
	held := m.held
	m.held = nil
	return a.reconstruct(held)
}

func (a *analysis) follow(b *block) {
	if a.failed.err.Load() != nil {
		return
	}
	if err := a.machine.Add(&b.Block, b.waited); err != nil {
		a.failed.fail(err)
	}
	b.inside.OffCPU, b.inside.CPUs = b.Block.OffCPU, b.Block.CPUs
}

// finishMachine adds to the result of a trace that ends at end what the kernel's records show.
func (a *analysis) finishMachine(res *Result, end int64) error {
	if a.machine == nil {
		return nil
	}
	recorded := res.Trace.RecordedNs()
	if a.clipper != nil {
		recorded = a.windowEnd(end) - a.Focus.From
	}
	var err error
	res.Kernel, err = a.machine.Finish(kernel.Facts{
		EndNs: end, RecordedNs: recorded, Live: a.ledger.Live(),
		Breakdown: &res.Breakdown, Procs: &res.Procs, Process: a.Anonymize.process,
	})
	if err == nil {
		if a.timeline != nil {
			a.timeline.ObserveCPUs(a.machine.CPUs())
		}
		res.Kernel.Cgroup = a.CgroupStat
		if m := res.Trace.Sidecar; a.CgroupStat == nil && m != nil && m.Quota != nil {
			c := m.Quota.Counted()
			res.Kernel.Cgroup = &kernel.CgroupStat{Periods: c.Periods, Throttled: c.Throttled, ThrottledNs: c.ThrottledNs}
		}
		res.Trace.Warnings = append(res.Trace.Warnings, doubts(res.Kernel)...)
	}
	return err
}

// Bounds from which on the kernel's records are doubted.
const (
	fewInside   = 0.9 // share of the events
	muchUnknown = 0.1 // share of the running time: from there on findings do without them
)

// doubts reports what speaks against the kernel's records.
func doubts(k *kernel.Machine) (out []string) {
	if k.InsideShare < fewInside {
		out = append(out, fmt.Sprintf("by the kernel's records threads were on a CPU at %s of their events only: records are missing, or their clock drifts", quantity.Percent(k.InsideShare)))
	}
	if float64(k.UnknownNs) > muchUnknown*float64(k.RunningNs) {
		out = append(out, fmt.Sprintf("the kernel's records tell nothing of %s of the running time: findings do without them", quantity.Part(k.UnknownNs, k.RunningNs)))
	}
	return out
}

// hostNs is for how long goroutines "ran" on js/wasm while the host had control, and ran them only
// when it had an event (pause in runtime/lock_js.go).
func hostNs(classes []waits.Class) (ns int64) {
	for i := range classes {
		if name := classes[i].Name; name == "runtime.handleEvent" || name == "runtime.handleAsyncEvent" {
			ns += classes[i].RunningNs
		}
	}
	return ns
}
