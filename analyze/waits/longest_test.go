package waits

import "testing"

func TestDistinct(t *testing.T) {
	s := func(class int32, from, to int64) WaitDetail {
		return WaitDetail{Class: class, FromNs: from, ToNs: to, WaitNs: to - from}
	}
	got := distinct([]WaitDetail{s(1, 0, 100), s(1, 10, 100), s(2, 5, 95), s(1, 60, 120), s(1, 90, 140), s(1, 40, 60)})
	// 60 to 120 has 40 of its 60 in common with the first; 90 to 140 too little
	// with any; 40 to 60 all.
	want := []DistinctWait{{s(1, 0, 100), 3}, {s(2, 5, 95), 0}, {s(1, 90, 140), 0}}
	if len(got) != len(want) {
		t.Fatalf("%+v", got)
	}
	for i := range got {
		if got[i].FromNs != want[i].FromNs || got[i].Like != want[i].Like {
			t.Errorf("%d: %+v, want %+v", i, got[i], want[i])
		}
	}
}
