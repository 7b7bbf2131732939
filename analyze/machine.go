package analyze

import (
	"github.com/gmpscope/gmpscope/analyze/events"
	"github.com/gmpscope/gmpscope/analyze/kernel"
)

// maxHeld is how many events wait until the clocks are compared.
const maxHeld = 1 << 17

// machine follows the records of the kernel's scheduler, if there are any.
type machine struct {
	*kernel.Accumulator
	held    []events.Event // the first ones of the trace
	started bool
}

// newMachine returns the machine that Options.Kernel tells of, nil if there is none.
func (a *analysis) newMachine() *machine {
	if a.Kernel == nil || a.DecisionsOnly {
		return nil
	}
	o := kernel.Options{From: a.Focus.From, To: a.Focus.To}
	if a.Focus.Selects() {
		o.Only = a.selection().Has
	}
	return &machine{Accumulator: kernel.NewAccumulator(a.Kernel, o)}
}

// take hands events to the reconstruction, the first ones once the clocks of the trace and
// of the kernel's records are compared.
func (a *analysis) take(evs []events.Event) error {
	m := a.machine
	if m == nil || m.started {
		a.rec.Add(evs)
		return nil
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
	a.rec.Add(m.held)
	m.held = nil
	return nil
}

// follow has the machine take a block.
func (a *analysis) follow(b *block) {
	if a.failed.err.Load() != nil {
		return
	}
	if err := a.machine.Add(&b.Block); err != nil {
		a.failed.fail(err)
	}
	b.inside.OffCPU = b.Block.OffCPU
}

// finishMachine adds to the result of a trace that ends at end what the kernel's records tell.
func (a *analysis) finishMachine(res *Result, end int64) error {
	if a.machine == nil {
		return nil
	}
	recorded := res.Trace.RecordedNs()
	if a.cut != nil {
		recorded = a.windowEnd(end) - a.Focus.From
	}
	var err error
	res.Kernel, err = a.machine.Finish(kernel.Facts{
		EndNs: end, RecordedNs: recorded, Open: a.ledger.Open(),
		Breakdown: &res.Breakdown, Procs: &res.Procs, Process: a.Anonymize.process,
	})
	if err == nil {
		res.Kernel.Cgroup = a.CgroupStat
	}
	return err
}
