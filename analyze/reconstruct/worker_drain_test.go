package reconstruct

import (
	"slices"
	"testing"

	"github.com/gmpscope/gmpscope/analyze/events"
	"github.com/gmpscope/gmpscope/reference"
)

// TestPutsAround has a mark worker make goroutines runnable, in two lots, and then
// stop.
func TestPutsAround(t *testing.T) {
	const p = putsPause
	times := []int64{100, 100 + p, 200 + p, 201 + 2*p, 202 + 2*p}
	r := New(events.NewTables(), Options{Rules: reference.RulesFor(26)})
	var f feed
	f.begin(1000)
	first := int64(len(f.evs))
	for i, at := range times {
		f.evs = append(f.evs, events.Event{Kind: events.Go, G: 1000, Time: at, Res: int64(i) + 1, From: events.Waiting, To: events.Runnable})
	}
	f.evs = append(f.evs, events.Event{Kind: events.Go, G: 1000, Time: 9 * p, Res: 1000, From: events.Running, To: events.Waiting})
	r.Add(f.evs)
	for _, c := range []struct {
		next     int64 // the thread's
		now      int64 // the present event
		begun    int
		from, to int64
	}{
		{0, 0, 0, 100, 201 + p},
		{2, 0, 2, 200 + p, 201 + p},
		{2, 1, 1, 200 + p, 201 + p},
		{3, 0, 0, 201 + 2*p, 203 + 2*p},
		{5, 0, 0, 9 * p, 9 * p},
		{6, 0, 0, 0, 0},
	} {
		r.step.ahead.mStates[0].next, r.step.ahead.now = first+c.next, first+c.now
		if c.now == 0 {
			r.step.ahead.now = 0
		}
		if begun, from, to := r.step.ahead.putsAround(0); begun != c.begun || from != c.from || to != c.to {
			t.Errorf("before event %d, judging %d: %d begun, from %d to %d, want %d, %d, %d", c.next, c.now, begun, from, to, c.begun, c.from, c.to)
		}
	}
}

// TestKept has a worker's P go on with what is first in its own queue.
func TestKept(t *testing.T) {
	for _, c := range []struct {
		name       string
		in, global []int64
		elsewhere  int64 // starts elsewhere before
		due        int64
		says, kept bool
	}{
		{"a queue that is kept", []int64{1, 2}, []int64{3}, 0, 0, false, true},
		{"which may have come back from the global queue", []int64{1, 2}, nil, 0, 0, false, false},
		{"the head of the global queue before it", []int64{2}, []int64{1, 3}, 0, 0, true, false},
		{"which has run elsewhere by then", []int64{2}, []int64{1, 3}, 1, 0, false, true},
		{"one alone, before the time slice is over", []int64{2}, nil, 1, 1, false, true},
		{"which a thief would not take", []int64{2}, []int64{1, 3}, 0, 1, true, false},
		{"two, before the time slice is over", []int64{2, 3}, []int64{1}, 0, 1, true, false},
		{"nothing in the queue", nil, []int64{1, 2, 3}, 0, 0, false, true},
	} {
		r := ahead(3, upTo(1, 3), c.in)
		for _, g := range c.global {
			r.step.queues.PutGlobal(r.step.model.goroutine(g))
		}
		for g := range int64(3) {
			r.step.ahead.gStates.At(r.step.model.goroutine(g + 1)).state = events.Runnable
		}
		if c.elsewhere != 0 {
			r.step.ahead.gStates.At(r.step.model.goroutine(c.elsewhere)).start = r.step.ahead.now + 1
		}
		r.step.ps.pStates[0].tick.Learn(tickPastOwn)
		r.step.ps.pStates[0].tick.Learn(tickPastOwn)
		r.step.ps.pStates[0].tick.Next() // no tick
		if says, kept := r.step.workers.drained(drain{p: 0, m: 0, g: nobody, due: c.due}); says != c.says || kept != c.kept {
			t.Errorf("%s: drained %v, kept %v", c.name, says, kept)
		}
	}
}

// TestPicked has P 1 run what is in the ring of P 0 in its order, but one before it.
func TestPicked(t *testing.T) {
	for n, want := range map[int64]bool{60: false, 61: true} {
		r := ahead(n, nil, upTo(1, n))
		other(r, append([]int64{5, 1, 2, 3, 4}, upTo(6, n)...)...)
		if says, _ := r.step.workers.drained(drain{p: 0, m: 0, g: nobody}); says != want {
			t.Errorf("one of %d: drained %v", n, says)
		}
	}
}

// TestDrainEarly has a worker that makes goroutines runnable, and is requested to yield
// between two lots of them, long before its time slice is over: another P runs the first
// lot in its order, which no thief does, and then steals from the second.
func TestDrainEarly(t *testing.T) {
	const worker, lot, n = 2000, 10, 14
	var f feed
	f.begin(1000)
	f.evs[0].Res = 2 // Ps
	for g := range int64(n) {
		f.add(events.Event{G: 1000, Res: g + 1, From: events.NotExist, To: events.Runnable})
	}
	f.stop(1000, events.Waiting, events.ReasonSleep)
	for _, g := range append([]int64{n}, upTo(1, n-1)...) {
		f.start(g)
		f.stop(g, events.Waiting, events.ReasonAssist)
	}
	f.add(events.Event{G: events.None, Res: worker, From: events.Waiting, To: events.Runnable})
	f.start(worker)
	f.evs = append(f.evs, events.Event{Kind: events.Label, Time: f.now, G: worker, Reason: events.LabelDedicated})
	for g := range int64(n) {
		if g == lot {
			f.now += 10 * putsPause
		}
		f.add(events.Event{G: worker, Res: g + 1, From: events.Waiting, To: events.Runnable})
	}
	f.now += 10 * putsPause
	f.evs = append(f.evs, events.Event{Kind: events.Proc, Time: f.now, G: events.None, M: 1, P: 1, Res: 1, From: events.Idle, To: events.Running})
	other := len(f.evs)
	for _, g := range append(upTo(1, lot), lot+2, lot+1) {
		f.start(g)
		f.stop(g, events.Waiting, events.ReasonSleep)
	}
	for i := range f.evs[other:] {
		f.evs[other+i].M, f.evs[other+i].P = 1, 1
	}
	f.stop(worker, events.Waiting, events.ReasonSystem)
	for _, g := range upTo(lot+3, n) {
		f.start(g)
		f.stop(g, events.Waiting, events.ReasonSleep)
	}

	var stolen, drained []int64
	r := New(events.NewTables(), Options{Rules: reference.RulesFor(26), Emit: each(func(d *reference.Decision) {
		switch {
		case d.Kind == reference.KindSteal:
			stolen = append(stolen, d.G, int64(d.Batch))
		case d.Kind == reference.KindMove && d.Why == reference.WhyGC:
			drained = append(drained, d.G)
		}
	})})
	r.Add(f.evs)
	sum := r.Finish()
	if !slices.Equal(drained, upTo(1, lot)) || !slices.Equal(stolen, []int64{lot + 2, 2}) || sum.Corrections != 0 {
		t.Errorf("drained %v, stolen (goroutine, batch) %v, %d corrections", drained, stolen, sum.Corrections)
	}
}
