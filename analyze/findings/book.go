package findings

import "slices"

// containing are the wholes that hold all of each whole's time, itself included.
var containing = map[Whole][]Whole{
	OfWaiting: {OfWaiting, OfIdle, OfPTime, OfBlocked},
	OfIdle:    {OfIdle, OfPTime},
	OfPTime:   {OfPTime},
	OfBlocked: {OfBlocked},
}

// book books the costs of findings, in order of rank, so that no time is booked
// twice: BookedNs is the part of CostNs that no other finding has booked.
//
// Findings that are no symptoms book first: what is left of their whole, at most.
// Then the symptoms book what those that explain them did not. How far the waiting
// of a symptom and that of a cause are the same is not known, so a symptom books the
// least that it can be. It is called a symptom of each that costs at least half as
// much. explains are [Detector.Explains] by ID, and whole is how much there is.
func book(list []Finding, explains map[string][]string, whole func(Whole) int64) {
	left := map[Whole]int64{}
	for of := range containing {
		left[of] = whole(of)
	}
	for _, symptoms := range []bool{false, true} {
		for i := range list {
			x := &list[i]
			if (x.Kind == KindSymptom) != symptoms {
				continue
			}
			x.BookedNs = max(0, x.CostNs)
			if symptoms {
				x.explain(list, explains)
			}
			for _, of := range containing[x.CostOf] {
				x.BookedNs = min(x.BookedNs, left[of])
			}
			for _, of := range containing[x.CostOf] {
				left[of] -= x.BookedNs
			}
		}
	}
}

// explain takes off what the findings that explain x, a symptom, have booked.
func (x *Finding) explain(list []Finding, explains map[string][]string) {
	for i := range list {
		by := &list[i]
		if !slices.Contains(explains[by.ID], x.ID) {
			continue
		}
		x.BookedNs = max(0, x.BookedNs-by.BookedNs)
		if 2*by.CostNs >= x.CostNs && !slices.Contains(x.SymptomOf, by.ID) {
			x.SymptomOf = append(x.SymptomOf, by.ID)
		}
	}
}
