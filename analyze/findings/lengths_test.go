package findings

import "testing"

func TestLengths(t *testing.T) {
	var l Lengths
	if l.Median() != 0 {
		t.Error("an empty one is not 0")
	}
	for ns := range int64(1000) {
		l.Add(1000 + ns)
	}
	if m := l.Median(); m < 1490 || m > 1540 {
		t.Errorf("median %d", m)
	}
	if mean := l.Ns / l.N; mean != 1499 {
		t.Errorf("mean %d", mean)
	}
	var both Lengths
	both.Merge(&l)
	both.Merge(&l)
	if both.N != 2000 || both.Median() != l.Median() {
		t.Errorf("%d, median %d", both.N, both.Median())
	}
}

func TestLengthsLieInTheirBar(t *testing.T) {
	for ns := int64(1); ns < 1<<40; ns += 1 + ns/7 {
		if i := bar(ns); barStart(i) > ns || barStart(i+1) <= ns {
			t.Fatalf("%d is in bar %d, from %d to %d", ns, i, barStart(i), barStart(i+1))
		}
	}
}
