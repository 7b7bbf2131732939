package waits

import (
	"math/rand/v2"
	"testing"
)

// TestOverTimeIsTheSameAsSpreadingByHand holds the bins against a slow loop over
// waits of all lengths, with widths that double on the way.
func TestOverTimeIsTheSameAsSpreadingByHand(t *testing.T) {
	for seed := range uint64(20) {
		rnd := rand.New(rand.NewPCG(seed, 1))
		type spread struct {
			from, to int64
			causes   [numCauses]int64
		}
		var all []spread
		o := &overTime{}
		now := int64(0)
		for range 400 {
			now += rnd.Int64N(1 << rnd.IntN(24))
			s := spread{to: now}
			s.from = max(0, now-rnd.Int64N(1<<rnd.IntN(26)))
			left := s.to - s.from
			for i := range numCauses - 1 {
				s.causes[i] = rnd.Int64N(left + 1)
				left -= s.causes[i]
			}
			s.causes[numCauses-1] = left
			all = append(all, s)
			o.add(s.from, s.to, &s.causes)
		}
		end := now + rnd.Int64N(1<<20)
		got := o.result(end)
		if n := int64(len(got.Causes[0].Ns)); n > overTimeBins || n*got.BinNs < end || (n-1)*got.BinNs >= end {
			t.Fatalf("seed %d: %d bins of %d ns for a trace of %d", seed, n, got.BinNs, end)
		}
		for i, c := range got.Causes {
			var sum, want int64
			for _, s := range all {
				want += s.causes[i]
			}
			for b, ns := range c.Ns {
				sum += ns
				var exact float64
				for _, s := range all {
					from, to := max(s.from, int64(b)*got.BinNs), min(s.to, int64(b+1)*got.BinNs)
					if to > from {
						exact += float64(s.causes[i]) * float64(to-from) / float64(s.to-s.from)
					}
				}
				// Each wait may be off by less than the number of bins, and is rounded
				// anew only where it was added.
				if off := float64(ns) - exact; off < -400*overTimeBins || off > 400*overTimeBins {
					t.Errorf("seed %d: %s in bin %d: %d ns, by hand %.0f", seed, c.Cause, b, ns, exact)
				}
			}
			if sum != want {
				t.Errorf("seed %d: %s: %d ns in all bins, %d in all waits", seed, c.Cause, sum, want)
			}
		}
	}
}

func TestOverTimePutsEachWaitWhereItWas(t *testing.T) {
	o := &overTime{}
	o.add(512, 4*1024+512, &[numCauses]int64{iQueueing: 3 * 1024, iGC: 1024})
	o.add(100, 100, &[numCauses]int64{})
	got := o.result(6 * 1024)
	want := map[Cause][]int64{CauseQueueing: {384, 768, 768, 768, 384, 0}, CauseGC: {128, 256, 256, 256, 128, 0}}
	if got.BinNs != 1024 || len(got.Causes) != len(want) {
		t.Fatalf("%+v", got)
	}
	for _, c := range got.Causes {
		for b, ns := range want[c.Cause] {
			if len(c.Ns) != len(want[c.Cause]) || c.Ns[b] != ns {
				t.Errorf("%s: %v, want %v", c.Cause, c.Ns, want[c.Cause])
				break
			}
		}
	}
}
