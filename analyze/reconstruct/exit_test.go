package reconstruct

import (
	"testing"

	"github.com/gmpscope/gmpscope/analyze/events"
	"github.com/gmpscope/gmpscope/reference"
)

// TestQueuedAtExit has thread 1 come back from a system call, 100 µs after P 0 was
// released, and get P 0.
func TestQueuedAtExit(t *testing.T) {
	const begin, back, gets = 1_000_000, 1_100_000, 1_300_000
	at := func(time int64, k events.Kind) events.Event {
		return events.Event{Kind: k, Time: time, M: 9, P: events.None, G: events.None, Res: events.None}
	}
	release := func(p int32) events.Event { // by thread 2, which runs on p
		return events.Event{Kind: events.Proc, Time: back + 10, M: 2, P: p, G: events.None, Res: int64(p), From: events.Running, To: events.Idle}
	}
	for _, c := range []struct {
		name    string
		why     reference.Why // of the release before
		freed   int64
		stopped bool           // the world, then
		between []events.Event // after the system call
		want    bool
	}{
		{"an idle P", reference.WhyIdle, begin, false, nil, false},
		{"that sysmon is handing off", reference.WhyRetakeSlow, begin, false, nil, true},
		{"retaken by forEachP, just now", reference.WhyGC, back - handsOn + 1, false, nil, true},
		{"long ago", reference.WhyGC, back - handsOn, false, nil, false},
		{"and the world stands", reference.WhyGC, back - handsOn, true, nil, true},
		{"by the tracer", reference.WhyGeneration, back - 1, false, nil, true},
		{"the world stands", reference.WhyIdle, begin, true, nil, true},
		{"its thread finds nothing then", reference.WhyRetakeSlow, begin, false, []events.Event{release(0)}, false},
		{"another P's does", reference.WhyRetakeSlow, begin, false, []events.Event{release(1)}, true},
		{"taken then", reference.WhyIdle, begin, false, []events.Event{
			{Kind: events.Proc, Time: back + 10, M: 2, P: 1, G: events.None, Res: 0, From: events.Running, To: events.Idle}}, true},
		{"stopped then", reference.WhyIdle, begin, false, []events.Event{at(back+5, events.STWBegin), release(0)}, true},
		{"idle after a stop", reference.WhyIdle, begin, true, []events.Event{at(back+5, events.Procs), release(0)}, false},
	} {
		r := New(events.NewTables(), Options{Rules: reference.RulesFor(26)})
		evs := []events.Event{{Kind: events.Go, Time: back, M: 1, P: events.None, G: 1, Res: 1, From: events.Syscall, To: events.Runnable}}
		evs = append(evs, c.between...)
		evs = append(evs,
			events.Event{Kind: events.Proc, Time: gets, M: 1, P: events.None, G: events.None, Res: 0, From: events.Idle, To: events.Running})
		for i := range evs {
			r.link.enter(&evs[i])
		}
		rec := r.step.ahead.win.at(0)
		next := r.step.ahead.win.at(rec.nextM)
		r.step.ahead.time, r.step.ps.stw.open = back, c.stopped
		pp := &r.step.ps.pStates[next.of]
		pp.why, pp.freed = c.why, c.freed
		if got := r.step.targets.queuedAtExit(rec, next); got != c.want {
			t.Errorf("%s: %v", c.name, got)
		}
	}
}

// TestExitIsAmbiguous has a goroutine come back from a system call while sysmon, or a
// thread that found nothing, gives its P up. Its start could be either.
func TestExitIsAmbiguous(t *testing.T) {
	for _, c := range []struct {
		name string
		by   int64 // thread that takes P 0 meanwhile; thread 2, on P 1, gives that up
		want reference.Source
	}{
		{"sysmon", 9, reference.SrcGlobal},
		{"nothing to do", 2, reference.SrcSyscallExit},
	} {
		var f feed
		f.begin(7)
		proc := func(m int64, on int32, p int64, from, to events.State) {
			f.now += 1_000
			f.evs = append(f.evs, events.Event{Kind: events.Proc, Time: f.now, M: m, P: on, G: events.None, Res: p, From: from, To: to})
		}
		proc(2, 1, 1, events.Undetermined, events.Running)
		f.add(events.Event{G: 7, Res: 7, From: events.Running, To: events.Syscall})
		proc(9, events.None, 0, events.Running, events.Idle)
		f.add(events.Event{P: events.None, G: 7, Res: 7, From: events.Syscall, To: events.Runnable})
		p := int64(0)
		if c.by == 2 {
			p = 1
			proc(2, 1, 1, events.Running, events.Idle)
		}
		proc(0, events.None, p, events.Idle, events.Running)
		f.add(events.Event{P: int32(p), G: events.None, Res: 7, From: events.Runnable, To: events.Running})
		got := f.starts(nil)
		if want := reference.Known(reference.Ambiguous, reference.RuleLookahead); len(got) != 1 || got[0].Src != c.want || got[0].Basis != want {
			t.Errorf("%s: %v, want %v, %v", c.name, got, c.want, want)
		}
	}
}

// TestFetched has P 0 start a goroutine that may have been put elsewhere 10 ns before.
func TestFetched(t *testing.T) {
	const ready, by = 100, 1
	for _, c := range []struct {
		name string
		m    int32 // thread that starts it
		came int64 // when that came for P 0
		src  reference.Source
		want bool
	}{
		{"a thread that was woken", 2, ready + 1, reference.SrcGlobal, true},
		{"for its 61st tick, too", 2, ready + 1, reference.SrcGlobalTick, true},
		{"one that had come before", 2, ready, reference.SrcGlobal, false},
		{"from elsewhere", 2, ready + 1, reference.SrcSteal, false},
		{"the one that put it", by, ready + 1, reference.SrcGlobal, false},
	} {
		r := ahead(1, nil, nil)
		r.step.ps.pStates[0].came = c.came
		rec := &record{m: c.m, p: 0}
		if got := r.step.ahead.fetched(rec, &goroutine{wait: wait{readyAt: ready, readyM: by}}, c.src); got != c.want {
			t.Errorf("%s: %v", c.name, got)
		}
	}
}
