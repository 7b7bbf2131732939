package replay

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/gmpscope/gmpscope/reference"
)

// lengths is a second, plain account of the queues, for the lengths in
// hand-made decisions.
type lengths struct {
	runnext map[int32]int64
	ring    map[int32][]int64
	global  []int64
}

func (l *lengths) dequeue(g int64) {
	for p, x := range l.runnext {
		if x == g {
			delete(l.runnext, p)
		}
	}
	is := func(x int64) bool { return x == g }
	for p := range l.ring {
		l.ring[p] = slices.DeleteFunc(l.ring[p], is)
	}
	l.global = slices.DeleteFunc(l.global, is)
}

func (l *lengths) apply(d *reference.Decision) {
	switch d.Kind {
	case reference.KindStart:
		l.dequeue(d.G)
	case reference.KindReady, reference.KindMove:
		l.dequeue(d.G)
		switch d.To {
		case reference.QueueRunnext:
			l.runnext[d.P] = d.G
		case reference.QueueLocal:
			l.ring[d.P] = append(l.ring[d.P], d.G)
		case reference.QueueGlobal:
			l.global = append(l.global, d.G)
		}
	}
	if d.P >= 0 {
		d.Local = int32(len(l.ring[d.P]))
		if _, ok := l.runnext[d.P]; ok {
			d.Local++
		}
	}
	d.Global = int32(len(l.global))
	if d.Kind == reference.KindGlobalBatch {
		l.dequeue(d.G) // the lengths of the batch itself are those before
	}
}

// stream makes decisions out of words: the kind; g1, p1, m1, v1 (victim), b2
// (batch), t5 (time, else 10 ns later than the one before), ll3 and gl3 (wrong
// lengths); flags inherits, taken, first; and names of sources, queues, causes.
func stream(t testing.TB, lines string) []reference.Decision {
	t.Helper()
	l := lengths{runnext: map[int32]int64{}, ring: map[int32][]int64{}}
	var out []reference.Decision
	now := int64(0)
	kinds, sources, queues, whys := map[string]reference.Kind{}, map[string]reference.Source{}, map[string]reference.Queue{}, map[string]reference.Why{}
	for k := reference.KindNone; k <= reference.KindSyscallExit; k++ {
		kinds[k.String()] = k
	}
	for _, s := range reference.Sources() {
		sources[s.String()] = s
	}
	for q := reference.QueueUnknown; q <= reference.QueueDirect; q++ {
		queues[q.String()] = q
	}
	for w := reference.WhyUnknown; w <= reference.WhyCorrected; w++ {
		whys[w.String()] = w
	}
	for line := range strings.SplitSeq(lines, "\n") {
		for text := range strings.SplitSeq(line, ";") {
			words := strings.Fields(text)
			if len(words) == 0 {
				continue
			}
			kind, ok := kinds[words[0]]
			if !ok {
				t.Fatalf("no kind %q", words[0])
			}
			now += 10
			d := reference.Decision{Kind: kind, Time: now, G: reference.NoG, P: reference.NoP, M: reference.NoM, By: reference.NoG, Victim: reference.NoP, Wait: -1}
			ll, gl := int32(0), int32(0)
			for _, w := range words[1:] {
				switch w {
				case "inherits":
					d.Flags |= reference.FlagInherits
					continue
				case "taken":
					d.Flags |= reference.FlagTaken
					continue
				case "first":
					d.Flags |= reference.FlagFirst
					continue
				}
				if s, ok := sources[w]; ok && d.Kind == reference.KindStart {
					d.Src = s
					continue
				}
				if q, ok := queues[w]; ok && (d.Kind == reference.KindReady || d.Kind == reference.KindMove) {
					d.To = q
					continue
				}
				if y, ok := whys[w]; ok {
					d.Why = y
					continue
				}
				i := strings.IndexAny(w, "-0123456789")
				n, err := strconv.ParseInt(w[max(i, 0):], 10, 32)
				if err != nil {
					t.Fatalf("%q in %q", w, text)
				}
				switch w[:i] {
				case "g":
					d.G = n
				case "p":
					d.P = int32(n)
				case "m":
					d.M = n
				case "v":
					d.Victim = int32(n)
				case "b":
					d.Batch = int32(n)
				case "t":
					d.Time, now = n, n
				case "ll":
					ll = int32(n)
				case "gl":
					gl = int32(n)
				default:
					t.Fatalf("%q in %q", w, text)
				}
			}
			l.apply(&d)
			d.Local, d.Global = d.Local+ll, d.Global+gl
			out = append(out, d)
		}
	}
	return out
}

func audit(t testing.TB, lines string) AuditResult {
	t.Helper()
	a := NewAuditor(AuditOptions{Rules: reference.RulesFor(26)})
	for _, d := range stream(t, lines) {
		a.Add(&d)
	}
	return a.Finish()
}

// two has goroutine 1 running on P0 and goroutine 2 on P1, of two Ps.
const two = `gomaxprocs b2
p-start p0 m1 first; start g1 p0 m1 unknown first
p-start p1 m2 first; start g2 p1 m2 unknown first
`

// many repeats a line for goroutines from … to.
func many(from, to int, line string) string {
	var b strings.Builder
	for g := from; g <= to; g++ {
		b.WriteString(strings.ReplaceAll(line, "#", fmt.Sprint(g)) + "\n")
	}
	return b.String()
}

const (
	stop1 = "stop g1 p0 m1 block\n"
	stop2 = "stop g2 p1 m2 block\n"
)

// slices61 runs goroutine 1, woken without a queue, n times on P0.
func slices61(n int) string {
	return strings.Repeat("stop g1 p0 m1 block; ready g1 p0 m1 direct network; start g1 p0 m1 netpoll\n", n)
}

// Every rule explains the start that it is made for, and none that is not.
func TestRules(t *testing.T) {
	full := many(10, 265, "ready g# p0 m1 local system")
	spill := many(10, 137, "move g# v0 global overflow")
	for _, tt := range []struct {
		name, stream string
		rule         string
		want         Verdict
		race         Race
	}{
		{"its own runnext", two + "ready g3 p0 m1 runnext\n" + stop1 + "start g3 p0 m1 runnext inherits", "runnext", Explained, ""},
		{"not in runnext but in the ring", two + "ready g3 p0 m1 local\n" + stop1 + "start g3 p0 m1 runnext inherits", "runnext", Unexplained, ""},
		{"another P's runnext", two + "ready g3 p0 m1 runnext\n" + stop2 + "steal g3 p1 v0 b1; start g3 p1 m2 runnext", "runnext", Unexplained, ""},

		{"the head of its own ring", two + "ready g3 p0 m1 local; ready g4 p0 m1 local\n" + stop1 + "start g3 p0 m1 local", "local", Explained, ""},
		{"the second of its own ring", two + "ready g3 p0 m1 local; ready g4 p0 m1 local\n" + stop1 + "start g4 p0 m1 local", "local", Unexplained, ""},
		{"the ring while runnext is filled", two + "ready g3 p0 m1 local; ready g4 p0 m1 runnext\n" + stop1 + "start g3 p0 m1 local", "local", Unexplained, ""},
		{"local, but in the global queue", two + "ready g3 m1 global\n" + stop1 + "start g3 p0 m1 local", "local", Unexplained, ""},
		{"displaced to the ring", two + "ready g3 p0 m1 runnext; ready g4 p0 m1 runnext; move g3 p0 v0 local displaced\n" + stop1 + "start g4 p0 m1 runnext inherits; stop g4 p0 m1 block; start g3 p0 m1 local", "local", Explained, ""},
		{"passing over one of unknown place", two + "ready g5 m1 global; move g5 p0 local corrected; ready g3 p0 m1 local\n" + stop1 + "start g3 p0 m1 local", "local", Ambiguous, RaceCorrected},
		{"passing over one that was there before", two + "ready g5 p0 m1 local first; ready g3 p0 m1 local\n" + stop1 + "start g3 p0 m1 local", "local", Ambiguous, RaceInitial},

		{"the head of the global queue", two + "ready g3 m1 global\n" + stop1 + "start g3 p0 m1 global b1", "global", Explained, ""},
		{"the second of the global queue", two + "ready g3 m1 global; ready g4 m1 global\n" + stop1 + "start g4 p0 m1 global b2", "global", Unexplained, ""},
		{"the second, put at the same time", two + "ready g3 m1 global; ready g4 m2 global\n" + stop2 + "start g4 p1 m2 global b1", "global", Ambiguous, RacePutOrder},
		{"the second, put after the first was done", two + "ready g3 m1 global; " + stop1 + "ready g4 m2 global\n" + stop2 + "start g4 p1 m2 global b1", "global", Unexplained, ""},
		{"global while the own ring is filled", two + "ready g3 m1 global; ready g4 p0 m1 local\n" + stop1 + "start g3 p0 m1 global b1", "global", Unexplained, ""},
		{"a batch", two + "ready g3 m1 global; ready g4 m1 global; ready g5 m1 global\n" + stop1 + "global-batch g3 p0 b2; move g4 p0 local global-batch; start g3 p0 m1 global b2", "global", Explained, ""},
		{"a batch that is too large", two + "ready g3 m1 global; ready g4 m1 global; ready g5 m1 global\n" + stop1 + "global-batch g3 p0 b3; move g4 p0 local global-batch; move g5 p0 local global-batch; start g3 p0 m1 global b3", "global", Unexplained, ""},
		{"a batch that is too small", two + "ready g3 m1 global; ready g4 m1 global\n" + stop1 + "start g3 p0 m1 global b1", "global", Unexplained, ""},
		{"a batch that is too small by a put under way", two + "ready g3 m1 global;" + stop1 + "ready g4 m2 global\n" + "start g3 p0 m1 global b1", "global", Ambiguous, RacePut},
		{"a batch out of order", two + "ready g3 m1 global; ready g4 m1 global; ready g5 m1 global; ready g6 m1 global\n" + stop1 + "global-batch g3 p0 b3; move g5 p0 local global-batch; move g4 p0 local global-batch; start g3 p0 m1 global b3", "global", Unexplained, ""},

		{"the tick, own queue filled", two + "ready g3 m1 global; ready g4 p0 m1 local\n" + stop1 + "start g3 p0 m1 global-tick b1", "global-tick", Explained, ""},
		{"the tick, but the second", two + "ready g5 m1 global; ready g3 m1 global; ready g4 p0 m1 local\n" + stop1 + "start g3 p0 m1 global-tick b1", "global-tick", Unexplained, ""},
		{"the tick, but from the ring", two + "ready g3 p0 m1 local; ready g4 p0 m1 local\n" + stop1 + "start g3 p0 m1 global-tick b1", "global-tick", Unexplained, ""},
		{"the tick, nothing in the own queue", two + "ready g3 m1 global\n" + stop1 + "start g3 p0 m1 global-tick b1", "global-tick", Ambiguous, RaceTick},

		{"half of a ring", two + "ready g3 p0 m1 local; ready g4 p0 m1 local; ready g5 p0 m1 local\n" + stop2 + "steal g4 p1 v0 b2; move g3 p1 v0 local steal; start g4 p1 m2 steal v0 b2", "steal", Explained, ""},
		{"less than half", two + "ready g3 p0 m1 local; ready g4 p0 m1 local; ready g5 p0 m1 local; gc-begin m1\n" + stop2 + "steal g3 p1 v0 b1; start g3 p1 m2 steal v0 b1", "steal", Unexplained, ""},
		{"less than half by a put under way", two + "ready g3 p0 m1 local; ready g4 p0 m1 local\n" + stop2 + "ready g5 p0 m1 local; steal g3 p1 v0 b1; start g3 p1 m2 steal v0 b1", "steal", Ambiguous, RacePut},
		{"more than half", two + "ready g3 p0 m1 local; ready g4 p0 m1 local\n" + stop2 + "steal g4 p1 v0 b2; move g3 p1 v0 local steal; start g4 p1 m2 steal v0 b2", "steal", Unexplained, ""},
		{"not the last of the batch", two + "ready g3 p0 m1 local; ready g4 p0 m1 local; ready g5 p0 m1 local\n" + stop2 + "steal g3 p1 v0 b2; move g4 p1 v0 local steal; start g3 p1 m2 steal v0 b2", "steal", Unexplained, ""},
		{"a thief with work", two + "ready g6 p1 m2 local; ready g3 p0 m1 local\n" + stop2 + "steal g3 p1 v0 b1; start g3 p1 m2 steal v0 b1", "steal", Unexplained, ""},
		{"a steal while the global queue is filled", two + "ready g6 m1 global; ready g3 p0 m1 local\n" + stop2 + "steal g3 p1 v0 b1; start g3 p1 m2 steal v0 b1", "steal", Unexplained, ""},
		{"a steal while the global queue is being filled", two + "ready g3 p0 m1 local\n" + stop2 + "ready g6 m1 global; steal g3 p1 v0 b1; start g3 p1 m2 steal v0 b1", "steal", Ambiguous, RacePut},
		{"a steal that was settled before", two + "ready g3 p0 m1 local\n" + stop2 + "steal g3 p1 v0 b1; move g3 p1 v0 direct steal; ready g4 p0 m1 local; start g3 p1 m2 steal v0 b1 taken", "steal", Explained, ""},
		{"a start that another P has taken", two + "ready g3 p0 m1 local\n" + stop1 + stop2 + "steal g3 p1 v0 b1; move g3 p1 v0 direct steal; start g3 p0 m1 steal v0 b1 taken", "steal", Unexplained, ""},

		{"another's runnext", two + "ready g3 p0 m1 runnext\n" + stop2 + "steal g3 p1 v0 b1; start g3 p1 m2 steal-runnext v0 b1", "steal-runnext", Explained, ""},
		{"another's runnext while its ring is filled", two + "ready g3 p0 m1 runnext; ready g4 p0 m1 local; gc-begin m1\n" + stop2 + "steal g3 p1 v0 b1; start g3 p1 m2 steal-runnext v0 b1", "steal-runnext", Unexplained, ""},
		{"another's runnext while its ring is being filled", two + "ready g3 p0 m1 runnext\n" + stop2 + "ready g4 p0 m1 local; steal g3 p1 v0 b1; start g3 p1 m2 steal-runnext v0 b1", "steal-runnext", Ambiguous, RacePut},

		{"the poller's", two + stop1 + "ready g3 p0 m1 direct network; start g3 p0 m1 netpoll", "netpoll", Explained, ""},
		{"the poller's, but queued", two + stop1 + "ready g3 p0 m1 local network; start g3 p0 m1 netpoll", "netpoll", Unexplained, ""},
		{"a mark worker", two + stop1 + "ready g3 p0 m1 direct system; start g3 p0 m1 gc-worker", "gc-worker", Explained, ""},
		{"a mark worker, but queued", two + "ready g3 p0 m1 runnext system;" + stop1 + "start g3 p0 m1 gc-worker", "gc-worker", Unexplained, ""},
		{"the trace reader", two + stop1 + "ready g3 p0 m1 direct system; start g3 p0 m1 trace-reader", "trace-reader", Explained, ""},
		{"the trace reader, but queued", two + "ready g3 m1 global system;" + stop1 + "start g3 p0 m1 trace-reader", "trace-reader", Unexplained, ""},
		{"back from a system call", two + "syscall g1 p0 m1; syscall-exit g1 m1; ready g1 p0 m1 direct; start g1 p0 m1 syscall-exit inherits", "syscall-exit", Explained, ""},
		{"back from a system call, but queued", two + "syscall g1 p0 m1; syscall-exit g1 m1; ready g1 m1 global; start g1 p0 m1 syscall-exit inherits", "syscall-exit", Unexplained, ""},
		{"a coroutine", two + "ready g3 p0 m1 direct coroutine; stop g1 p0 m1 coroutine; start g3 p0 m1 coroutine inherits", "coroutine", Explained, ""},
		{"a coroutine, but queued", two + "ready g3 p0 m1 runnext; stop g1 p0 m1 coroutine; start g3 p0 m1 coroutine inherits", "coroutine", Unexplained, ""},
		{"a cancelled park", two + stop1 + "ready g1 p0 m1 direct; start g1 p0 m1 direct inherits", "direct", Explained, ""},
		{"a cancelled park, but queued", two + stop1 + "ready g1 p0 m1 runnext; start g1 p0 m1 direct inherits", "direct", Unexplained, ""},
		{"an unknown source", two + "ready g3 p0 m1 local\n" + stop1 + "start g3 p0 m1 unknown", "unknown", Unexplained, ""},

		{"an overflow", two + full + "overflow g300 p0 m1 b129\n" + spill + "ready g300 m1 global\n" + stop1 + "start g138 p0 m1 local", "overflow", Explained, ""},
		{"an overflow of too few", two + full + "overflow g300 p0 m1 b128\n" + many(10, 136, "move g# v0 global overflow") + "ready g300 m1 global\n" + stop1 + "start g137 p0 m1 local", "overflow", Unexplained, ""},
		{"an overflow of a ring with room", two + many(10, 264, "ready g# p0 m1 local system") + "overflow g300 p0 m1 b129\n" + spill + "ready g300 m1 global\n" + stop1 + "start g138 p0 m1 local", "overflow", Unexplained, ""},
		{"a put on a full ring", two + full + "ready g300 p0 m1 local system\n" + stop1 + "start g10 p0 m1 local", "local", Unexplained, ""},
		{"a put on a ring with room", two + many(10, 264, "ready g# p0 m1 local system") + "ready g300 p0 m1 local system\n" + stop1 + "start g10 p0 m1 local", "local", Explained, ""},
	} {
		t.Run(tt.name, func(t *testing.T) {
			g := audit(t, tt.stream)
			tally, ok := g.ByRule[tt.rule]
			if put, is := g.Puts[tt.rule]; is && (!ok || put.Unexplained > 0) {
				tally, ok = put, true // an overflow, or a put that is wrong
			}
			if !ok {
				t.Fatalf("nothing by rule %s: %+v", tt.rule, g)
			}
			got := Explained
			switch {
			case tally.Unexplained > 0:
				got = Unexplained
			case tally.Ambiguous > 0:
				got = Ambiguous
			}
			if got != tt.want {
				t.Errorf("%s, want %s: %+v", got, tt.want, g.Divergences)
			}
			if tt.race != "" && g.Races[tt.race] != 1 {
				t.Errorf("races %v, want %s", g.Races, tt.race)
			}
			if tt.want == Explained && len(g.Divergences)+len(g.Violations) > 0 {
				t.Errorf("divergences of a good stream: %+v, %v", g.Divergences, g.Violations)
			}
			if tt.want != Explained && len(g.Divergences) == 0 {
				t.Error("no evidence")
			}
			if g.Explained+g.Ambiguous+g.Unexplained != g.Starts {
				t.Errorf("%d + %d + %d is not %d", g.Explained, g.Ambiguous, g.Unexplained, g.Starts)
			}
		})
	}
}

// Two picks at the 61st tick are a multiple of 61 slices apart.
func TestTickPhase(t *testing.T) {
	pick := "ready g3 m1 global; ready g4 p0 m1 local\n" + stop1 + "start g3 p0 m1 global-tick b1; stop g3 p0 m1 exit; start g4 p0 m1 local; stop g4 p0 m1 exit\nready g1 p0 m1 direct network; start g1 p0 m1 netpoll\n"
	for between, want := range map[int]int64{58: 0, 57: 1, 59: 1, 58 + 61: 0, 0: 1} {
		g := audit(t, two+pick+slices61(between)+pick)
		if got := g.ByRule["global-tick"].Unexplained; got != want {
			t.Errorf("%d slices more between: %d unexplained, want %d: %+v", between, got, want, g.Divergences)
		}
	}
	// At the tick, the own queue comes second.
	g := audit(t, two+pick+slices61(58)+"ready g3 m1 global; ready g4 p0 m1 local\n"+stop1+"start g4 p0 m1 local")
	if g.ByRule["local"].Ambiguous != 1 || g.Races[RaceTick] != 1 {
		t.Errorf("a tick passed over is not noticed: %+v", g)
	}
}

// Every invariant is noticed when it is broken.
func TestInvariants(t *testing.T) {
	for _, tt := range []struct {
		name, stream string
		want         Invariant
	}{
		{"a start of nobody", two + "start p0 m1 local", Malformed},
		{"a steal from nobody", two + "steal g3 p1 b1", Malformed},
		{"an overflow of none", two + "overflow g3 p0 m1", Malformed},
		{"a P without a number", two + "p-stop m1 idle", Malformed},
		{"time goes back", two + "stop g1 p0 m1 block t5", TimeBack},
		{"ready while queued", two + "ready g3 p0 m1 local; ready g3 m2 global", TwoPlaces},
		{"ready while running", two + "ready g1 m2 global", TwoPlaces},
		{"runs while its P is given up", two + "p-stop p0 m1 stw", TwoPlaces},
		{"a move out of the wrong queue", two + "ready g3 p0 m1 local; move g3 p1 local steal", WrongQueue},
		{"a move out of another P's queue", two + "ready g3 p0 m1 local; move g3 v1 global corrected", WrongQueue},
		{"a steal from the wrong P", two + "ready g3 p1 m2 local;" + stop2 + "steal g3 p1 v0 b1; start g3 p1 m2 steal v0 b1", WrongQueue},
		{"a batch from another queue", two + "ready g3 p0 m1 local;" + stop1 + "global-batch g3 p0 b1; start g3 p0 m1 global b1", WrongQueue},
		{"a start of a blocked goroutine", two + stop1 + "start g3 p0 m1 local", NotRunnable},
		{"a second start", two + "ready g3 p0 m1 local;" + stop1 + "start g3 p0 m1 local;" + stop2 + "start g3 p1 m2 local", NotRunnable},
		{"a stop of a queued goroutine", two + "ready g3 p0 m1 local; stop g3 p0 m1 block", NotRunning},
		{"a stop on another P", two + "stop g1 p1 m1 block", NotRunning},
		{"a system call of a blocked goroutine", two + stop1 + "syscall g1 p0 m1", NotRunning},
		{"a return of a running goroutine", two + "syscall-exit g1 p0 m1", NotRunning},
		{"two on a P", two + "ready g3 p0 m1 local; start g3 p0 m1 local", TwoOnP},
		{"a start on a P in a system call", two + "ready g3 p0 m1 local; syscall g1 p0 m1; start g3 p0 m1 local", TwoOnP},
		{"a P kept that was retaken", two + "syscall g1 p0 m1; retake p0 g1 m1 sysmon; p-start p0 m3; syscall-exit g1 p0 m1", TwoOnP},
		{"a start without a thread", two + "ready g3 p0 m1 local;" + stop1 + "p-stop p0 m1 stw; start g3 p0 m1 local", NoThread},
		{"a ring that is too long", two + many(10, 266, "ready g# p0 m1 local"), RingTooLong},
		{"a negative length", two + "ready g3 p0 m1 direct ll-1", BadLength},
		{"a wrong local length", two + "ready g3 p0 m1 local ll1", LengthDiffers},
		{"a wrong global length", two + "ready g3 p0 m1 local gl1", LengthDiffers},
		{"a steal without its moves", two + "ready g3 p0 m1 local; ready g4 p0 m1 local; ready g5 p0 m1 local;" + stop2 + "steal g4 p1 v0 b2; start g4 p1 m2 steal v0 b2", BrokenBatch},
		{"moves without a steal", two + "ready g3 p0 m1 local;" + stop2 + "move g3 p1 v0 local steal", BrokenBatch},
		{"a steal without a decision", two + "ready g3 p0 m1 local;" + stop2 + "start g3 p1 m2 steal v0 b1", BrokenBatch},
		{"a batch led by another", two + "ready g3 m1 global; ready g4 m1 global;" + stop1 + "global-batch g3 p0 b2; move g4 p0 local global-batch; start g4 p0 m1 global b2", BrokenBatch},
		{"an overflow without its newcomer", two + many(10, 265, "ready g# p0 m1 local system") + "overflow g300 p0 m1 b129\n" + many(10, 137, "move g# v0 global overflow") + stop1, BrokenBatch},
		{"a stream that ends within a batch", two + "ready g3 p0 m1 local;" + stop2 + "steal g3 p1 v0 b1", BrokenBatch},
		{"idle with work", two + "ready g3 p0 m1 local;" + stop1 + "p-stop p0 m1 idle", IdleWithWork},
	} {
		t.Run(tt.name, func(t *testing.T) {
			g := audit(t, tt.stream)
			if g.Violations[tt.want] == 0 {
				t.Errorf("%s is not noticed: %v", tt.want, g.Violations)
			}
			if !slices.ContainsFunc(g.Divergences, func(d Divergence) bool {
				return d.Rule == string(tt.want) && d.Verdict == Violation && d.Expected != "" && d.Found != ""
			}) {
				t.Errorf("no evidence of %s: %+v", tt.want, g.Divergences)
			}
		})
	}
}

// What the grammar of decisions allows breaks no invariant.
func TestInvariantsHold(t *testing.T) {
	for name, s := range map[string]string{
		"a preempted goroutine":    two + "preempt g1 p0 m1 slice; stop g1 p0 m1 slice; ready g1 m1 global slice; start g1 p0 m1 global b1",
		"a system call, P kept":    two + "syscall g1 p0 m1; syscall-exit g1 p0 m1; stop g1 p0 m1 exit",
		"a system call, P lost":    two + "syscall g1 p0 m1; retake p0 g1 m1 sysmon; handoff p0 m3; p-start p0 m3; p-stop p0 m3 idle; syscall-exit g1 m1; ready g1 m1 global; p-start p0 m3; start g1 p0 m3 global b1",
		"a P that shrinks away":    two + "ready g3 p1 m2 local; ready g4 p1 m2 runnext;" + stop2 + "p-stop p1 m2 stw; gomaxprocs b1; move g3 v1 global gomaxprocs; move g4 v1 global gomaxprocs",
		"a correction":             two + "ready g3 p0 m1 local; move g3 p1 v0 local corrected",
		"an id that is used twice": two + "stop g1 p0 m1 exit; ready g1 p1 m2 runnext create",
	} {
		t.Run(name, func(t *testing.T) {
			if g := audit(t, s); len(g.Violations) > 0 {
				t.Errorf("%v: %+v", g.Violations, g.Divergences)
			}
		})
	}
	if g := audit(t, two+"ready g3 p0 m1 local; move g3 p1 v0 local corrected"); g.Corrections != 1 {
		t.Errorf("%d corrections, want 1", g.Corrections)
	}
}

// The times of the Ps are those of the run intervals on them.
func TestRan(t *testing.T) {
	a := NewAuditor(AuditOptions{Rules: reference.RulesFor(26)})
	for _, d := range stream(t, two+"syscall g1 p0 m1 t1000; syscall-exit g1 p0 m1 t5000; stop g1 p0 m1 exit t5500; stop g2 p1 m2 exit t7000") {
		a.Add(&d)
	}
	a.Finish()
	if p0, p1 := a.ran(0), a.ran(1); p0 != 1000-30+500 || p1 != 7000-50 {
		t.Errorf("P0 ran %d ns, P1 %d ns", p0, p1)
	}
}

// Divergences are bounded, and the bound leaves room for other sorts.
func TestDivergencesAreBounded(t *testing.T) {
	a := NewAuditor(AuditOptions{Rules: reference.RulesFor(26), Divergences: 20})
	bad := strings.Repeat("stop g1 p0 m1 block; ready g1 p0 m1 local; start g1 p0 m1 runnext inherits\n", 50)
	for _, d := range stream(t, two+bad+"stop g1 p0 m1 block; ready g1 p0 m1 local; start g1 p0 m1 netpoll") {
		a.Add(&d)
	}
	g := a.Finish()
	if len(g.Divergences) != 6 || g.MoreDivergences != 45 {
		t.Errorf("%d kept, %d left out", len(g.Divergences), g.MoreDivergences)
	}
}

// No stream makes an Auditor panic.
func FuzzAuditor(f *testing.F) {
	f.Add([]byte("\x01\x03\x01\x01\x00\x02\x02\x03\x01\x01\x00\x01"))
	f.Fuzz(func(t *testing.T, b []byte) {
		a := NewAuditor(AuditOptions{Rules: reference.RulesFor(26)})
		for i := 0; i+6 <= len(b) && i < 6*4096; i += 6 {
			d := reference.Decision{
				Kind: reference.Kind(b[i] % 20), Time: int64(i), G: int64(b[i+1]%32) - 1, P: int32(b[i+2]%5) - 1, M: int64(b[i+3]%6) - 1,
				Victim: int32(b[i+4]%5) - 1, Batch: int32(b[i+5]%8) - 1, Src: reference.Source(b[i+4] % 13), To: reference.Queue(b[i+5] % 5),
				Why: reference.Why(b[i+3] % 28), Flags: reference.Flags(b[i+2]&0xf0) | reference.Flags(b[i+1]>>5),
			}
			a.Add(&d)
		}
		g := a.Finish()
		if g.Explained+g.Ambiguous+g.Unexplained != g.Starts {
			t.Errorf("%d + %d + %d is not %d", g.Explained, g.Ambiguous, g.Unexplained, g.Starts)
		}
	})
}
