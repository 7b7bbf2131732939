package work

import "testing"

func TestSeriesKeepsEachUnitWhereItEnded(t *testing.T) {
	var s series
	const from, unit, end = 1_000, int64(1_000_000), int64(3_000_000_000)
	want := int64(0)
	for at := int64(0); at < end; at += 7 * unit {
		s.add(at, unit)
		want++
	}
	got := s.result(from)
	if got.FromNs != from || got.BinNs*seriesBins < end || got.BinNs*seriesBins >= 4*end {
		t.Errorf("from %d, bins of %d ns", got.FromNs, got.BinNs)
	}
	n := int64(0)
	for _, c := range got.Cells {
		n += c.Count
		if even := got.BinNs / (7 * unit); c.Bin < int(end/got.BinNs) && (c.Count < even || c.Count > even+1) || c.Ns < unit*8/10 || c.Ns > unit*12/10 {
			t.Errorf("%+v, with %d units a bin", c, even)
		}
	}
	if n != want {
		t.Errorf("%d units of %d", n, want)
	}
}
