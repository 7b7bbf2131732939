package analyze_test

import (
	"slices"
	"testing"

	"github.com/gmpscope/gmpscope/reference"
)

const realTraces = "../testdata/traces/real/"

func TestRealGOMAXPROCSChanges(t *testing.T) {
	s := load(t, realTraces+"annot-go1.26-p4to8.trace.gz")
	var want, found []int
	for i := range s.events {
		if h := &s.events[i]; h.isMetric && (len(want) == 0 || want[len(want)-1] != h.procs) {
			want = append(want, h.procs)
		}
	}
	for _, d := range s.of(reference.KindProcs) {
		found = append(found, int(d.Batch))
	}
	if !slices.Equal(found, want) || len(want) < 3 || !slices.Equal(want[len(want)-3:], []int{4, 1, 8}) {
		t.Errorf("GOMAXPROCS must go from 4 to 1 to 8, by the events %v; found %v", want, found)
	}
	s.want(s.result.Trace.GOMAXPROCS, 8, "largest GOMAXPROCS")
	procs, above := 0, 0
	for _, d := range s.decisions {
		switch d.Kind {
		case reference.KindProcs:
			procs = int(d.Batch)
		case reference.KindStart:
			if int(d.P) >= procs && procs > 0 {
				t.Errorf("with GOMAXPROCS %d nothing must start on P%d, found goroutine %d at %d ns", procs, d.P, d.G, d.Time)
			}
			if d.P >= 4 {
				above++
			}
		}
	}
	s.atLeast(above, 1, "starts on the Ps that came with GOMAXPROCS 8")
}

func TestRealFlightRecorder(t *testing.T) {
	s := load(t, realTraces+"flightrec-memberlist-go1.26-p4.trace.gz")
	// Goroutines older than the recording show themselves first by a status.
	older, queued := map[int64]bool{}, 0
	for i := range s.events {
		if h := &s.events[i]; h.isG && h.from == "Undetermined" && !older[h.g] {
			older[h.g] = true
			if h.to == "Runnable" {
				queued++
			}
		}
	}
	s.atLeast(len(older), 20, "goroutines older than the recording")
	firsts := 0
	for _, d := range s.decisions {
		if d.Flags&reference.FlagFirst == 0 || d.Kind != reference.KindReady && d.Kind != reference.KindStart {
			continue
		}
		if !older[d.G] {
			t.Errorf("goroutine %d was created in the trace, but %v says that it was there before", d.G, d.Kind)
		}
		if d.Kind == reference.KindReady {
			firsts++
		}
	}
	s.want(firsts, queued, "goroutines that were runnable when the recording began")
	created := firstErrors{s: s, what: "goroutines that the recording sees created become runnable by it"}
	seen := map[int64]bool{}
	for _, d := range s.of(reference.KindReady) {
		if !seen[d.G] && !older[d.G] && d.Why != reference.WhyCreate {
			created.errorf("goroutine %d by %v at %d ns", d.G, d.Why, d.Time)
		}
		seen[d.G] = true
	}
	created.done()
	s.want(s.result.Trace.GOMAXPROCS, 4, "GOMAXPROCS")
	s.want(s.result.Trace.Generations, 2, "generations")
	if r := s.result.Reconstruction; r.Unexplained*100 > r.Starts {
		t.Errorf("one start in a hundred at most may be unexplained, found %d of %d", r.Unexplained, r.Starts)
	}
}

// On wasm there is one P on one thread and no sysmon, so runqput ignores next
// (proc.go), and nobody steals or retakes.
func TestRealWasm(t *testing.T) {
	s := load(t, realTraces+"jswasm-context-go1.26.trace.gz")
	s.want(s.result.Trace.GOMAXPROCS, 1, "GOMAXPROCS")
	s.want(int(s.result.Trace.Threads), 1, "threads")
	for _, d := range s.of(reference.KindStart) {
		if d.P != 0 {
			t.Errorf("goroutine %d must start on the only P, found P%d at %d ns", d.G, d.P, d.Time)
		}
	}
	for _, kind := range []reference.Kind{reference.KindSteal, reference.KindRetake, reference.KindHandoff} {
		s.want(len(s.of(kind)), 0, "decisions of kind %v", kind)
	}
	if p := s.result.Procs.Ps[0]; p.IdleNs < p.LifetimeNs/4 || p.SystemNs > p.LifetimeNs/100 {
		t.Errorf("the P must be idle while the host has control, found %d ns of %d, and %d ns of the runtime", p.IdleNs, p.LifetimeNs, p.SystemNs)
	}
	order := firstErrors{s: s, what: "who becomes runnable first starts first, as nothing goes to runnext"}
	for _, d := range s.of(reference.KindStart) {
		if d.Src == reference.SrcRunnext {
			order.errorf("goroutine %d comes from %v at %d ns", d.G, d.Src, d.Time)
		}
	}
	order.done()
}
