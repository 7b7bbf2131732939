package reconstruct

import (
	"testing"

	"github.com/gmpscope/gmpscope/analyze/events"
	"github.com/gmpscope/gmpscope/reference"
)

// TestTakeAtOnce has P 0 stop what it runs, and then start goroutine 3, while P 1 makes
// another one runnable in between, or runs goroutines itself.
func TestTakeAtOnce(t *testing.T) {
	const busy, put = 2000, 9
	for _, c := range []struct {
		name   string
		pause  int64   // until the start
		comes  bool    // P 0 gets its thread instead of stopping
		alone  bool    // P 1 does nothing in between
		p1     []int64 // which P 1 starts afterwards
		global []int64
		own    []int64 // ring of P 0
		ring   []int64 // ring of P 1
		batch  int32   // 0: it is not taken before its start
	}{
		{name: "a batch", pause: stalled, global: upTo(3, 8), batch: 4},
		{name: "a single one", pause: stalled, global: []int64{3}, batch: 1},
		{name: "nobody sees the difference", pause: stalled, alone: true, global: upTo(3, 8)},
		{name: "the thread may have lost its CPU before", pause: stalled + 1, global: upTo(3, 8)},
		{name: "its own queue comes first", pause: stalled, global: upTo(3, 8), own: []int64{1}},
		{name: "another one is in front", pause: stalled, global: []int64{1, 3}},
		{name: "a thread that comes", comes: true, pause: looking, global: upTo(3, 8), batch: 4},
		{name: "a thread that comes, and looks for long", comes: true, pause: looking + 1, global: upTo(3, 8)},
		{name: "a steal", pause: stalled, ring: []int64{1, 2, 3, 4, 5, 6}, batch: 3},
		{name: "a steal from an odd ring", pause: stalled, ring: []int64{1, 2, 3, 4, 5}, batch: 3},
		{name: "the ring is too short yet", pause: stalled, ring: []int64{1, 2, 3, 4}},
		{name: "the victim runs first", pause: stalled, ring: []int64{1, 2, 3, 4, 5, 6}, p1: []int64{1}},
		{name: "the global queue comes first", pause: stalled, ring: []int64{3, 4}, global: []int64{1}},
	} {
		var f feed
		f.begin(1000)
		f.add(events.Event{M: 1, P: 1, G: busy, Res: busy, From: events.Undetermined, To: events.Running})
		for g := range int64(8) {
			f.add(events.Event{G: 1000, Res: g + 1, From: events.NotExist, To: events.Runnable})
		}
		f.stop(1000, events.Waiting, events.ReasonSleep)
		if c.comes {
			f.add(events.Event{G: events.None, P: events.None, Res: 0})
			e := &f.evs[len(f.evs)-1]
			e.Kind, e.From, e.To = events.Proc, events.Idle, events.Running
		}
		stop := int64(len(f.evs) - 1)
		began := f.now
		if !c.alone {
			f.add(events.Event{M: 1, P: 1, G: busy, Res: put, From: events.NotExist, To: events.Runnable})
		}
		f.now = began + c.pause - 1_000 // it goes on by as much
		f.start(3)
		for _, g := range c.p1 {
			f.add(events.Event{M: 1, P: 1, G: events.None, Res: g, From: events.Runnable, To: events.Running})
		}
		r := New(events.NewTables(), Options{Rules: reference.RulesFor(26)})
		r.procs = 2
		r.Add(f.evs)
		for i := range stop {
			if it := r.win.at(i); it.ev.Kind == events.Go && it.ev.To == events.Runnable {
				g := r.gs.At(it.of)
				g.state, g.start, g.ready, g.readyM = events.Runnable, it.link, i, it.m
			}
		}
		for _, g := range c.global {
			r.q.PutGlobal(r.gs.find(g))
		}
		for p, ring := range [][]int64{c.own, c.ring} {
			for _, g := range ring {
				r.q.PutTail(int32(p), r.gs.find(g))
			}
		}
		r.now, r.win.tail = stop, stop
		r.time = r.win.at(stop).ev.Time
		r.judged()
		g := r.gs.At(r.gs.find(3))
		if g.isTaken != (c.batch > 0) || g.isTaken && g.taken.batch != c.batch {
			t.Errorf("%s: taken %v, %d with it", c.name, g.isTaken, g.taken.batch)
		}
		if r.sum.Corrections > 0 {
			t.Errorf("%s: %d corrections", c.name, r.sum.Corrections)
		}
	}
}

// TestTakeUnsure has P 0 take a batch from a global queue of 4, while P 1 has
// stopped a goroutine that it has not put there yet, for all that is known.
func TestTakeUnsure(t *testing.T) {
	for _, c := range []struct {
		name string
		next int64 // events until P 1's thread goes on
		want int
	}{
		{"it goes on before the take", 1, 0},
		{"it goes on later", 4, 1},
	} {
		r := ahead(4, []int64{1, 2, 3}, nil)
		other(r, 4)
		for _, g := range upTo(1, 4) {
			r.q.PutGlobal(r.gs.find(g))
		}
		last := r.gs.At(r.gs.find(4))
		last.ready, last.readyM = r.now-1, r.mix.Find(1)
		r.now++ // the stop before the take
		r.openPut(r.gs.find(4), r.now-1+c.next)
		if got := r.unsure(r.gs.find(1)); got != c.want {
			t.Errorf("%s: %d", c.name, got)
		}
	}
}
