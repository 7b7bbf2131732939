package findings

import "slices"

// containing are the wholes that hold all of each whole's time, itself included.
var containing = map[CostBase][]CostBase{
	OfWaiting: {OfWaiting, OfIdle, OfPTime, OfBlocked},
	OfIdle:    {OfIdle, OfPTime},
	OfPTime:   {OfPTime},
	OfBlocked: {OfBlocked},
}

// book books the costs of findings, in order of rank, so that no time is booked
// twice: BookedNs is the part of CostNs that no other finding has booked.
//
// Findings that no other one explains book first: what is left of their whole, at
// most. Then the others book what those that explain them did not, which is the least that it
// can be: first causes, then symptoms.
// explains are [Detector.Explains] by ID, and whole is how much there is.
func book(list []Finding, explains map[string][]string, whole func(CostBase) int64) {
	left := map[CostBase]int64{}
	for of := range containing {
		left[of] = whole(of)
	}
	for i := range list {
		list[i].explain(list, explains)
	}
	for turn := range turns {
		for i := range list {
			if x := &list[i]; x.turn() == turn {
				x.book(list, explains, left)
			}
		}
	}
}

// turns are those in which findings are booked.
const turns = 3

func (x *Finding) turn() int {
	switch {
	case x.Kind == KindSymptom:
		return 2
	case len(x.SymptomOf) > 0:
		return 1
	}
	return 0
}

// book books x, of what is left of each whole.
func (x *Finding) book(list []Finding, explains map[string][]string, left map[CostBase]int64) {
	x.BookedNs = max(0, x.CostNs)
	if x.turn() > 0 {
		for i := range list {
			if by := &list[i]; slices.Contains(explains[by.ID], x.ID) {
				x.BookedNs = max(0, x.BookedNs-by.BookedNs)
			}
		}
	}
	for _, of := range containing[x.CostOf] {
		x.BookedNs = min(x.BookedNs, left[of])
	}
	for _, of := range containing[x.CostOf] {
		left[of] -= x.BookedNs
	}
}

// explain notes which others x is a symptom of.
func (x *Finding) explain(list []Finding, explains map[string][]string) {
	for i := range list {
		by := &list[i]
		if (slices.Contains(explains[by.ID], x.ID) && 2*by.CostNs >= x.CostNs || by.brings(x)) && !slices.Contains(x.SymptomOf, by.ID) {
			x.SymptomOf = append(x.SymptomOf, by.ID)
		}
	}
}

// brings reports whether what was counted made those runnable, many at once, whom x blames.
func (f *Finding) brings(x *Finding) bool {
	return f.Counted && !x.Counted && crowdTimes*x.CostNs <= f.CostNs && slices.ContainsFunc(x.Actors, func(a Actor) bool {
		return a.Role == Cause && slices.ContainsFunc(f.Actors, func(b Actor) bool {
			return b.Role == Victim && b.Class == a.Class && b.Creator == a.Creator
		})
	})
}
