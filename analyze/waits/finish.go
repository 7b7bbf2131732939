package waits

import (
	"cmp"
	"slices"

	"github.com/gmpscope/gmpscope/analyze/ledger"
)

// Finish ends the account at time end, in ns, and returns the result. open is the result of
// [ledger.Ledger.Live]. names returns start function and creator of the class with a handle; if it is
// nil, classes have no names. The Accumulator must not be used afterwards.
func (a *Accumulator) Finish(end int64, open []ledger.Live, names func(class int32) (name, creator string)) Result {
	a.advance(max(end, a.now))
	for _, o := range open {
		g := a.gors.At(o.Slot)
		if g.slot == 0 {
			continue
		}
		if o.Activity == ledger.Running {
			a.ran(g, o.Since)
		}
		if g.wait != 0 {
			w := a.waits.At(g.wait)
			t, c := &a.totals[w.kind], &a.classes[g.class]
			ns := a.clip(g, w.ready, a.now)
			if a.begins(g, w.ready) {
				t.open++
				c.open++
			}
			t.openNs += ns
			c.openNs += ns
		}
	}
	a.stopper = nil
	for _, p := range a.procs {
		if p.state == pRun {
			a.enter(p, pSched, nil)
		}
		a.endHold(p)
	}
	a.setMode(modeBusy) // charges what the stopped world held
	a.foldPool()
	if a.focus != nil {
		a.restore()
	}

	name := func(ci int32) (id int32, fn, creator string) {
		id = a.classes[ci].id
		switch {
		case ci == classOthers:
			fn = "(other classes)"
		case names != nil:
			fn, creator = names(id)
		}
		return id, fn, creator
	}
	all := tally{fine: newFine(), bars: &bars{}}
	for k := range a.totals {
		for ci := range a.classes {
			a.totals[k].score.merge(&a.classes[ci].waits[k])
		}
		all.merge(&a.totals[k])
	}
	until := a.now
	if a.opt.To > 0 {
		until = min(until, a.opt.To)
	}
	r := Result{
		All:    all.summary(),
		User:   a.totals[KindUser].summary(),
		Self:   a.totals[KindSelf].summary(),
		System: a.totals[KindSystem].summary(),
		Worst:  a.waitDetails(a.worst.all, name),

		OverTime: a.overTime.result(until - a.opt.From),
	}
	r.OverTime.FromNs = a.opt.From
	r.Classes = a.classResults(name)
	return r
}

func (a *Accumulator) classResults(name func(ci int32) (int32, string, string)) []Class {
	antagonists := make([][]Antagonist, len(a.classes))
	held := make([][]PHold, len(a.classes))
	for i, key := range a.cellKeys {
		if ns := a.cells[i].ns; ns > 0 {
			w := key >> 32
			if by := culprit(uint32(key)); by.kind() != culpritRun {
				held[w] = append(held[w], a.held(by, ns, a.cells[i].stack, name))
				continue
			}
			id, n, creator := name(int32(uint32(key)))
			antagonists[w] = append(antagonists[w], Antagonist{Class: id, Name: n, Creator: creator, Ns: ns})
		}
	}
	out := []Class{}
	for ci := range a.classes {
		c := &a.classes[ci]
		waits := tally{long: c.long, open: c.open, openNs: c.openNs, cutNs: c.cutNs, coarse: c.coarse}
		for k := range c.waits {
			waits.score.merge(&c.waits[k])
		}
		if c.goroutines == 0 && c.starts == 0 && c.running == 0 && waits.count == 0 && (antagonists[ci] == nil || a.opt.Only != nil) {
			continue
		}
		k := Class{
			System: c.system, Goroutines: c.goroutines, Starts: c.starts, RunningNs: c.running,
			Waits: waits.summary(), Causes: causeTimes(&waits.causes), Antagonists: append([]Antagonist{}, antagonists[ci]...), Held: append([]PHold{}, held[ci]...),
			Series: c.series.result(a.opt.From),
		}
		if c.waits[KindSelf].count > 0 {
			s := &c.waits[KindUser]
			k.Unasked = &Summary{Count: s.count, TotalNs: s.total, MaxNs: s.max, Causes: causeTimes(&s.causes)}
		}
		k.ID, k.Name, k.Creator = name(int32(ci))
		k.WokenBy, k.BlockedBefore = c.wakings.results(name)
		slices.SortFunc(k.Antagonists, func(x, y Antagonist) int {
			return cmp.Or(cmp.Compare(y.Ns, x.Ns), cmp.Compare(x.Class, y.Class))
		})
		slices.SortStableFunc(k.Held, func(x, y PHold) int {
			return cmp.Or(cmp.Compare(y.Ns, x.Ns), cmp.Compare(x.Cause, y.Cause), cmp.Compare(x.Class, y.Class), cmp.Compare(x.P, y.P))
		})
		k.Held = k.Held[:min(len(k.Held), maxHeldOfClass)]
		if c.worst != none {
			k.Worst = a.waitDetails(a.worst.classes[c.worst].details, name)
		}
		out = append(out, k)
	}
	slices.SortFunc(out, func(x, y Class) int {
		return cmp.Or(cmp.Compare(y.Waits.TotalNs, x.Waits.TotalNs), cmp.Compare(x.ID, y.ID))
	})
	return out
}
