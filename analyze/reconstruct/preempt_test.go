package reconstruct

import (
	"testing"

	"github.com/gmpscope/gmpscope/analyze/events"
	"github.com/gmpscope/gmpscope/reference"
)

// TestPreemptCause has a goroutine on P 0, a thread of its own, preempted when there are
// several that may have requested it.
func TestPreemptCause(t *testing.T) {
	const ms = 1_000_000
	const now, over = 100 * ms, 12 * ms
	type state = func(r *Reconstructor, pp *proc)
	marks := func(r *Reconstructor, _ *proc) { r.step.requests.gcOpen = true }
	wanted := func(r *Reconstructor, pp *proc) {
		r.step.requests.gcOpen, r.step.requests.marks.sum = true, pp.wanted+1
	}
	requested := func(ago int64) state {
		return func(r *Reconstructor, _ *proc) { r.step.requests.noSlice = now - ago }
	}
	late := func(by int32, ago int64) state {
		return func(r *Reconstructor, _ *proc) {
			r.step.requests.endedWhy, r.step.requests.endedAt, r.step.requests.endedBy = reference.WhyGC, now-ago, by
		}
	}
	inForEachP := func(worker bool) state {
		return func(r *Reconstructor, _ *proc) {
			r.step.requests.current = forEachP{m: 1, why: reference.WhyGC, at: now - over - ms, sure: worker}
		}
	}
	quick := func(r *Reconstructor, _ *proc) { r.step.requests.retaken = now - 3*ms }
	worker := func(_ *Reconstructor, pp *proc) { pp.worker = markWorker | markDedicated }
	full := func(r *Reconstructor, _ *proc) { r.step.ps.gomaxprocs, r.step.ps.busy = 2, 2 }
	dedicated := []events.Event{
		{Kind: events.Go, Time: now + 500, M: 0, P: 0, G: events.None, Res: 5, From: events.Waiting, To: events.Runnable},
		{Kind: events.Go, Time: now + 1000, M: 0, P: 0, G: events.None, Res: 5, From: events.Runnable, To: events.Running},
		{Kind: events.Label, Time: now + 1000, M: 0, P: 0, G: 5, Reason: events.LabelDedicated},
	}
	other := func(after int64) []events.Event {
		return []events.Event{{Kind: events.Go, Time: now + after, M: 1, P: 1, G: 6, Res: 6, From: events.Running, To: events.Runnable, Reason: events.ReasonPreempted}}
	}
	for _, c := range []struct {
		name  string
		minor int
		ran   int64
		state []state
		next  []events.Event
		want  reference.Why
		sure  bool
	}{
		{"nothing else", 25, over, nil, nil, reference.WhySlice, true},
		{"the collector marks", 25, over, []state{marks}, nil, reference.WhySlice, false},
		{"and another worker starts, not wanted before", 25, over, []state{marks}, dedicated, reference.WhySlice, false},
		{"wanted", 25, over, []state{wanted}, dedicated, reference.WhyGC, false},
		{"wanted, and does not start", 25, over, []state{wanted}, nil, reference.WhySlice, false},
		{"wanted, and sysmon looks often", 25, over, []state{wanted, quick}, dedicated, reference.WhySlice, false},
		{"wanted, and an idle P can do it", 26, over, []state{wanted}, dedicated, reference.WhySlice, false},
		{"wanted, and no P is idle", 26, over, []state{wanted, full}, dedicated, reference.WhyGC, false},
		{"another one was requested before it ran", 25, over, []state{marks, requested(over + ms)}, nil, reference.WhySlice, false},
		{"another one was requested meanwhile", 25, over, []state{marks, requested(ms)}, nil, reference.WhyGC, false},
		{"another one is requested soon", 25, over, []state{marks}, other(100_000), reference.WhyGC, false},
		{"another one is requested, not soon", 25, over, []state{marks}, other(300_000), reference.WhySlice, false},
		{"another one was requested, by itself", 25, over, []state{marks, requested(ms), late(0, 0)}, nil, reference.WhySlice, false},
		{"a worker, which another was wanted besides", 25, over, []state{wanted, worker}, nil, reference.WhyGC, false},
		{"a worker, and no other was", 25, over, []state{marks, worker, requested(ms)}, nil, reference.WhySlice, false},
		{"a worker, and sysmon must have requested it", 25, 16 * ms, []state{wanted, worker}, nil, reference.WhySlice, false},
		{"a worker calls forEachP", 25, over, []state{inForEachP(true)}, nil, reference.WhyGC, false},
		{"and sysmon looks often", 25, over, []state{inForEachP(true), quick}, nil, reference.WhySlice, false},
		{"a goroutine that assists does, or did", 25, over, []state{inForEachP(false)}, nil, reference.WhySlice, false},
		{"and requested another one", 25, over, []state{inForEachP(false), requested(ms)}, nil, reference.WhyGC, false},
		{"the slice is not over", 25, ms, []state{inForEachP(false)}, nil, reference.WhyGC, true},
		{"a late request", 25, over, []state{late(1, 4*ms), requested(5 * ms)}, nil, reference.WhyGC, false},
		{"the forEachP may have been over before it ran", 25, over, []state{late(1, 4*ms), requested(13 * ms)}, nil, reference.WhySlice, false},
		{"it was its own forEachP", 25, over, []state{late(0, 4*ms), requested(5 * ms)}, nil, reference.WhySlice, true},
		{"the signal was for the one before", 25, 2000, []state{late(1, ms)}, nil, reference.WhyGC, false},
		{"no forEachP before", 25, 2000, []state{late(1, 11*ms)}, nil, reference.WhySlice, false},
	} {
		r := New(events.NewTables(), Options{Rules: reference.RulesFor(c.minor)})
		r.step.ps.gomaxprocs = 8
		r.link.addProc(0)
		r.link.addProc(1)
		r.link.mix.Add(0, 0)
		r.link.mix.Add(1, 1)
		r.step.ahead.mStates = []thread{{last: none, next: none}, {id: 1, last: none, next: none}}
		evs := append([]events.Event{{Kind: events.Go, Time: now, M: 0, P: 0, G: 4, Res: 4, From: events.Running, To: events.Runnable, Reason: events.ReasonPreempted}}, c.next...)
		for i := range evs {
			r.link.enter(&evs[i])
		}
		r.step.ahead.time = now
		for i := range r.step.ps.pStates {
			pp := &r.step.ps.pStates[i]
			pp.began, pp.ticks = now-c.ran, [2]int64{now - ms, now - ms}
		}
		pp := &r.step.ps.pStates[0]
		pp.ticks = [2]int64{now - c.ran, now - c.ran}
		if c.ran < strayTime {
			pp.ticks[0] = now - ms
		}
		for _, f := range c.state {
			f(r, pp)
		}
		why, basis := r.step.requests.preemptCause(r.step.ahead.win.at(0))
		if why != c.want || (basis == byRule) != c.sure {
			t.Errorf("%s: %v, %v, want %v", c.name, why, basis, c.want)
		}
	}
}

// TestSysmonRetakes has sysmon take a P, or the goroutine that is in the system call on it
// come back without it.
func TestSysmonRetakes(t *testing.T) {
	for by, want := range map[int64]bool{events.None: true, 3: false} {
		r := New(events.NewTables(), Options{Rules: reference.RulesFor(25)})
		r.step.ps.setProcState(r.link.proc(1), true)
		r.step.ahead.gStates.At(r.step.model.goroutine(3)).state = events.Syscall
		r.link.enter(&events.Event{Kind: events.Proc, Time: 1_000, M: 1, P: int32(events.None), G: by, Res: 1, From: events.Running, To: events.Idle})
		r.step.next()
		if r.step.requests.sysmonQuick() != want {
			t.Errorf("by %d: %v", by, !want)
		}
	}
}
