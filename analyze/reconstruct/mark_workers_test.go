package reconstruct

import (
	"testing"

	"github.com/gmpscope/gmpscope/analyze/events"
	"github.com/gmpscope/gmpscope/reference"
)

// TestWorkerWanted has n dedicated workers run, of as many as the collector wants with so
// many Ps (startCycle).
func TestWorkerWanted(t *testing.T) {
	for procs, want := range map[int]int{1: 0, 2: 0, 3: 0, 4: 1, 5: 1, 6: 1, 7: 2, 8: 2, 16: 4} {
		r := New(events.NewTables(), Options{Rules: reference.RulesFor(25)})
		r.step.ps.gomaxprocs = procs
		for i := range 8 {
			r.link.addProc(int32(i))
		}
		r.step.requests.works(&r.step.ps.pStates[7], markWorker)
		n := 0
		for ; r.step.requests.marks.wants; n++ {
			r.step.requests.works(&r.step.ps.pStates[n], markWorker|markDedicated)
		}
		if n != want {
			t.Errorf("%d Ps: %d, want %d", procs, n, want)
		}
	}
}

// TestMarking has a dedicated worker run: with 8 Ps another one is wanted meanwhile.
func TestMarking(t *testing.T) {
	const g, worker = 7, 9
	var f feed
	at := func(e events.Event) {
		e.Time = f.now
		f.evs = append(f.evs, e)
	}
	f.begin(g)
	at(events.Event{Kind: events.Procs, G: events.None, Res: 8})
	f.stop(g, events.Waiting, events.ReasonSync)
	f.start(worker)
	at(events.Event{Kind: events.Label, G: worker, Reason: events.LabelDedicated})
	begun := f.now
	f.stop(worker, events.Waiting, events.ReasonSync)
	want := f.now - begun
	f.start(g)
	f.stop(g, events.Waiting, events.ReasonSync)
	r := New(events.NewTables(), Options{Rules: reference.RulesFor(25)})
	r.Add(f.evs)
	r.Finish()
	if got := r.step.requests.marks.wantedFor(f.now); got != want {
		t.Errorf("%d ns, want %d", got, want)
	}
	if pp := &r.step.ps.pStates[0]; pp.worker != 0 || r.step.requests.marks.workers != 0 || pp.wanted != want {
		t.Errorf("%+v, at a start %d", r.step.requests.marks, pp.wanted)
	}
}
