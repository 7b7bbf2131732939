package findings

import (
	"cmp"
	"slices"
)

// faint is how many times as much a cause in the program must cost to lead before the machine,
// where that is more severe.
const faint = 5

// crowdTimes is how many times as much something that was counted costs as what it explains, be it a note.
const crowdTimes = 10

// someTimes is how many times as much a symptom may cost, at most, as a cause that leads in its place: one
// that was counted, or took P-time.
const someTimes = 10

// halfShare is the share of the time of units of work from which on a cause explains it.
const halfShare = 0.5

// Chief returns the finding that a verdict is about: the one that matters most and explains most of
// what goroutines suffered, of those at least as severe as least or behind them; nil if none is so
// severe. The list must be ranked. lab/docs/judgement.md has the rules.
func Chief(list []Finding, least Severity) *Finding {
	var all, serious []*Finding
	for i := range list {
		x := &list[i]
		if x.Kind == KindTrace {
			continue
		}
		all = append(all, x)
		if x.Severity.AtLeast(least) && !x.Guessed {
			serious = append(serious, x)
		}
	}
	if len(serious) == 0 {
		return nil
	}
	worst := serious[0]
	stands := first(all, func(x *Finding) bool { return x.Severity.AtLeast(least) && stands(x) || x.crowd() })
	if worst.Kind == KindMachine {
		cause := first(serious, func(x *Finding) bool { return x.Kind == KindCause && x.CostNs >= faint*worst.CostNs })
		if !worst.Sure() {
			cause = cmp.Or(stands, cause)
		}
		worst = cmp.Or(cause, worst)
	}
	if worst.Kind != KindMachine {
		worst = alike(serious, worst)
		if !worst.Counted && 25*worst.CostNs < worst.WholeNs { // so little that what was counted is surer
			worst = cmp.Or(first(serious, func(x *Finding) bool { return x.Counted && x.Severity == worst.Severity }), worst)
		}
	}
	machine := first(serious, func(x *Finding) bool {
		return x.Kind == KindMachine && (x.Sure() || stands == nil && 2*x.CostNs >= worst.CostNs)
	})
	if machine == nil {
		x := explainer(all, worst, least)
		if !x.Severity.AtLeast(least) && x.Kind != KindMachine { // true, but no trouble: see whether another is
			for _, y := range serious {
				if y = explainer(all, y, least); y.Kind == KindCause && y.Severity.AtLeast(least) {
					return y
				}
			}
		}
		if x.Kind != KindSymptom {
			return x
		}
		// The machine explains waiting better than that there was waiting.
		return cmp.Or(first(serious, func(x *Finding) bool { return x.Kind == KindMachine }), first(serious, func(y *Finding) bool {
			return y.Kind == KindCause && (y.CostNs >= x.CostNs || 4*y.CostNs >= x.CostNs && y.WorkShare >= max(halfShare, x.WorkShare) || (y.Counted || y.Remedy.NoGC || y.CostOf == OfPTime) && someTimes*y.CostNs >= x.CostNs)
		}), x)
	}
	counted := first(serious, func(x *Finding) bool {
		return x.Counted && (x.Severity.AtLeast(machine.Severity) || 2*x.CostNs >= machine.CostNs)
	})
	if counted != nil {
		return explainer(all, counted, least)
	}
	return machine
}

// stands reports whether a finding is a cause in the program that a lack of CPUs does not feign. A
// process that is stopped is blocked for longer, too.
func stands(x *Finding) bool {
	return x.Kind == KindCause && x.CostOf != OfBlocked && (x.Counted || x.Basis != Suspected && !slices.Contains(x.Doubts, Strained))
}

// crowd reports whether a finding was counted, and is behind half of all waiting: it is mild only because
// no goroutine waited for one of those that stood in line.
func (f *Finding) crowd() bool { return f.Counted && f.InLine && 2*f.CostNs >= f.WholeNs }

// alike returns, of the findings as severe as x that cost about as much, always the same one: their
// costs differ from one run of a program to the next.
func alike(list []*Finding, x *Finding) *Finding {
	out := x
	for _, y := range list {
		if y.Severity == x.Severity && y.Kind == x.Kind && 5*y.CostNs >= 4*x.CostNs && 5*x.CostNs >= 4*y.CostNs && before(y, out) {
			out = y
		}
	}
	return out
}

// before orders findings by what is the same in each run: what was counted first.
func before(x, y *Finding) bool {
	xc, xk := x.Subject()
	yc, yk := y.Subject()
	return cmp.Or(-cmp.Compare(b2i(x.Counted), b2i(y.Counted)), cmp.Compare(x.ID, y.ID), cmp.Compare(xc, yc), cmp.Compare(xk, yk)) < 0
}

// Lead returns the first finding of the list for which fits returns true, or, of those that are as
// severe and cost about as much, the one that [Chief] would prefer; nil if none fits.
func Lead(list []Finding, fits func(*Finding) bool) *Finding {
	var all []*Finding
	for i := range list {
		if fits(&list[i]) {
			all = append(all, &list[i])
		}
	}
	if len(all) == 0 {
		return nil
	}
	return alike(all, all[0])
}

// explainer follows a finding to the one that explains it, as long as there is one; of
// several to the first, unless another costs more than twice as much. One of less than
// that severity does so only if it is about the machine, if it outweighs x, or if x does not say by
// itself what call is to blame.
func explainer(all []*Finding, x *Finding, least Severity) *Finding {
	for range all {
		blames := slices.ContainsFunc(x.Actors, func(a Actor) bool { return a.Role == Cause && len(a.Stack) > 0 })
		var by *Finding
		for _, y := range all {
			explains := slices.Contains(x.SymptomOf, y.ID) && 2*y.CostNs >= x.CostNs && (!blames || y.Kind == KindMachine || y.Severity.AtLeast(least) || y.outweighs(x, all))
			if explains && (by == nil || y.CostNs > 2*by.CostNs) {
				by = y
			}
		}
		if by == nil {
			break
		}
		x = by
	}
	return x
}

// outweighs reports whether f was counted, and x was not, costs far less, and has no other explanation
// that costs half as much as f.
func (f *Finding) outweighs(x *Finding, all []*Finding) bool {
	return f.Counted && !x.Counted && crowdTimes*x.CostNs <= f.CostNs && !slices.ContainsFunc(all, func(y *Finding) bool {
		return y != f && slices.Contains(x.SymptomOf, y.ID) && 2*y.CostNs > f.CostNs
	})
}

func first(list []*Finding, fits func(*Finding) bool) *Finding {
	if i := slices.IndexFunc(list, fits); i >= 0 {
		return list[i]
	}
	return nil
}
