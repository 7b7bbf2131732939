package workload

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/gmpscope/gmpscope/reference"
)

// A Window tells who is there when it begins, and goes on from there.
func TestWindow(t *testing.T) {
	type synthetic struct {
		at   int64
		kind reference.Kind
		g    int64
		p    int32
	}
	var got []synthetic
	w := NewWindow(100, func(d *reference.Decision) { got = append(got, synthetic{d.Time, d.Kind, d.G, d.P}) })
	say := func(at int64, k reference.Kind, g int64, p int32, why reference.Why) {
		w.Add(&reference.Decision{Time: at, Kind: k, G: g, P: p, M: int64(p) + 10, Why: why, Batch: 4})
	}
	say(0, reference.KindProcs, reference.NoG, reference.NoP, 0)
	say(1, reference.KindPStart, reference.NoG, 0, 0)
	say(1, reference.KindPStart, reference.NoG, 1, 0)
	say(1, reference.KindPStart, reference.NoG, 2, 0)
	say(1, reference.KindPStart, reference.NoG, 3, 0)
	say(2, reference.KindStart, 1, 0, 0)
	say(3, reference.KindReady, 2, 0, reference.WhyCreate)
	say(3, reference.KindReady, 3, 0, reference.WhyCreate) // stays runnable
	say(4, reference.KindStart, 2, 1, 0)
	say(5, reference.KindSyscall, 2, 1, 0) // stays in the system call
	say(6, reference.KindStart, 4, 2, 0)
	say(7, reference.KindStop, 4, 2, reference.WhyBlock)
	say(8, reference.KindStart, 5, 3, 0)
	say(9, reference.KindSyscall, 5, 3, 0)
	say(10, reference.KindRetake, 5, 3, reference.WhyRetakeSlow) // not on its P any more
	say(11, reference.KindPStop, reference.NoG, 2, reference.WhyIdle)
	say(12, reference.KindGCBegin, reference.NoG, reference.NoP, 0)
	if len(got) > 0 {
		t.Fatalf("told before the beginning: %v", got)
	}
	say(150, reference.KindStop, 1, 0, reference.WhyExit)
	want := []synthetic{
		{0, reference.KindProcs, reference.NoG, reference.NoP}, {0, reference.KindGCBegin, reference.NoG, reference.NoP},
		{0, reference.KindPStart, reference.NoG, 0}, {0, reference.KindPStart, reference.NoG, 1},
		{0, reference.KindPStop, reference.NoG, 2}, {0, reference.KindPStop, reference.NoG, 3},
		{0, reference.KindStart, 1, 0}, {0, reference.KindStart, 2, 1}, {0, reference.KindSyscall, 2, 1}, {0, reference.KindReady, 3, 0},
		{50, reference.KindStop, 1, 0},
	}
	if diff := cmp.Diff(want, got, cmp.AllowUnexported(synthetic{})); diff != "" {
		t.Errorf("want (-), got (+):\n%s", diff)
	}
}

// What changes GOMAXPROCS comes with its stop-the-world, and can be left out.
func TestProcsChanges(t *testing.T) {
	s := stream{NewExtractor(Options{})}
	procs := func(at int64, n int32) {
		s.say(at, reference.KindProcs, reference.NoG, func(d *reference.Decision) { d.Batch = n })
	}
	procs(0, 2)
	s.start(0, 1)
	s.say(100, reference.KindSTWBegin, reference.NoG, nil)
	procs(110, 4)
	s.say(120, reference.KindSTWEnd, reference.NoG, nil)
	procs(150, 4)
	procs(200, 1)
	w := s.e.Finish(1000)
	if w.FirstProcs != 2 || w.Procs != 1 || !w.ProcsChanged {
		t.Errorf("%d at first, mostly %d, changed: %v", w.FirstProcs, w.Procs, w.ProcsChanged)
	}
	for _, fixed := range []bool{false, true} {
		var got []int
		for l := w.Load(Change{FixedProcs: fixed}); ; {
			a, ok := l.Next()
			if !ok {
				break
			}
			if a.Procs > 0 {
				got = append(got, a.Procs)
			}
		}
		want := []int{4, 1}
		if fixed {
			want = nil
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("fixed %v: %s", fixed, diff)
		}
	}
}
