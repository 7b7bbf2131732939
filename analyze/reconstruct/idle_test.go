package reconstruct

import (
	"slices"
	"testing"

	"github.com/gmpscope/gmpscope/analyze/events"
	"github.com/gmpscope/gmpscope/reference"
)

// TestClaims has P 0 run, and 1, 2 and 3 go idle in that order; of a fifth there has been
// no event.
func TestClaims(t *testing.T) {
	type step func(r *Reconstructor)
	claim := func(r *Reconstructor) { r.step.ps.claim() }
	wakep := func(r *Reconstructor) { r.step.ps.wakep(0) }
	comes := func(p int32) step { return func(r *Reconstructor) { r.step.ps.setProcState(p, true) } }
	idle := func(p int32) step { return func(r *Reconstructor) { r.step.ps.setProcState(p, false) } }
	runs := func(p int32) step {
		return func(r *Reconstructor) {
			r.step.ps.setProcState(p, true)
			r.step.ps.setRunning(&r.step.ps.pStates[p], 1)
		}
	}
	for _, c := range []struct {
		name    string
		steps   []step
		npidle  int
		claimed []int32
	}{
		{"nobody is woken", nil, 4, nil},
		{"the last to go idle first", []step{claim}, 3, []int32{3}},
		{"then the one before", []step{claim, claim}, 2, []int32{2, 3}},
		{"the one without an event last", []step{claim, claim, claim, claim}, 0, []int32{1, 2, 3}},
		{"no more than there are", []step{claim, claim, claim, claim, claim}, 0, []int32{1, 2, 3}},
		{"a thread comes", []step{claim, claim, comes(3)}, 2, []int32{2}},
		{"one comes that nobody claimed", []step{claim, comes(1)}, 2, []int32{3}},
		{"it finds nothing", []step{claim, comes(3), idle(3)}, 4, nil},
		{"the first event of the fifth", []step{claim, claim, claim, claim, comes(4)}, 0, []int32{1, 2, 3}},
		{"one to look for work is enough", []step{wakep, wakep}, 3, []int32{3}},
		{"it has come and looks", []step{wakep, comes(3), wakep}, 3, nil},
		{"it has found some", []step{wakep, runs(3), wakep}, 2, []int32{2}},
		{"woken for what is injected, not to look", []step{claim, wakep}, 2, []int32{2, 3}},
		{"another GOMAXPROCS", []step{claim, claim, func(r *Reconstructor) { r.step.resize.setProcs(3) }}, 2, nil},
		{"the world stops", []step{func(r *Reconstructor) { r.step.ps.stw.open = true }, wakep}, 4, nil},
	} {
		r := New(events.NewTables(), Options{Rules: reference.RulesFor(26)})
		for p := range int32(4) {
			r.link.addProc(p)
		}
		r.link.addProc(4)
		r.step.resize.setProcs(5)
		runs(0)(r)
		for p := int32(1); p < 4; p++ {
			r.step.ahead.now++
			idle(p)(r)
		}
		for _, s := range c.steps {
			r.step.ahead.now++
			s(r)
		}
		var claimed []int32
		for p := range r.step.ps.pStates {
			if r.step.ps.pStates[p].claimed {
				claimed = append(claimed, int32(p))
			}
		}
		if got := r.step.ps.npidle(); got != c.npidle || !slices.Equal(claimed, c.claimed) {
			t.Errorf("%s: %d idle, %v claimed; want %d, %v", c.name, got, claimed, c.npidle, c.claimed)
		}
	}
}

// TestInjected has P 0, of three, poll the network: which of what it makes runnable goes
// to the global queue depends on who has been woken.
func TestInjected(t *testing.T) {
	for _, c := range []struct {
		name string
		woke int // threads before that
		want []reference.Queue
	}{
		{"two idle Ps", 0, []reference.Queue{reference.QueueGlobal, reference.QueueGlobal, reference.QueueLocal}},
		{"a thread is on its way", 1, []reference.Queue{reference.QueueGlobal, reference.QueueLocal, reference.QueueLocal}},
		{"two are", 2, []reference.Queue{reference.QueueLocal, reference.QueueLocal, reference.QueueLocal}},
	} {
		var f feed
		for g := range int64(3) {
			f.add(events.Event{G: events.None, Res: 1 + g, From: events.Waiting, To: events.Runnable})
		}
		r := New(events.NewTables(), Options{Rules: reference.RulesFor(26)})
		r.Add(f.evs)
		r.step.resize.setProcs(3)
		r.step.ps.setProcState(0, true)
		for range c.woke {
			r.step.ps.claim()
		}
		for i, want := range c.want {
			r.step.ahead.now = int64(i)
			if got := r.step.targets.injected(r.step.ahead.win.at(r.step.ahead.now), reference.WhyNetwork).to; got != want {
				t.Errorf("%s: goroutine %d goes to %v, want %v", c.name, i, got, want)
			}
		}
	}
}

// TestLooksAgain has a thread give P 0 up and get it back.
func TestLooksAgain(t *testing.T) {
	for _, c := range []struct {
		name string
		m    int64
		lag  int64
		want bool
	}{
		{"at once", 0, lookAgain - 1, true},
		{"woken", 0, lookAgain, false},
		{"another thread", 1, 1, false},
	} {
		r := New(events.NewTables(), Options{Rules: reference.RulesFor(26)})
		r.link.enter(&events.Event{Kind: events.Proc, M: 0, P: 0, G: events.None, Res: 0, From: events.Running, To: events.Idle})
		r.link.enter(&events.Event{Kind: events.Proc, M: c.m, P: 0, G: events.None, Res: 0, From: events.Idle, To: events.Running, Time: c.lag})
		if got := r.step.ahead.looksAgain(r.step.ahead.win.at(0)); got != c.want {
			t.Errorf("%s: %v", c.name, got)
		}
	}
}
