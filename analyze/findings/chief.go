package findings

import "slices"

// faint is how many times as much a cause in the program must cost to lead before the machine,
// where that is more severe.
const faint = 5

// Chief returns the finding of at least a severity that a verdict is about, nil if there
// is none. The list is ranked. What it weighs, and why, is in docs/judgement.md:
//
//   - it begins with the first that is about the program, and goes on from a finding to
//     the one that explains it, even a less severe one if that is the
//     machine, or the first does not say by itself what call is to blame;
//   - the machine comes before that if it costs half as much, for what else is measured
//     then contains time in which nothing ran; in any case if the kernel's records show it,
//     or if nothing else explains that goroutines waited; where it is the most severe, it
//     does not if a cause in the program costs five times as much;
//   - a symptom that nothing explains leaves the lead to a cause that costs as much;
//   - but not before what was counted and not measured ([Detector.Counted]): the owner of
//     the program can mend that.
func Chief(list []Finding, least Severity) *Finding {
	var all, serious []*Finding
	for i := range list {
		x := &list[i]
		if x.Kind == KindTrace {
			continue
		}
		all = append(all, x)
		if x.Severity.AtLeast(least) {
			serious = append(serious, x)
		}
	}
	if len(serious) == 0 {
		return nil
	}
	worst := serious[0]
	if worst.Kind == KindMachine {
		cause := first(serious, func(x *Finding) bool { return x.Kind == KindCause && x.CostNs >= faint*worst.CostNs })
		if cause != nil {
			worst = cause
		}
	}
	machine := first(serious, func(x *Finding) bool { return x.Kind == KindMachine && (x.Proven || 2*x.CostNs >= worst.CostNs) })
	if machine == nil {
		x := explainer(all, worst, least)
		if x.Kind != KindSymptom {
			return x
		}
		if m := first(serious, func(x *Finding) bool { return x.Kind == KindMachine }); m != nil {
			return m // which explains waiting better than that there was waiting
		}
		if c := first(serious, func(y *Finding) bool { return y.Kind == KindCause && y.CostNs >= x.CostNs }); c != nil {
			return c
		}
		return x
	}
	counted := first(serious, func(x *Finding) bool {
		return x.Counted && (x.Severity.AtLeast(machine.Severity) || 2*x.CostNs >= machine.CostNs)
	})
	if counted != nil {
		return explainer(all, counted, least)
	}
	return machine
}

// explainer follows a finding to the one that explains it, as long as there is one; of
// several to the first, unless another costs more than twice as much. One of less than
// that severity does so only if it is about the machine, or x does not say by itself what
// call is to blame.
func explainer(all []*Finding, x *Finding, least Severity) *Finding {
	for range all {
		blames := slices.ContainsFunc(x.Actors, func(a Actor) bool { return a.Role == Cause && len(a.Stack) > 0 })
		var by *Finding
		for _, y := range all {
			explains := slices.Contains(x.SymptomOf, y.ID) && 2*y.CostNs >= x.CostNs && (!blames || y.Kind == KindMachine || y.Severity.AtLeast(least))
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

func first(list []*Finding, fits func(*Finding) bool) *Finding {
	if i := slices.IndexFunc(list, fits); i >= 0 {
		return list[i]
	}
	return nil
}
