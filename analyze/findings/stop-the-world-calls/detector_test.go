package stoptheworldcalls_test

import (
	"strings"
	"testing"

	"github.com/gmpscope/gmpscope/analyze/findings"
	. "github.com/gmpscope/gmpscope/analyze/findings/findingstest"
	stoptheworldcalls "github.com/gmpscope/gmpscope/analyze/findings/stop-the-world-calls"
	"github.com/gmpscope/gmpscope/analyze/procs"
	"github.com/gmpscope/gmpscope/reference"
)

const (
	readStats = int32(31)
	allocates = int32(32)
	tracer    = int32(33)
	collects  = int32(34)
	setProcs  = int32(35)
	profile   = int32(36)
	trial     = int32(37)
	stopTimer = int32(38)
	ofTest    = int32(39)
)

var stacks = map[int32][]string{
	readStats: {"runtime.stopTheWorldWithSema (proc.go:1)", "runtime.ReadMemStats (mstats.go:2)", "main.agent (main.go:3)", "main.main (main.go:4)"},
	allocates: {"runtime.gcStart (mgc.go:1)", "runtime.mallocgc (malloc.go:2)", "main.handle (main.go:5)"},
	tracer:    {"runtime.StartTrace (trace.go:1)", "runtime/trace.Start (trace.go:2)", "main.main (main.go:4)"},
	setProcs:  {"runtime.stopTheWorldGC (proc.go:1)", "runtime.GOMAXPROCS (debug.go:2)", "main.govern (main.go:7)"},
	profile:   {"runtime.goroutineProfileWithLabels (mprof.go:1)", "runtime/pprof.(*Profile).WriteTo (pprof.go:2)", "net/http/pprof.handler.ServeHTTP (pprof.go:3)", "main.govern (main.go:8)"},
	trial:     {"runtime.GC (mgc.go:2)", "testing.(*B).runN (benchmark.go:3)", "testing.(*B).launch (benchmark.go:4)"},
	stopTimer: {"runtime.ReadMemStats (mstats.go:2)", "testing.(*B).StopTimer (benchmark.go:1)", "main.BenchmarkTrim (main_test.go:3)", "testing.(*B).runN (benchmark.go:3)"},
	ofTest:    {"runtime.ReadMemStats (mstats.go:2)", "main.TestTrim (main_test.go:3)", "testing.tRunner (testing.go:3)"},
	collects:  {"runtime.gcStart (mgc.go:1)", "runtime.GC (mgc.go:2)", "main.trim (main.go:6)"},
}

// stops has n stops of ns each, one every ms, asked for at a stack.
func stops(stack int32, n int, ns int64, gc bool) *Stream {
	s := New(2)
	return stopsFrom(s.Local(1, 0, reference.WhyCreate).Start(1, 0), stack, n, ns, gc)
}

// stopsFrom adds such stops to a stream.
func stopsFrom(s *Stream, stack int32, n int, ns int64, gc bool) *Stream {
	for range n {
		s.Pass(Ms)
		if gc {
			s.Emit(reference.Decision{Kind: reference.KindGCBegin, G: 1, P: 0})
		}
		s.Emit(reference.Decision{Kind: reference.KindSTWBegin, G: 1, P: 0, Stack: stack}).Pass(ns)
		s.Emit(reference.Decision{Kind: reference.KindSTWEnd, G: 1, P: 0})
	}
	return s
}

func detect(s *Stream, marked int64) []findings.Finding {
	return s.DetectWith(stoptheworldcalls.New(stoptheworldcalls.Default()), facts(s, marked))
}

func facts(s *Stream, marked int64) *findings.Facts {
	f := s.Facts()
	f.Stack = func(h int32) []string { return stacks[h] }
	f.Procs.Ps = append(f.Procs.Ps, procs.Proc{GCNs: marked})
	return f
}

func TestNamesWhoStopsTheWorld(t *testing.T) {
	x := One(t, detect(stops(readStats, 200, 100*Us, false), 0), stoptheworldcalls.ID, findings.Warning)
	if want := 200 * 2 * 100 * Us; x.CostNs != want || x.Basis != findings.Certain {
		t.Errorf("cost %d, want %d; %s", x.CostNs, want, x.Basis)
	}
	if want := "main.agent stops the world by calling runtime.ReadMemStats: 200 times, 909 a second"; !strings.HasPrefix(x.Title.String(), want) {
		t.Errorf("%q, want %q", x.Title, want)
	}
	if !strings.Contains(x.Advice[0].String(), "runtime/metrics") {
		t.Error(x.Advice)
	}
}

// Three long stops are enough, and say how long.
func TestFewLongStops(t *testing.T) {
	x := One(t, detect(stops(readStats, 3, 60*Ms, false), 0), stoptheworldcalls.ID, findings.Warning)
	if want := "main.agent stops the world for up to 60 ms at a time"; !strings.HasPrefix(x.Headline.String(), want) {
		t.Errorf("%q, want %q", x.Headline, want)
	}
}

func TestCountsTheMarkingOfCollections(t *testing.T) {
	x := One(t, detect(stops(collects, 100, 10*Us, true), 40*Ms), stoptheworldcalls.ID, findings.Warning)
	if want := 100*2*10*Us + 40*Ms; x.CostNs != want {
		t.Errorf("cost %d, want %d", x.CostNs, want)
	}
	if !strings.Contains(x.Title.String(), "main.trim stops the world by calling runtime.GC") || !strings.Contains(x.Advice[0].String(), "when to collect") {
		t.Error(x.Title, x.Advice)
	}
}

// lowered has three goroutines for two Ps, of which one is taken away for 9 ms of each 10 if
// lower is set, by a call at a stack.
func lowered(n int, lower bool) *Stream {
	s := New(2).Class(2, 1, 2, 3)
	for g := int64(1); g <= 3; g++ {
		s.Local(g, 0, reference.WhyCreate)
	}
	s.Start(1, 0).Start(2, 1)
	for range n {
		for k, ns := range []int64{9 * Ms, Ms} {
			procs := 1 + int32(k)
			s.Emit(reference.Decision{Kind: reference.KindSTWBegin, G: 1, P: 0, Stack: setProcs}).Pass(10 * Us)
			s.Emit(reference.Decision{Kind: reference.KindSTWEnd, G: 1, P: 0})
			if lower {
				s.Emit(reference.Decision{Kind: reference.KindProcs, G: reference.NoG, P: reference.NoP, Batch: procs})
			}
			s.Pass(ns)
		}
	}
	return s
}

func TestCountsThePsThatAreTakenAway(t *testing.T) {
	x := One(t, detect(lowered(20, true), 0), stoptheworldcalls.ID, findings.Critical)
	if least := 20 * 9 * Ms; x.CostNs < least || x.CostNs > least+least/10 {
		t.Errorf("cost %d, want %d and little more", x.CostNs, least)
	}
	if want := "main.govern changes GOMAXPROCS: 180 ms of P-time taken from who waits"; x.Headline.String() != want {
		t.Errorf("%q, want %q", x.Headline, want)
	}
	if x = One(t, detect(lowered(100, false), 0), stoptheworldcalls.ID, findings.Warning); strings.Contains(x.Headline.String(), "taken") {
		t.Error(x.Headline)
	}
}

// Two calls of one function are not told as one.
func TestTellsCallsApart(t *testing.T) {
	s := stops(setProcs, 2, 10*Us, false)
	x := One(t, detect(stopsFrom(s, profile, 100, 10*Us, false), 0), stoptheworldcalls.ID, findings.Note)
	if want := "main.govern stops the world by calling runtime/pprof.(*Profile).WriteTo: 100 times"; !strings.HasPrefix(x.Title.String(), want) {
		t.Errorf("%q, want %q", x.Title, want)
	}
}

func TestLeavesPackageTestingOut(t *testing.T) {
	for stack, want := range map[int32]findings.LeftOut{trial: {Collections: 200}, stopTimer: {Statistics: 200}} {
		s := stops(stack, 200, 100*Us, stack == trial)
		f := facts(s, 40*Ms)
		None(t, s.DetectWith(stoptheworldcalls.New(stoptheworldcalls.Default()), f))
		if f.LeftOut != want {
			t.Errorf("left out: %+v, want %+v", f.LeftOut, want)
		}
	}
	if x := One(t, detect(stops(ofTest, 200, 100*Us, false), 0), stoptheworldcalls.ID, findings.Note); x.Severity != findings.Note {
		t.Errorf("%s, of a test", x.Severity)
	}
}

func TestNearMisses(t *testing.T) {
	for name, s := range map[string]*Stream{
		"by who allocates":  stops(allocates, 200, 100*Us, true),
		"for the trace":     stops(tracer, 200, 100*Us, false),
		"too few":           stops(readStats, 4, 9*Ms, false),
		"short ones":        stops(readStats, 100, 500, false),
		"without its stack": stops(0, 200, 100*Us, false),
	} {
		if list := detect(s, 0); len(list) > 0 {
			t.Errorf("%s:\n%s", name, Text(list))
		}
	}
}
