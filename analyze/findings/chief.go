package findings

import "slices"

// Chief returns the finding of at least a severity that a verdict is about, nil if there
// is none. The list is ranked. What it weighs, and why, is in docs/judgement.md:
//
//   - it begins with the first that is about the program, and goes on from a finding to
//     the one that explains it;
//   - the machine comes before that if it costs half as much, for what else is measured
//     then contains time in which nothing ran; in any case if the kernel's records show it;
//   - but not before what was counted and not measured ([Detector.Counted]): the owner of
//     the program can mend that.
func Chief(list []Finding, least Severity) *Finding {
	var serious []*Finding
	for i := range list {
		if x := &list[i]; x.Kind != KindTrace && x.Severity.AtLeast(least) {
			serious = append(serious, x)
		}
	}
	if len(serious) == 0 {
		return nil
	}
	worst := serious[0]
	machine := first(serious, func(x *Finding) bool { return x.Kind == KindMachine && (x.Proven || 2*x.CostNs >= worst.CostNs) })
	if machine == nil {
		return explainer(serious, worst)
	}
	counted := first(serious, func(x *Finding) bool {
		return x.Counted && (x.Severity.AtLeast(machine.Severity) || 2*x.CostNs >= machine.CostNs)
	})
	if counted != nil {
		return explainer(serious, counted)
	}
	return machine
}

// explainer follows a finding to the one that explains it, as long as there is one.
func explainer(serious []*Finding, x *Finding) *Finding {
	for range serious {
		by := first(serious, func(y *Finding) bool { return slices.Contains(x.SymptomOf, y.ID) && 2*y.CostNs >= x.CostNs })
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
