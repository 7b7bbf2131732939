package reconstruct

import (
	"github.com/gmpscope/gmpscope/analyze/events"
	"github.com/gmpscope/gmpscope/reference"
)

// feed makes the events of one thread and P.
type feed struct {
	evs []events.Event
	now int64
}

func (f *feed) add(e events.Event) {
	f.now += 1_000
	e.Time, e.Kind = f.now, events.Go
	f.evs = append(f.evs, e)
}

func (f *feed) start(g int64) {
	f.add(events.Event{G: events.None, Res: g, From: events.Runnable, To: events.Running})
}

func (f *feed) stop(g int64, to events.State, why events.Handle) {
	f.add(events.Event{G: g, Res: g, From: events.Running, To: to, Reason: why})
}

// begin has goroutine g running. It is too high a number for a young process.
func (f *feed) begin(g int64) {
	f.evs = append(f.evs, events.Event{Kind: events.Procs, Res: 1, G: events.None},
		events.Event{Kind: events.Proc, G: events.None, From: events.Undetermined, To: events.Running})
	f.add(events.Event{G: g, Res: g, From: events.Undetermined, To: events.Running})
}

// each is an Emit that calls f with every decision.
func each(f func(d *reference.Decision)) func([]reference.Decision) []reference.Decision {
	return func(ds []reference.Decision) []reference.Decision {
		for i := range ds {
			f(&ds[i])
		}
		return ds[:0]
	}
}

// starts reconstructs, and returns the starts but the one of begin.
func (f *feed) starts(prepare func(*Reconstructor)) []reference.Decision {
	var out []reference.Decision
	last := int64(0)
	r := New(events.NewTables(), Options{Rules: reference.RulesFor(26), Emit: each(func(d *reference.Decision) {
		if d.Time < last {
			panic("decisions out of order")
		}
		last = d.Time
		if d.Kind == reference.KindStart && d.Flags&reference.FlagFirst == 0 {
			out = append(out, *d)
		}
	})})
	if prepare != nil {
		prepare(r)
	}
	defer func(was bool) { checked = was }(checked)
	checked = true
	r.Add(f.evs)
	sum := r.Finish()
	n := int64(0)
	for _, m := range sum.BySource {
		n += m
	}
	if n != int64(len(out)) || sum.Explained+sum.Ambiguous+sum.Unexplained != n {
		panic("the summary does not count what was emitted")
	}
	return out
}
