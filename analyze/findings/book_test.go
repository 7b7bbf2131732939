package findings

import (
	"slices"
	"testing"
)

func TestBook(t *testing.T) {
	explains := map[string][]string{"cause": {"symptom"}, "idle": {"symptom"}}
	find := func(id string, kind Kind, of CostBase, cost int64) Finding {
		return Finding{ID: id, Kind: kind, CostOf: of, CostNs: cost}
	}
	for _, c := range []struct {
		name    string
		list    []Finding
		booked  []int64
		symptom [][]string // of
	}{
		{"alone", []Finding{find("symptom", KindSymptom, OfWaiting, 80)}, []int64{80}, [][]string{nil}},
		{"explained in part", []Finding{find("symptom", KindSymptom, OfWaiting, 80), find("cause", KindCause, OfWaiting, 50)},
			[]int64{30, 50}, [][]string{{"cause"}, nil}},
		{"explained in small part", []Finding{find("symptom", KindSymptom, OfWaiting, 80), find("cause", KindCause, OfWaiting, 30)},
			[]int64{50, 30}, [][]string{nil, nil}},
		{"explained twice", []Finding{find("symptom", KindSymptom, OfWaiting, 80), find("cause", KindCause, OfWaiting, 60), find("idle", KindCause, OfIdle, 50)},
			[]int64{0, 60, 50}, [][]string{{"cause", "idle"}, nil, nil}},
		{"by two findings of one", []Finding{find("symptom", KindSymptom, OfWaiting, 80), find("cause", KindCause, OfWaiting, 45), find("cause", KindCause, OfWaiting, 40)},
			[]int64{0, 45, 40}, [][]string{{"cause"}, nil, nil}},
		{"not explained", []Finding{find("symptom", KindSymptom, OfWaiting, 80), find("other", KindCause, OfBlocked, 80)},
			[]int64{80, 80}, [][]string{nil, nil}},
		{"two causes of the same waiting", []Finding{find("cause", KindCause, OfWaiting, 70), find("other", KindCause, OfWaiting, 70)},
			[]int64{70, 30}, [][]string{nil, nil}},
		{"waiting is a part of the others", []Finding{find("cause", KindCause, OfWaiting, 100), find("other", KindCause, OfIdle, 150), find("all", KindMachine, OfPTime, 900), find("late", KindCause, OfBlocked, 500)},
			[]int64{100, 100, 800, 200}, [][]string{nil, nil, nil, nil}},
		{"negative", []Finding{find("cause", KindCause, OfWaiting, -5)}, []int64{0}, [][]string{nil}},
	} {
		whole := map[CostBase]int64{OfWaiting: 100, OfIdle: 200, OfPTime: 1000, OfBlocked: 300}
		book(c.list, explains, func(of CostBase) int64 { return whole[of] })
		for i, x := range c.list {
			if x.BookedNs != c.booked[i] || !slices.Equal(x.SymptomOf, c.symptom[i]) {
				t.Errorf("%s: %s books %d, want %d; a symptom of %v, want %v", c.name, x.ID, x.BookedNs, c.booked[i], x.SymptomOf, c.symptom[i])
			}
		}
	}
}

// Long runs of those that were made runnable together are a symptom of that.
func TestBookOfACrowd(t *testing.T) {
	burst := Finding{ID: "burst", Kind: KindCause, CostOf: OfWaiting, CostNs: 90, Counted: true, Actors: []Actor{{Role: Victim, Class: "main.sync", Creator: "main.run"}}}
	for _, c := range []struct {
		creator string
		cost    int64
		want    []string
	}{{"main.run", 9, []string{"burst"}}, {"main.run", 10, nil}, {"main.main", 9, nil}} {
		list := []Finding{burst, {ID: "runs", Kind: KindCause, CostOf: OfWaiting, CostNs: c.cost, Actors: []Actor{{Role: Cause, Class: "main.sync", Creator: c.creator}}}}
		book(list, nil, func(CostBase) int64 { return 100 })
		if !slices.Equal(list[1].SymptomOf, c.want) || list[0].SymptomOf != nil {
			t.Errorf("%+v: a symptom of %v, and of %v", c, list[1].SymptomOf, list[0].SymptomOf)
		}
	}
}
