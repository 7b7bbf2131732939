package work

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/gmpscope/gmpscope/analyze/ledger"
	"github.com/gmpscope/gmpscope/reference"
)

// While a goroutine runs, it may sweep, be on no CPU, or stop the world. What happens on its P
// at other times is not its own.
func TestInsteadOfRunning(t *testing.T) {
	p := newPlay(t)
	start, stop := p.stack("main.main"), p.stack("main.job", "main.measure", "runtime.ReadMemStats")
	call := p.stack("main.job", "main.load", "syscall.read")
	p.begin(1).create(1, 2, "main.job", start).after(100)
	p.call(2, call, 50).after(100).stopWorld(2, stop, 30).after(20)
	p.add(reference.Decision{Kind: reference.KindStop, Why: reference.WhyGosched, G: 2, P: 2})
	p.add(reference.Decision{Kind: reference.KindStart, G: 2, P: 9})
	p.add(reference.Decision{Kind: reference.KindAssistBegin, G: 2, P: 9})
	p.after(30).add(reference.Decision{Kind: reference.KindAssistEnd, G: 2, P: 9})
	p.exit(2)
	p.create(1, 3, "main.other", start).after(10).exit(3)
	a := New(p.options())
	a.Swept([]Stretch{{10, 30, 2}, {20, 40, 1}, {110, 140, 2}, {302, 304, 2}}) // but in the first, it did not run on the P
	f := ledger.NewFeed(func(b *ledger.Block) {
		b.CPUs.Off = []ledger.OffCPUSpan{{From: 25, To: 45, P: 2}, {From: 200, To: 210, P: 2}, {From: 215, To: 220, P: 2}, {From: 310, To: 315, P: 9}}
		a.Add(b, nil)
	})
	f.AddAll(p.ds)
	var got []Segment
	for _, k := range a.Finish(p.now, p.now, itself).Kinds {
		if k.Name == "main.job" {
			got = k.Slowest[0].Segments
		}
	}
	run := Leaf{"main.job", "running", "", ""}
	off := Leaf{"main.job", "off-cpu", "", ""}
	want := []Segment{
		{nil, run, 10},
		{nil, Leaf{"main.job", "gc-sweep", "", ""}, 20},
		{nil, off, 15}, // what comes first counts
		{nil, run, 55},
		{nil, Leaf{"main.job", "syscall", "", "main.load"}, 50},
		{nil, run, 50},
		{nil, off, 10},
		{nil, run, 5},
		{nil, off, 5},
		{nil, run, 30},
		{nil, Leaf{"main.job", "stw", "", "main.measure"}, 30},
		{nil, run, 20},
		{nil, Leaf{"main.job", "gc-assist", "", ""}, 10},
		{nil, off, 5},
		{nil, Leaf{"main.job", "gc-assist", "", ""}, 15},
	}
	if d := cmp.Diff(want, got); d != "" {
		t.Errorf("(-want +got):\n%s", d)
	}
}

// A goroutine that is suspended, waits for a coroutine, or reads what a child process writes.
func TestOtherWaits(t *testing.T) {
	p := newPlay(t)
	start := p.stack("main.main")
	pipe := p.stack("main.job", "os/exec.(*Cmd).Start.func1", "io.Copy", "os.(*File).Read", pollIn)
	p.begin(1).create(1, 2, "main.job", start).after(1)
	for _, why := range []reference.Why{reference.WhySuspend, reference.WhyCoroutine, reference.WhyGosched} {
		p.add(reference.Decision{Kind: reference.KindStop, Why: why, G: 2, P: 2})
		p.after(longYield).wake(1, 2).after(1)
	}
	p.block(2, reference.ReasonNetwork, pipe, 40).exit(2)
	run := Leaf{"main.job", "running", "", ""}
	want := []Segment{
		{nil, run, 1},
		{nil, Leaf{"main.job", "gc-assist", "", ""}, longYield},
		{nil, run, 1},
		{&Via{What: "coroutine"}, Leaf{"main.job", "coroutine", "", ""}, longYield},
		{nil, run, 1},
		{nil, Leaf{"main.job", "runnable", "", ""}, longYield},
		{nil, run, 1},
		{nil, Leaf{"main.job", "child", "", "io.Copy"}, 40},
	}
	if d := cmp.Diff(want, p.slowest("main.job")); d != "" {
		t.Errorf("(-want +got):\n%s", d)
	}
}

// A file that blocks is a pipe; but what it copies from a connection is the network's.
func TestPipes(t *testing.T) {
	for what, in := range map[string][]string{
		"pipe":    {"main.job", "main.load", "os.(*File).Read", pollIn},
		"network": {"main.job", "main.load", "os.(*File).ReadFrom", "net.(*conn).Read", pollIn},
	} {
		p := newPlay(t)
		p.begin(1).create(1, 2, "main.job", p.stack("main.main")).block(2, reference.ReasonNetwork, p.stack(in...), 40).exit(2)
		want := []Segment{{&Via{what, "main.load"}, Leaf{"main.job", what, "", "main.load"}, 40}}
		if d := cmp.Diff(want, p.slowest("main.job")); d != "" {
			t.Errorf("%s (-want +got):\n%s", what, d)
		}
	}
}

// Who polls has two intervals, however often it does: one in which it runs, and one in which it
// waits for a P.
func TestPolls(t *testing.T) {
	p := newPlay(t)
	p.begin(1).create(1, 2, "main.job", p.stack("main.main")).after(1)
	for range 100 {
		p.add(reference.Decision{Kind: reference.KindStop, Why: reference.WhyGosched, G: 2, P: 2})
		p.after(longYield-1).wake(1, 2).after(3)
	}
	p.exit(2)
	want := []Segment{{nil, Leaf{"main.job", "running", "", ""}, 301}, {nil, Leaf{"main.job", "runnable", "", ""}, 100 * (longYield - 1)}}
	if d := cmp.Diff(want, p.slowest("main.job")); d != "" {
		t.Errorf("(-want +got):\n%s", d)
	}
}
