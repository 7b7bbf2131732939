package waits

import "testing"

func TestSeriesKeepsEachWaitWhereItEnded(t *testing.T) {
	const ns, end = 1_000, int64(3_000_000_000)
	s, waits := &series{}, int64(0)
	for at := int64(0); at < end; at += 10_000_000 {
		s.add(at, ns)
		waits++
	}
	got := s.result(5)
	if got.FromNs != 5 || got.BinNs*seriesBins < end || got.BinNs*seriesBins >= 4*end {
		t.Errorf("from %d, bins of %d ns", got.FromNs, got.BinNs)
	}
	for b, n := range got.Count {
		waits -= n
		if even := got.BinNs / 10_000_000; int64(b) < end/got.BinNs && (n < even || n > even+1) || got.Ns[b] != n*ns {
			t.Errorf("bin %d: %d waits, %d ns, with %d waits a bin", b, n, got.Ns[b], even)
		}
	}
	if waits != 0 {
		t.Errorf("%d waits are missing", waits)
	}
	if (*series)(nil).result(0) != nil {
		t.Error("no waits have a series")
	}
}
