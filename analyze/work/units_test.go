package work

import (
	"fmt"
	"maps"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/gmpscope/gmpscope/reference"
)

const (
	serve   = "main.serveConn"
	pollIn  = "internal/poll.(*FD).Read"
	pollOut = "internal/poll.(*FD).Write"
)

func want(t *testing.T, got []Unit, want ...Unit) {
	t.Helper()
	if d := cmp.Diff(want, got); d != "" {
		t.Errorf("units (-want +got):\n%s", d)
	}
}

// A server's unit lasts from the wake-up at its read to its last write, whatever follows,
// and is named by its handler.
func TestServer(t *testing.T) {
	p := newPlay(t)
	home := p.stack(serve, "net.(*conn).Read", pollIn)
	work := p.stack(serve+":2", "main.report", "time.Sleep")
	answer := p.stack(serve+":3", "net.(*conn).Write", pollOut)
	p.begin(1)
	var units []Unit
	for i := range 5 {
		p.block(1, reference.ReasonNetwork, home, 1000)
		from := p.now
		p.call(1, home, 10).block(1, reference.ReasonSleep, work, 300).call(1, answer, 20)
		if units = append(units, Unit{serve, "main.serveConn", Cycle, 1, from, p.now}); i == 4 {
			break
		}
		p.after(77)
	}
	want(t, p.units(), units[:4]...) // the last is open
}

// A worker's unit lasts from the wake-up at its receive until it is back there.
func TestWorker(t *testing.T) {
	p := newPlay(t)
	home, work := p.stack("main.worker", "runtime.chanrecv1"), p.stack("main.worker:2", "main.do", "sync.(*Mutex).Lock")
	p.begin(1)
	var units []Unit
	for range 5 {
		p.block(1, reference.ReasonChanReceive, home, 1000)
		from := p.now
		p.after(50).block(1, reference.ReasonSync, work, 9000).after(50)
		units = append(units, Unit{"main.worker", "main.worker", Cycle, 1, from, p.now})
	}
	p.block(1, reference.ReasonChanReceive, home, 1000)
	want(t, p.units(), units...)
}

// A goroutine that is woken at a Cond and finds nothing does no unit.
func TestWokenForNothing(t *testing.T) {
	p := newPlay(t)
	home, work := p.stack("main.worker", "sync.(*Cond).Wait"), p.stack("main.worker:2", "syscall.write")
	p.begin(1)
	for range 4 {
		p.block(1, reference.ReasonCond, home, 1000).after(200)
	}
	p.block(1, reference.ReasonCond, home, 1000)
	from := p.now
	p.call(1, work, 500)
	to := p.now
	p.block(1, reference.ReasonCond, home, 1000)
	want(t, p.units(), Unit{"main.worker", "main.worker", Cycle, 1, from, to})
}

// A goroutine that does one job is a unit from creation to end, without its deferred calls.
func TestLifetime(t *testing.T) {
	p := newPlay(t)
	start, work := p.stack("main.main:3"), p.stack("main.job:5", "os.(*File).Read")
	deferred := p.stack("main.job:9", "main.job.func1", "syscall.write")
	p.begin(1)
	var units []Unit
	for g := int64(2); g < 6; g++ {
		from := p.now
		p.create(1, g, "main.job", start).call(g, work, 100).after(10)
		units = append(units, Unit{"main.job", "main.job", Lifetime, g, from, p.now})
		p.call(g, deferred, 40).exit(g)
	}
	want(t, p.units(), units...)
}

// A goroutine that loops at a send makes units between sends.
func TestProducer(t *testing.T) {
	p := newPlay(t)
	send := p.stack("main.produce", "runtime.chansend1")
	p.begin(1)
	var units []Unit
	for i := range 5 {
		from := p.now
		p.after(30).block(1, reference.ReasonChanSend, send, 1000)
		if i > 0 {
			units = append(units, Unit{"main.produce", "main.produce", Producer, 1, from, p.now})
		}
	}
	want(t, p.units(), units...)
}

// A parallel test begins when T.Parallel returns. The harness' goroutine does no units.
func TestTests(t *testing.T) {
	p := newPlay(t)
	runner := p.stack("main.main", "testing.(*M).Run", "testing.(*T).Run", "runtime.chanrecv1")
	parallel := p.stack("testing.tRunner:4", "a/b.TestOne", "testing.(*T).Parallel", "runtime.chanrecv1")
	p.begin(1)
	var units []Unit
	for g := int64(2); g < 6; g++ {
		p.create(1, g, "testing.tRunner", runner).block(g, reference.ReasonChanReceive, parallel, 500)
		from := p.now
		p.after(70).exit(g)
		units = append(units, Unit{"testing.tRunner", "a/b.TestOne", Test, g, from, p.now})
		p.block(1, reference.ReasonChanReceive, runner, 100)
	}
	want(t, p.units(), units...)
}

// A benchmark's unit lies between the stops of the world of its timer, as the harness calls
// them; the benchmark's own are pauses. Only the last run is measured.
func TestBenchmark(t *testing.T) {
	p := newPlay(t)
	const once, launch = "testing.(*B).run1.func1", "testing.(*B).launch"
	timer := func(start, fn string, from ...string) int32 {
		return p.stack(append(append([]string{start, "testing.(*B).runN"}, from...), fn, "runtime.ReadMemStats")...)
	}
	var units []Unit
	run := func(g int64, start string, how How) {
		p.begin(g).stopWorld(g, timer(start, "testing.(*B).StartTimer"), 10)
		from := p.now
		p.block(g, reference.ReasonSync, p.stack(start, "testing.(*B).runN", "a/b.BenchmarkOne", "main.do", "sync.(*Mutex).Lock"), 90)
		p.stopWorld(g, timer(start, "testing.(*B).StopTimer", "a/b.BenchmarkOne"), 5).after(20)
		units = append(units, Unit{start, "a/b.BenchmarkOne", how, g, from, p.now})
		p.stopWorld(g, timer(start, "testing.(*B).StopTimer"), 10).after(5).stopWorld(g, timer(start, "testing.(*B).StopTimer"), 10)
	}
	run(1, once, Calibration)
	run(2, launch, Calibration)
	run(2, launch, Benchmark)
	run(3, once, Calibration)
	run(4, launch, Benchmark)
	run(5, once, Benchmark)
	run(6, once, Benchmark)
	want(t, p.units(), units...)
}

// A benchmark is a kind for each GOMAXPROCS that it ran with.
func TestLegs(t *testing.T) {
	p := newPlay(t)
	timer := func(start, fn string) int32 {
		return p.stack(start, "testing.(*B).runN", "testing.(*B)."+fn, "runtime.ReadMemStats")
	}
	for g, procs := range []int32{1, 1, 4, 4, 4} {
		p.add(reference.Decision{Kind: reference.KindProcs, Batch: procs})
		start := "testing.(*B).run1.func1"
		p.begin(int64(g)+1).stopWorld(int64(g)+1, timer(start, "StartTimer"), 10)
		p.block(int64(g)+1, reference.ReasonSync, p.stack(start, "testing.(*B).runN", "a/b.BenchmarkOne", "main.do", "sync.(*Mutex).Lock"), 90)
		p.stopWorld(int64(g)+1, timer(start, "StopTimer"), 10)
	}
	a, got := New(p.options()), map[string]int64{}
	feed(a, p.ds)
	for _, k := range a.Finish(p.now, p.now, itself).Kinds {
		if k.How == Benchmark.String() {
			got[k.Name] = k.Count
		}
	}
	want := map[string]int64{"a/b.BenchmarkOne": 2, "a/b.BenchmarkOne-4": 3}
	if !maps.Equal(got, want) {
		t.Errorf("%v, want %v", got, want)
	}
}

// What B.Loop measures begins when it is called first, and ends when it returns false.
func TestBenchmarkLoop(t *testing.T) {
	p := newPlay(t)
	const start, run = "testing.(*B).run1.func1", "testing.(*B).runN"
	stack := func(rest ...string) int32 { return p.stack(append([]string{start, run}, rest...)...) }
	p.begin(1).stopWorld(1, stack("testing.(*B).StartTimer", "runtime.ReadMemStats"), 10).after(500)
	p.stopWorld(1, stack("a/b.BenchmarkOne", "testing.(*B).Loop", "testing.(*B).loopSlowPath", "testing.(*B).ResetTimer", "runtime.ReadMemStats"), 10)
	from := p.now
	p.block(1, reference.ReasonSync, stack("a/b.BenchmarkOne", "main.do", "sync.(*Mutex).Lock"), 90)
	to := p.now
	p.stopWorld(1, stack("a/b.BenchmarkOne", "testing.(*B).Loop", "testing.(*B).loopSlowPath", "testing.(*B).StopTimer", "runtime.ReadMemStats"), 10)
	want(t, p.units(), Unit{start, "a/b.BenchmarkOne", Benchmark, 1, from, to})
}

// A test is named by what a file of tests has, though a helper elsewhere runs all of them.
func TestNameOfTest(t *testing.T) {
	p := newPlay(t)
	helper := p.stack("testing.tRunner", "a/suite.Run.func1", "os.Open")
	test := p.stack("testing.tRunner", "a/suite.Run.func1", "reflect.Value.Call", "a.(*s).TestOne", "os.Open")
	p.stacks[test][1].File = "a/s_test.go"
	p.begin(1)
	from := p.now
	p.create(1, 2, "testing.tRunner", 0).call(2, helper, 10).call(2, test, 10).call(2, helper, 10)
	to := p.now
	p.exit(2)
	want(t, p.units(), Unit{"testing.tRunner", "a.(*s).TestOne", Test, 2, from, to})
}

// The lines of main that follow each other are phases; a loop is none.
func TestPhases(t *testing.T) {
	p := newPlay(t)
	load, solve := p.stack("main.main:1", "main.load", "syscall.read"), p.stack("main.main:2", "main.solve", "main.a", "sync.(*WaitGroup).Wait")
	other := p.stack("main.main:2", "main.solve:2", "main.b", "sync.(*WaitGroup).Wait")
	p.begin(1).call(1, load, 100).after(50).call(1, load, 100)
	loaded := p.now
	p.after(10)
	from := p.now
	p.block(1, reference.ReasonSync, solve, 400).block(1, reference.ReasonSync, other, 400).block(1, reference.ReasonSync, solve, 400)
	want(t, p.units(),
		Unit{"main.main", "main.load", Phase, 1, 0, loaded},
		Unit{"main.main", "main.solve", Phase, 1, from, p.now})
}

// A goroutine that loops, and never waits for more to do, does one unit. Where nothing begins from
// outside, the program does one, too.
func TestRun(t *testing.T) {
	p := newPlay(t)
	lock, wait := p.stack("main.loop", "sync.(*Mutex).Lock"), p.stack("main.main", "sync.(*WaitGroup).Wait")
	p.begin(1).stop(1, reference.ReasonSync, wait).after(70).begin(2)
	from := p.now
	for range 150 {
		p.after(10).block(2, reference.ReasonSync, lock, 20)
	}
	p.after(5).call(2, p.stack("main.loop:2", "os.Open"), 5)
	did := p.now
	p.stop(2, reference.ReasonSync, lock).after(500)
	want(t, p.units(), Unit{"main.loop", "main.loop", Run, 2, from, did}, Unit{"main.main", "main.main", Run, 1, 0, p.now})
	if d := cmp.Diff(map[string]bool{"main.loop": false, "main.main": true}, p.entries()); d != "" {
		t.Errorf("(-want +got):\n%s", d)
	}
}

// A run does not reach over a gap.
func TestRunAfterGap(t *testing.T) {
	p := newPlay(t)
	lock := p.stack("main.loop", "sync.(*Mutex).Lock")
	p.begin(2).block(2, reference.ReasonSync, lock, 20)
	p.add(reference.Decision{Kind: reference.KindLost, G: reference.NoG, Wait: 500})
	p.after(500)
	from := p.now
	p.begin(2).block(2, reference.ReasonSync, lock, 20).block(2, reference.ReasonSync, lock, 20).after(9)
	want(t, p.units(), Unit{"main.loop", "main.loop", Run, 2, from, p.now}, Unit{"main.main", "main.main", Run, 1, from, p.now})
}

// What the program marked itself is a unit, and not inferred again.
func TestAnnotated(t *testing.T) {
	p := newPlay(t)
	home := p.stack("main.worker", "runtime.chanrecv1")
	p.begin(1)
	var units []Unit
	for i := range int64(4) {
		p.block(1, reference.ReasonChanReceive, home, 1000)
		from := p.now
		p.annotate(reference.KindTaskBegin, 1, i+1, 0).annotate(reference.KindRegionBegin, 1, i+1, 1).after(40)
		units = append(units, Unit{"main.worker", "b", Region, 1, from, p.now})
		p.annotate(reference.KindRegionEnd, 1, i+1, 1).after(7)
		units = append(units, Unit{"main.worker", "a", Task, 1, from, p.now})
		p.annotate(reference.KindTaskEnd, 1, i+1, 0)
	}
	p.block(1, reference.ReasonChanReceive, home, 1000)
	want(t, p.units(), units...)
}

// Tasks and regions of which the trace misses an end are open. After a gap it is not known which
// began before.
func TestOpenAnnotations(t *testing.T) {
	const begins, ends, task, taskEnds = reference.KindRegionBegin, reference.KindRegionEnd, reference.KindTaskBegin, reference.KindTaskEnd
	gap := func(p *play) {
		p.add(reference.Decision{Kind: reference.KindLost, G: reference.NoG, Wait: 500})
		p.after(500).begin(1)
	}
	for name, c := range map[string]struct {
		do          func(p *play)
		open, whole int64
		inside      float64 // of 1000 ns
	}{
		"a region without its end":   {func(p *play) { p.after(100).annotate(begins, 1, 0, 1).after(900) }, 1, 0, 0.9},
		"one whose goroutine ends":   {func(p *play) { p.annotate(begins, 1, 0, 1).after(400).exit(1).after(600) }, 1, 0, 0.4},
		"a task without its end":     {func(p *play) { p.after(100).annotate(task, 1, 1, 1).after(900) }, 1, 0, 0.9},
		"one whose goroutine has":    {func(p *play) { p.annotate(task, 1, 1, 1).after(400).exit(1).after(600) }, 1, 0, 1},
		"a region without its begin": {func(p *play) { p.after(300).annotate(ends, 1, 0, 1).after(700) }, 1, 0, 0.3},
		"a task without its begin":   {func(p *play) { p.after(300).annotate(taskEnds, 1, 1, 1).after(700) }, 1, 0, 0.3},
		"a task that begins twice": {func(p *play) {
			p.annotate(task, 1, 1, 1).after(300).annotate(task, 1, 1, 1).after(200).annotate(taskEnds, 1, 1, 1).after(500)
		}, 0, 1, 0.5},
		"a region over a gap": {func(p *play) {
			p.annotate(begins, 1, 0, 1).after(250)
			gap(p)
			p.after(50).annotate(ends, 1, 0, 1).after(200)
		}, 1, 0, 0.25},
		"a task over a gap": {func(p *play) {
			p.annotate(task, 1, 1, 1).after(250)
			gap(p)
			p.after(50).annotate(taskEnds, 1, 1, 1).after(200)
		}, 1, 0, 0.25},
		"more regions than are known": {func(p *play) {
			for range maxRegions + 1 {
				p.annotate(begins, 1, 0, 1)
			}
			p.after(500)
			for range maxRegions + 1 {
				p.annotate(ends, 1, 0, 1)
			}
			p.after(500)
		}, 0, 1, 0.5},
	} {
		p := newPlay(t)
		p.begin(1)
		c.do(p)
		a := New(p.options())
		feed(a, p.ds)
		var kinds []UnitKind
		for _, k := range a.Finish(p.now, 1000, itself).Kinds {
			if k.How == "task" || k.How == "region" {
				kinds = append(kinds, k)
			}
		}
		if len(kinds) != 1 || kinds[0].Open != c.open || kinds[0].Count != c.whole || kinds[0].Concurrency != c.inside {
			t.Errorf("%s: %+v", name, kinds)
		}
	}
}

// No unit reaches over a gap.
func TestGap(t *testing.T) {
	p := newPlay(t)
	home, work := p.stack("main.worker", "runtime.chanrecv1"), p.stack("main.worker:2", "main.do", "sync.(*Mutex).Lock")
	p.begin(1)
	var units []Unit
	for i := range 6 {
		p.block(1, reference.ReasonChanReceive, home, 1000)
		from := p.now
		p.block(1, reference.ReasonSync, work, 100)
		if i == 2 {
			p.add(reference.Decision{Kind: reference.KindStop, Why: reference.WhyLost, G: 1, P: 1})
			p.add(reference.Decision{Kind: reference.KindLost, G: reference.NoG, Wait: 500})
			p.after(500).begin(1)
			continue
		}
		units = append(units, Unit{"main.worker", "main.worker", Cycle, 1, from, p.now})
	}
	p.block(1, reference.ReasonChanReceive, home, 1000)
	want(t, p.units(), units...)
}

// However many classes and stacks there are, memory is bounded, and what fits is found.
func TestBounds(t *testing.T) {
	p := newPlay(t)
	start := p.stack("main.main")
	p.begin(1)
	for g := int64(2); g < maxClasses+1000; g++ {
		p.create(1, 2, fmt.Sprint("main.job", g), start).after(10).exit(2)
	}
	deep := []string{"main.deep"}
	for i := range 2 * maxNodes {
		deep = append(deep, fmt.Sprint("main.f", i))
	}
	p.begin(3).call(3, p.stack(deep...), 10)
	a := New(p.options())
	feed(a, p.ds)
	a.Finish(p.now, p.now, itself)
	if n := len(a.classes); n > maxClasses {
		t.Errorf("%d classes", n)
	}
	for _, c := range a.classes {
		if n := len(c.tree.nodes); n > maxNodes {
			t.Errorf("a tree of %d nodes", n)
		}
	}
}

// Events that classes keep until they are decided are bounded, and so are records of
// goroutines that have ended.
func TestEventsBounded(t *testing.T) {
	p := newPlay(t)
	start := p.stack("main.main")
	p.begin(1)
	a := New(p.options())
	a.limit = 100
	for g := int64(2); g < 500; g++ {
		p.create(1, 2, fmt.Sprint("main.job", g%50), start).after(10).exit(2)
	}
	feed(a, p.ds)
	if a.events > a.limit || a.made > int32(a.limit) {
		t.Errorf("%d events, %d records", a.events, a.made)
	}
}

// A class is decided again when it has blocked ten times as often. Home changes only where another
// place has twice the weight; the units that it had stand.
func TestDecidedAgain(t *testing.T) {
	for _, c := range []struct {
		later  int64 // ns at the place that was not home
		change bool
	}{{1900, false}, {2100, true}} {
		p := newPlay(t)
		first, second := p.stack("main.loop", "runtime.chanrecv1"), p.stack("main.loop:2", "runtime.chanrecv1")
		p.begin(1)
		for i := range 700 {
			ns := int64(100)
			if i > 100 {
				ns = c.later
			}
			p.block(1, reference.ReasonChanReceive, first, 1000).after(5).block(1, reference.ReasonChanReceive, second, ns).after(7)
		}
		a := New(p.options())
		a.enough = 100
		feed(a, p.ds)
		k := a.Finish(p.now, p.now, itself).Kinds[0]
		if (k.SinceNs > 0) != c.change || (k.Home.Line == 2) != c.change || k.Count < 650 {
			t.Errorf("%d ns: home at line %d since %d, %d units", c.later, k.Home.Line, k.SinceNs, k.Count)
		}
	}
}

// A goroutine that waits at one place after the other does a round, from the place where it waits
// longest. One that waits at either does a unit each time.
func TestRound(t *testing.T) {
	for _, turns := range []bool{true, false} {
		p := newPlay(t)
		fetch := p.stack("main.main.func1", "main.consume", "main.fetch", "net.(*conn).Read", pollIn)
		commit := p.stack("main.main.func1", "main.consume:2", "main.commit", "net.(*conn).Read", pollIn)
		p.begin(1)
		var units []Unit
		for i := range 20 {
			p.block(1, reference.ReasonNetwork, fetch, 1000)
			from := p.now
			if turns || i%2 == 0 {
				if p.after(50); !turns {
					units, from = append(units, Unit{"main.main.func1", "main.main.func1", Cycle, 1, from, p.now}), p.now+10
				}
				p.block(1, reference.ReasonNetwork, commit, 10)
			}
			p.after(7)
			units = append(units, Unit{"main.main.func1", "main.main.func1", Cycle, 1, from, p.now})
		}
		p.block(1, reference.ReasonNetwork, fetch, 1000)
		want(t, p.units(), units...)
	}
}

// A handler of HTTP/2 ends when its answer is handed over, though nothing else was seen of it.
func TestHandlerOfHTTP2(t *testing.T) {
	const loop, handle = "net/http.(*conn).serve", "net/http.(*http2serverConn).runHandler"
	p := newPlay(t)
	answer := p.stack(handle+":2", handle+".func1", "net/http.(*http2responseWriter).handlerDone", "runtime.selectgo")
	p.begin(1)
	var units []Unit
	for g := int64(2); g < 6; g++ {
		from := p.now
		p.create(1, g, handle, p.stack(loop, "net/http.(*http2serverConn).serve")).after(10)
		units = append(units, Unit{handle, handle, Lifetime, g, from, p.now})
		p.block(g, reference.ReasonSelect, answer, 40).exit(g)
	}
	want(t, p.units(), append(units, Unit{loop, loop, Run, 1, 0, p.now})...)
}

// The first unit of a connection begins when its first request has come, after what the library
// does with the connection.
func TestFirstRequest(t *testing.T) {
	const conn = "net/http.(*conn).serve"
	p := newPlay(t)
	home := p.stack(conn+":3", "net.(*conn).Read", pollIn)
	answer := p.stack(conn+":4", "net.(*conn).Write", pollOut)
	shake, hello := p.stack(conn+":1", "crypto/tls.(*Conn).HandshakeContext", "net.(*conn).Read", pollIn), p.stack(conn+":1", "crypto/tls.(*Conn).HandshakeContext", "net.(*conn).Write", pollOut)
	first := p.stack(conn+":2", "net/http.(*conn).readRequest", "net.(*conn).Read", pollIn)
	p.begin(1).create(1, 2, conn, 0).call(2, shake, 5).block(2, reference.ReasonNetwork, shake, 50).call(2, hello, 5).call(2, first, 5).block(2, reference.ReasonNetwork, first, 50)
	var units []Unit
	for range 4 {
		from := p.now
		p.after(40).call(2, answer, 5)
		units = append(units, Unit{conn, conn, Cycle, 2, from, p.now})
		p.after(5).block(2, reference.ReasonNetwork, home, 50)
	}
	want(t, p.units(), units...)
}

// Lines of libraries are no phases, nor is a line that is all of what it is a part of.
func TestNoPhases(t *testing.T) {
	p := newPlay(t)
	first, last := p.stack("main.main:1", "main.load", "os.Open"), p.stack("main.main:2", "main.solve", "main.a", "os.Open")
	look, run := p.stack("main.main:2", "main.solve:2", "os/exec.(*Cmd).Run", "os/exec.LookPath", "os.Stat"), p.stack("main.main:2", "main.solve:2", "os/exec.(*Cmd).Run:2", "os.StartProcess")
	p.begin(1).call(1, first, 100)
	loaded := p.now
	p.call(1, last, 1)
	from := p.now - 1
	p.call(1, look, 500).call(1, run, 500)
	want(t, p.units(),
		Unit{"main.main", "main.load", Phase, 1, 0, loaded},
		Unit{"main.main", "main.solve", Phase, 1, from, p.now})
}

// Where goroutines wait longer at places to which they do not come back, no home is claimed. One
// that is found by few waits is ambiguous.
func TestIrregular(t *testing.T) {
	for _, c := range []struct {
		once, waits int64
		basis       string
	}{{90, 4, "ambiguous"}, {90, 20, "inferred"}, {110, 20, ""}} {
		p := newPlay(t)
		p.begin(1)
		for i := range c.waits {
			p.block(1, reference.ReasonChanReceive, p.stack("main.loop", "runtime.chanrecv1"), 100).after(5)
			p.block(1, reference.ReasonSync, p.stack("main.loop:2", "sync.(*Mutex).Lock"), 1)
			once := p.stack("main.loop", "time.Sleep")
			p.stacks[once][1].Line = uint64(10 + i)
			p.block(1, reference.ReasonSleep, once, c.once)
		}
		a := New(p.options())
		feed(a, p.ds)
		got := ""
		for _, k := range a.Finish(p.now, p.now, itself).Kinds {
			if k.How == "cycle" {
				got = k.Basis
			}
		}
		if got != c.basis {
			t.Errorf("%+v: %q", c, got)
		}
	}
}

// Home is where it is said to be, whatever goroutines do.
func TestGivenHome(t *testing.T) {
	p := newPlay(t)
	long, short := p.stack("main.loop", "main.first", "runtime.chanrecv1"), p.stack("main.loop:2", "main.second", "main.third", "runtime.chanrecv1")
	p.begin(1)
	var units []Unit
	for i := range 5 {
		from := p.now - 7
		p.block(1, reference.ReasonChanReceive, long, 1000).after(5)
		if i > 0 {
			units = append(units, Unit{"main.loop", "main.loop", Cycle, 1, from, p.now})
		}
		at := short
		if i%2 > 0 {
			at = p.stack("main.loop:3", "main.second:4", "runtime.chanrecv1")
		}
		p.block(1, reference.ReasonChanReceive, at, 10).after(7)
	}
	o := p.options()
	o.IsHome = func(start, function string) bool { return start == "main.loop" && function == "main.second" }
	var got []Unit
	o.OnUnit = func(u Unit) { got = append(got, u) }
	a := New(o)
	feed(a, p.ds)
	k := a.Finish(p.now, p.now, itself).Kinds[0]
	want(t, got, units...)
	if k.Basis != "assumed" || k.Home.Function != "main.second" {
		t.Errorf("basis %s, home %+v", k.Basis, k.Home)
	}
}

// A client that sleeps after each answer paces itself; one that sleeps once in a while waits for
// answers.
func TestSeldom(t *testing.T) {
	for _, c := range []struct {
		every int
		line  int64
	}{{1, 2}, {10, 1}} {
		p := newPlay(t)
		ask, answer := p.stack("main.poll", "net.(*conn).Write", pollOut), p.stack("main.poll", "net.(*conn).Read", pollIn)
		pause := p.stack("main.poll:2", "time.Sleep")
		p.begin(1)
		for i := range 100 {
			p.call(1, ask, 5).block(1, reference.ReasonNetwork, answer, 100).after(5)
			if i%c.every == 0 {
				p.block(1, reference.ReasonSleep, pause, 300)
			}
		}
		a := New(p.options())
		feed(a, p.ds)
		if k := a.Finish(p.now, p.now, itself).Kinds[0]; k.Home == nil || k.Home.Line != c.line {
			t.Errorf("a pause after each %d answers: home %+v", c.every, k.Home)
		}
	}
}

// A wait within a package that reads lines or messages is one of the function that calls it.
func TestSite(t *testing.T) {
	for _, pkg := range []string{"net/textproto.(*Reader).ReadLine", "encoding/json.(*Decoder).Decode", "encoding/gob.(*Decoder).Decode", "encoding/binary.Read", "fmt.Fscan"} {
		p := newPlay(t)
		home := p.stack("main.loop", pkg, "bufio.(*Reader).Read", "net.(*conn).Read", pollIn)
		p.begin(1)
		for range 5 {
			p.block(1, reference.ReasonNetwork, home, 1000).after(50)
		}
		a := New(p.options())
		feed(a, p.ds)
		if k := a.Finish(p.now, p.now, itself).Kinds[0]; k.Home == nil || k.Home.Function != "main.loop" {
			t.Errorf("%s: %+v", pkg, k.Home)
		}
	}
}

// What a benchmark or main marks is no run of a benchmark, and no phase.
func TestAnnotatedRun(t *testing.T) {
	for _, inside := range []bool{true, false} {
		p := newPlay(t)
		timer := func(does string) int32 {
			return p.stack("testing.(*B).launch", "testing.(*B).runN", does, "runtime.ReadMemStats")
		}
		p.begin(1)
		from := p.now
		region := func(k reference.Kind, here bool) {
			if here {
				p.annotate(k, 1, 1, 0)
			}
		}
		region(reference.KindRegionBegin, !inside)
		p.stopWorld(1, timer("testing.(*B).StartTimer"), 10)
		if inside {
			from = p.now
		}
		region(reference.KindRegionBegin, inside)
		p.after(50)
		to := p.now
		region(reference.KindRegionEnd, inside)
		p.stopWorld(1, timer("testing.(*B).StopTimer"), 10)
		if !inside {
			to = p.now
		}
		region(reference.KindRegionEnd, !inside)
		want(t, p.units(), Unit{"testing.(*B).launch", "a", Region, 1, from, to})
	}
	p := newPlay(t)
	p.begin(1).call(1, p.stack("main.main", "main.load", "os.Open"), 100).annotate(reference.KindRegionBegin, 1, 1, 0)
	from := p.now
	p.call(1, p.stack("main.main:2", "main.solve", "os.Open"), 100).annotate(reference.KindRegionEnd, 1, 1, 0)
	want(t, p.units(), Unit{"main.main", "a", Region, 1, from, p.now})
}

// Tested is what lies beside tests: in the module that was built, or in the folder of a version.
func TestTested(t *testing.T) {
	for _, module := range []string{"/src/a", "/mod/a@v1.2.0"} {
		p := newPlay(t)
		stack := p.stack("testing.tRunner", "a.TestOne", "a.do", "dep.wait", "time.Sleep")
		for i, file := range []string{"/go/testing.go", module + "/a_test.go", module + "/a.go", "/mod/dep@v1.0.0/dep.go", "/go/sleep.go"} {
			p.stacks[stack][4-i].File = file
		}
		places := newPlaces(func(stack int32) []*Frame { return p.stacks[stack] })
		places.at(stack)
		for function, want := range map[string]bool{"testing.tRunner": false, "a.TestOne": false, "a.do": true, "dep.wait": false, "time.Sleep": false} {
			if got := places.tested(places.function(function)); got != want {
				t.Errorf("%s: %s is tested: %v", module, function, got)
			}
		}
	}
}
