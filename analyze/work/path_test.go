package work

import (
	stdcmp "cmp"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/gmpscope/gmpscope/reference"
)

// stop has a goroutine block, wake has another, or 0 for the network, let it run.
func (p *play) stop(g int64, r reference.Reason, stack int32) *play {
	p.add(reference.Decision{Kind: reference.KindStop, Why: reference.WhyBlock, Reason: r, G: g, P: int32(g), Stack: stack})
	return p
}

func (p *play) wake(by, g int64) *play {
	why := reference.WhyUnblock
	if by == 0 {
		by, why = -1, reference.WhyNetwork
	}
	p.add(reference.Decision{Kind: reference.KindReady, Why: why, G: g, By: by, P: int32(max(by, 0)), Stack: p.waking})
	p.add(reference.Decision{Kind: reference.KindStart, G: g, P: int32(g)})
	return p
}

// slowest plays to the end, and returns the segments of the slowest unit of a kind.
func (p *play) slowest(kind string) []Segment {
	p.t.Helper()
	a := New(p.options())
	feed(a, p.ds)
	for _, k := range a.Finish(p.now, p.now, itself).Kinds {
		if k.Name == kind && k.Count > 0 {
			return k.Slowest[0].Segments
		}
	}
	p.t.Fatalf("no unit of %s", kind)
	return nil
}

// A lock goes through the hands of those who stood in line before: what each did with it is
// what the last one waited for.
func TestLockPath(t *testing.T) {
	p := newPlay(t)
	start, read := p.stack("main.main"), p.stack("main.(*store).put", "os.(*File).Sync")
	lock := p.stack("main.job", "main.(*store).put", "sync.(*Mutex).Lock")
	p.begin(1)
	p.create(1, 2, "main.job", start).create(1, 3, "main.job", start).create(1, 4, "main.job", start)
	p.after(10).stop(3, reference.ReasonSync, lock).stop(4, reference.ReasonSync, lock)
	p.call(2, read, 500).wake(2, 3).exit(2)
	p.after(70).wake(3, 4).exit(3)
	p.after(5).exit(4)
	via := &Via{"lock", "main.(*store).put"}
	want := []Segment{
		{nil, Leaf{"main.job", "running", "", ""}, 10},
		{via, Leaf{"main.job", "syscall", "", "main.(*store).put"}, 500}, // by 2, which gave it to 3
		{via, Leaf{"main.job", "running", "", ""}, 70},                   // by 3
		{nil, Leaf{"main.job", "running", "", ""}, 5},
	}
	if d := cmp.Diff(want, p.slowest("main.job")); d != "" {
		t.Errorf("(-want +got):\n%s", d)
	}
}

// Who asks a busy worker stands in its queue first, and is served then.
func TestQueuePath(t *testing.T) {
	p := newPlay(t)
	start := p.stack("main.main")
	ask, home := p.stack("main.job", "main.ask", "runtime.chanrecv1"), p.stack("main.worker", "runtime.chanrecv1")
	p.waking = p.stack("main.worker:2", "runtime.chansend1")
	p.begin(1).create(1, 2, "main.worker", start)
	for range enoughBlocks + 20 { // until it is known where the worker waits
		p.stop(2, reference.ReasonChanReceive, home).after(10).wake(0, 2).after(10)
	}
	p.create(1, 3, "main.job", start)
	p.after(4).stop(3, reference.ReasonChanReceive, ask)
	p.after(300) // of another unit
	p.stop(2, reference.ReasonChanReceive, home).after(1).wake(0, 2).after(60).wake(2, 3).after(2).exit(3)
	via := &Via{"channel", "main.ask"}
	want := []Segment{
		{nil, Leaf{"main.job", "running", "", ""}, 4},
		{via, Leaf{"main.worker", "running", "queue", ""}, 300},
		{via, Leaf{"main.worker", "channel", "", "main.worker"}, 1},
		{via, Leaf{"main.worker", "running", "", ""}, 60},
		{nil, Leaf{"main.job", "running", "", ""}, 2},
	}
	if d := cmp.Diff(want, p.slowest("main.job")); d != "" {
		t.Errorf("(-want +got):\n%s", d)
	}
}

// How often a unit waits for something is counted, not for how many things it does so.
func TestWaitsAreCounted(t *testing.T) {
	p := newPlay(t)
	start, ask := p.stack("main.main"), p.stack("main.job", "main.ask", "net.(*conn).Read")
	p.begin(1)
	for g := range int64(2) {
		p.create(1, 2+g, "main.job", start)
		for range 5 {
			p.after(4).stop(2+g, reference.ReasonNetwork, ask).after(100).wake(0, 2+g)
		}
		p.exit(2 + g)
	}
	a := New(p.options())
	feed(a, p.ds)
	for _, x := range a.Finish(p.now, p.now, itself).Kinds[0].Path {
		want := int64(0)
		if x.Via != nil {
			want = 10
		}
		if x.Waits != want {
			t.Errorf("%+v: %d waits, want %d", x, x.Waits, want)
		}
	}
}

// Beyond the horizon nothing is known; it is not left out.
func TestHorizon(t *testing.T) {
	p := newPlay(t)
	start, call := p.stack("main.main"), p.stack("main.job", "main.load", "syscall.read")
	p.begin(1).create(1, 2, "main.job", start)
	for range 100 {
		p.call(2, call, 10)
	}
	p.exit(2)
	o := p.options()
	o.Intervals = 64
	a := New(o)
	feed(a, p.ds)
	path := a.Finish(p.now, p.now, itself).Kinds[0].Path
	if len(path) != 2 || path[0].What != "syscall" || path[1].What != "unknown" || path[0].Ns+path[1].Ns != 1000 {
		t.Errorf("path %+v", path)
	}
}

// The typical unit and the slow one are means by rank; their parts add up.
func TestTypical(t *testing.T) {
	k := &kind{rows: make([]row, 1)}
	lock, run := cellOf(0, 0, onLock), cellOf(0, 0, running)
	for i := range int64(1000) {
		wait := int64(100)
		if i >= 950 {
			wait = 9000
		}
		b := k.add(1000 + wait)
		k.book(&segment{cell: lock, ns: wait}, b)
		k.book(&segment{cell: run, ns: 1000}, b)
	}
	got := map[activity][2]int64{}
	typical, slow := k.mean(400, 600), k.mean(950, 1000)
	for i, r := range k.rows {
		got[r.activity()] = [2]int64{typical[i], slow[i]}
	}
	want := map[activity][2]int64{onLock: {100, 9000}, running: {1000, 1000}, notKnown: {}}
	if d := cmp.Diff(want, got); d != "" {
		t.Errorf("(-want +got):\n%s", d)
	}
	if quarter, octave := (&kind{}).add(1000), (&kind{octaves: true}).add(1000); octave != quarter/4 {
		t.Errorf("bins %d and %d", quarter, octave)
	}
	if got := rounded([]float64{0.5, 0.5, 1.3, 2.7}); got[0]+got[1]+got[2]+got[3] != 5 {
		t.Errorf("rounded: %v", got)
	}
}

// Rows beyond the bound go to the rest, and nothing is lost.
func TestRows(t *testing.T) {
	k := &kind{rows: make([]row, 1)}
	for i := range int32(1000) {
		k.book(&segment{cell: cellOf(0, i, onLock), ns: 100}, k.add(100))
	}
	sum := int64(0)
	k.shrink()
	for i := range k.rows {
		sum += k.rows[i].ns
	}
	if len(k.rows) > maxRows+1 || sum != k.total {
		t.Errorf("%d rows of %d ns, want %d", len(k.rows), sum, k.total)
	}
}

// However many steps earlier units took, each has its own.
func TestSteps(t *testing.T) {
	p := newPlay(t)
	start, call := p.stack("main.main"), p.stack("main.job", "main.load", "syscall.read")
	p.begin(1).create(1, 2, "main.job", start).call(2, call, 10).exit(2)
	a := New(p.options())
	a.walk.own.spent = 1 << 40
	feed(a, p.ds)
	path := a.Finish(p.now, p.now, itself).Kinds[0].Path
	if len(path) != 1 || path[0].What != "syscall" {
		t.Errorf("path %+v", path)
	}
}

// Of what is not followed it is known for whom the owner waits.
func TestNotFollowed(t *testing.T) {
	p := newPlay(t)
	start, call := p.stack("main.main"), p.stack("main.job", "main.load", "syscall.read")
	ask := p.stack("main.job", "main.ask", "runtime.chanrecv1")
	p.begin(1).create(1, 2, "main.other", start).create(1, 3, "main.job", start)
	p.stop(3, reference.ReasonChanReceive, ask)
	for range maxSteps {
		p.call(2, call, 10).after(10)
	}
	p.wake(2, 3).exit(3)
	a := New(p.options())
	a.walk.followed.spent = 1 << 40
	feed(a, p.ds)
	const part = 10 * maxSteps / 2 // what is followed, of each kind
	via := &Via{"channel", "main.ask"}
	want := []Segment{
		{via, Leaf{"main.other", "unknown", "", ""}, 20*maxSteps - 2*part},
		{via, Leaf{"main.other", "syscall", "", "main.load"}, part},
		{via, Leaf{"main.other", "running", "", ""}, part},
	}
	var got []Segment
	for _, x := range a.Finish(p.now, p.now, itself).Kinds[0].Path {
		got = append(got, Segment{x.Via, x.Leaf, x.Ns})
	}
	slices.SortFunc(got, func(x, y Segment) int { return stdcmp.Or(stdcmp.Compare(y.Ns, x.Ns), stdcmp.Compare(y.What, x.What)) })
	if d := cmp.Diff(want, got); d != "" {
		t.Errorf("(-want +got):\n%s", d)
	}
}

// A test waits for its sub-tests, though they ended longer ago than paths look back. What it did itself
// then is not known.
func TestSubTests(t *testing.T) {
	p := newPlay(t)
	start, load := p.stack("testing.tRunner"), p.stack("testing.tRunner", "main.TestLoad", "os.Open")
	run := p.stack("testing.tRunner", "main.TestAll", "testing.(*T).Run", "runtime.chanrecv1")
	all := p.stack("testing.tRunner", "main.TestAll", "os.Open")
	p.begin(1).create(1, 2, "testing.tRunner", start).call(2, all, 30)
	for g := int64(3); g < 5; g++ {
		p.create(2, g, "testing.tRunner", start).stop(2, reference.ReasonChanReceive, run)
		p.call(g, load, 100).wake(g, 2).exit(g).call(2, all, 7)
	}
	for range 100 {
		p.call(2, all, 1)
	}
	p.exit(2)
	o := p.options()
	o.Intervals = 64
	a := New(o)
	feed(a, p.ds)
	got := map[string]int64{}
	for _, x := range a.Finish(p.now, p.now, itself).Kinds[0].Path {
		via := ""
		if x.Via != nil {
			via = x.Via.Site + " for " + x.Who + " "
		}
		got[via+x.What] += x.Ns
	}
	const open = 100 - 64 // system calls beyond the horizon
	if d := cmp.Diff(map[string]int64{"testing.(*T).Run for testing.tRunner unknown": 200, "unknown": 30 + 2*7 + open, "syscall": 64}, got); d != "" {
		t.Errorf("(-want +got):\n%s", d)
	}
	if len(a.subTests) > 0 || a.keptSubTests > 0 {
		t.Errorf("%d sub-tests are kept: %v", a.keptSubTests, a.subTests)
	}
}

// What the time of a goroutine was divided into for one of those who waited for it is what it is for
// the others.
func TestPortions(t *testing.T) {
	p := newPlay(t)
	start, load := p.stack("main.main"), p.stack("main.worker", "main.load", "syscall.read")
	ask, lock := p.stack("main.job", "main.ask", "runtime.chanrecv1"), p.stack("main.worker", "main.put", "sync.(*Mutex).Lock")
	p.begin(1).create(1, 2, "main.worker", start).create(1, 3, "main.other", start)
	p.create(1, 90, "main.job", start).call(90, p.stack("main.job:2", "os.Open"), 1e9).exit(90) // whose segments are kept
	for g := int64(4); g < 40; g++ {
		p.create(1, g, "main.job", start).stop(g, reference.ReasonChanReceive, ask).after(3)
	}
	for g := int64(4); g < 40; g++ {
		for i := range 40 + g {
			p.call(2, load, 10*i).after(1).stop(2, reference.ReasonSync, lock).call(3, load, 5).wake(3, 2)
		}
		p.wake(2, g).after(1).exit(g)
	}
	samePortions(t, p, func(w *walk) []portion { return w.lives[1] })
}

// Nor does it matter that those who had a lock one after the other are gone through once for many who waited for it.
func TestTurns(t *testing.T) {
	p := newPlay(t)
	start, load, lock := p.stack("main.main"), p.stack("main.job", "main.load", "syscall.read"), p.stack("main.job", "main.put", "sync.(*Mutex).Lock")
	p.begin(1).create(1, 90, "main.job", start).call(90, p.stack("main.job:2", "os.Open"), 1e9).exit(90)
	const last = 300
	for g := int64(2); g <= last; g++ {
		p.create(1, g, "main.job", start).stop(g, reference.ReasonSync, lock).after(3)
	}
	p.wake(1, 2)
	for g := int64(2); g < last; g++ {
		p.call(g, load, 10*(1+g%7)).after(1).wake(g, g+1).exit(g)
	}
	samePortions(t, p, func(w *walk) []portion { return w.turns })
}

// samePortions expects the same units with and without portions, of which some are kept.
func samePortions(t *testing.T, p *play, of func(*walk) []portion) {
	t.Helper()
	var results [2]Units
	for i := range results {
		o := p.options()
		o.Slowest = 1
		a := New(o)
		a.walk.followed.share = 100 // so that all is followed
		if i > 0 {
			a.walk.recording = &portion{} // no other is recorded meanwhile
		}
		feed(a, p.ds)
		results[i] = a.Finish(p.now, p.now, itself)
		if kept := slices.ContainsFunc(of(&a.walk), func(p portion) bool { return p.n > 0 }); kept != (i == 0) {
			t.Errorf("%d: portions are kept: %v", i, kept)
		}
	}
	if d := cmp.Diff(results[1], results[0]); d != "" {
		t.Errorf("(-without +with):\n%s", d)
	}
}

// Of a wait in a library it is said which of the program's own functions leads there.
func TestFrom(t *testing.T) {
	p := newPlay(t)
	start := p.stack("main.main")
	job := func(calls string) int32 { return p.stack("main.job", calls, "lib.(*DB).Query", "sync.(*Mutex).Lock") }
	load, save, own := job("main.load"), job("main.save"), p.stack("main.job", "main.wait", "sync.(*Mutex).Lock")
	for _, stack := range []int32{load, save} {
		p.stacks[stack][1].File = "lib@v1.0.0/db.go"
	}
	p.begin(1).create(1, 2, "main.job", start).block(2, reference.ReasonSync, load, 10).block(2, reference.ReasonSync, own, 5)
	p.block(2, reference.ReasonSync, save, 30).block(2, reference.ReasonSync, load, 10).exit(2)
	a := New(p.options())
	feed(a, p.ds)
	got := map[string]string{}
	for _, k := range a.Finish(p.now, p.now, itself).Kinds {
		for _, x := range k.Path {
			if x.Via != nil {
				got[x.Via.Site] = x.From
			}
		}
	}
	if d := cmp.Diff(map[string]string{"lib.(*DB).Query": "main.load", "main.wait": ""}, got); d != "" {
		t.Errorf("(-want +got):\n%s", d)
	}
}

// So it is of its own system calls, and of what another goroutine does for which it waits.
func TestCallers(t *testing.T) {
	p := newPlay(t)
	start := p.stack("main.main")
	sync, ask := p.stack("main.job", "main.save", "lib.fsync", "syscall.fsync"), p.stack("main.ask")
	p.stacks[sync][1].File = "lib@v1.0.0/db.go"
	p.begin(1).create(1, 2, "main.job", start).create(1, 3, "main.ask", start)
	p.add(reference.Decision{Kind: reference.KindStop, Why: reference.WhyBlock, Reason: reference.ReasonChanReceive, G: 3, P: 3, Stack: ask})
	p.call(2, sync, 10).add(reference.Decision{Kind: reference.KindReady, Why: reference.WhyUnblock, G: 3, By: 2, P: 2})
	p.add(reference.Decision{Kind: reference.KindStart, G: 3, P: 3})
	p.exit(2).exit(3)
	a := New(p.options())
	feed(a, p.ds)
	got := map[string]string{}
	for _, k := range a.Finish(p.now, p.now, itself).Kinds {
		for _, x := range k.Path {
			if x.Where == "lib.fsync" {
				got[k.Name] = x.From + ", " + x.Caller
			}
		}
	}
	if d := cmp.Diff(map[string]string{"main.job": "main.save, ", "main.ask": ", main.save"}, got); d != "" {
		t.Errorf("(-want +got):\n%s", d)
	}
}

// However many segments a unit has, sums have them all.
func TestManySegments(t *testing.T) {
	p := newPlay(t)
	start := p.stack("main.main")
	load, save := p.stack("main.job", "main.load", "syscall.read"), p.stack("main.job", "main.save", "syscall.write")
	p.begin(1).create(1, 2, "main.job", start)
	for range maxSegments {
		p.call(2, load, 10).call(2, save, 20).after(1)
	}
	p.exit(2)
	a := New(p.options())
	feed(a, p.ds)
	k := a.Finish(p.now, p.now, itself).Kinds[0]
	if len(k.Path) != 3 || k.Path[0].Ns != 20*maxSegments || k.Path[1].Ns != 10*maxSegments || k.Path[2].Ns != maxSegments {
		t.Errorf("path %+v", k.Path)
	}
	if n := len(k.Slowest[0].Segments); n != maxSegments {
		t.Errorf("%d segments of the slowest, want %d", n, maxSegments)
	}
}

// Who signals a sync.Cond may be created while another waits. What its creator did before counts,
// but not of a lock, which its creator does not hold.
func TestCondPath(t *testing.T) {
	for reason, who := range map[reference.Reason]string{reference.ReasonCond: "main.reader", reference.ReasonSync: ""} {
		p := newPlay(t)
		start, load := p.stack("main.main"), p.stack("main.reader", "main.load", "syscall.read")
		p.begin(1).create(1, 2, "main.job", start).create(1, 5, "main.reader", start)
		p.stop(2, reason, p.stack("main.job", "main.wait", "sync.runtime_notifyListWait"))
		p.call(5, load, 500).create(5, 3, "main.signal", load).after(20).wake(3, 2).exit(2)
		if got := p.slowest("main.job"); len(got) != 2 || got[0].Who != who || got[0].Ns != 500 || got[1].Who != "main.signal" || got[1].Ns != 20 {
			t.Errorf("%v: %+v", reason, got)
		}
	}
}
