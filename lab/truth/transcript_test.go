package truth

import (
	"errors"
	"io"
	"testing"

	"github.com/google/go-cmp/cmp"
	"golang.org/x/exp/trace"
)

// tape builds recordings. Time goes on by 100 ns with every record.
type tape struct{ recs []Record }

func (t *tape) add(k Kind, g int64, p int32, arg uint64) *Record {
	t.recs = append(t.recs, Record{
		When: int64(1000 + 100*len(t.recs)), G: g, Arg: arg, M: uint32(100 + p), P: p, Kind: k,
	})
	return &t.recs[len(t.recs)-1]
}

func batchOf(victim, n uint64) uint64 { return victim | n<<32 }

func sources(s *transcript, g int64) (out []string) {
	for _, e := range s.starts[g] {
		out = append(out, e.ready+">"+e.src)
	}
	return out
}

func TestWhereStartsComeFrom(t *testing.T) {
	for name, c := range map[string]struct {
		fill func(*tape)
		want []string // of goroutine 1
	}{
		"own runnext": {func(t *tape) {
			t.add(PutRunnext, 1, 0, 0)
			t.add(TookRunnext, 1, 0, 0)
			t.add(Start, 1, 0, 0)
		}, []string{"runnext>runnext"}},
		"displaced from runnext into the ring": {func(t *tape) {
			t.add(PutRunnext, 1, 0, 0)
			t.add(PutRunnext, 2, 0, 0)
			t.add(PutLocal, 1, 0, 0)
			t.add(TookLocal, 1, 0, 0)
			t.add(Start, 1, 0, 0)
		}, []string{"runnext>local"}},
		"rest of a global batch": {func(t *tape) {
			t.add(PutGlobal, 2, 0, 0)
			t.add(PutGlobal, 1, 0, 0)
			t.add(TookGlobal, 2, 0, 2)
			t.add(PutLocal, 1, 0, 0)
			t.add(Start, 2, 0, 0)
			t.add(TookLocal, 1, 0, 0)
			t.add(Start, 1, 0, 0)
		}, []string{"global>local"}},
		"rest of a stolen batch": {func(t *tape) {
			t.add(PutLocal, 1, 0, 0)
			t.add(PutLocal, 2, 0, 0)
			t.add(Grab, 1, 0, 0)
			t.add(Grab, 2, 0, 1)
			t.add(TookSteal, 2, 1, batchOf(0, 2))
			t.add(PutStolen, 1, 1, 0)
			t.add(Start, 2, 1, 0)
			t.add(TookLocal, 1, 1, 0)
			t.add(Start, 1, 1, 0)
		}, []string{"local>local"}},
		"tick, then straight on from a system call": {func(t *tape) {
			t.add(PutGlobal, 1, 0, 0)
			t.add(TookTick, 1, 0, 1)
			t.add(Start, 1, 0, 0)
			t.add(TookExit, 1, 2, 1)
			t.add(Start, 1, 2, 0)
		}, []string{"global>global-tick", "direct>syscall-exit"}},
		"coroutine switch": {func(t *tape) {
			t.add(Start, 1, 0, 0).Flag = 1
		}, []string{"direct>coroutine"}},
		"starts that nothing explains": {func(t *tape) {
			t.add(Start, 1, 0, 0)
		}, []string{"direct>unknown"}},
		"run before tracing began leaves nothing behind": {func(t *tape) {
			t.add(PutRunnext, 1, 0, 0)
			t.add(TookRunnext, 1, 0, 0) // not traced: no Start
			t.add(TookNetpoll, 1, 0, 1)
			t.add(Start, 1, 0, 0)
		}, []string{"direct>netpoll"}},
	} {
		t.Run(name, func(t *testing.T) {
			var tp tape
			c.fill(&tp)
			if d := cmp.Diff(c.want, sources(newTranscript(tp.recs), 1)); d != "" {
				t.Error(d)
			}
			if name != "starts that nothing explains" && name != "coroutine switch" {
				if ck := Check(tp.recs); ck.Broken != 0 && name != "run before tracing began leaves nothing behind" {
					t.Errorf("check: %s %v", ck, ck.Examples)
				}
			}
		})
	}
}

func TestStealDetails(t *testing.T) {
	var tp tape
	tp.add(PutRunnext, 1, 0, 0)
	g := tp.add(Grab, 1, 0, 0)
	g.Flag, g.M = 1, 103
	tp.add(TookSteal, 1, 3, batchOf(0, 1))
	tp.add(LockedHand, 1, 3, 0)
	tp.add(Start, 1, 3, 0)
	e := newTranscript(tp.recs).starts[1][0]
	if e.src != srcStealRunnext || e.victim != 0 || e.batch != 1 || !e.locked {
		t.Errorf("got %+v", e)
	}
}

func TestMoves(t *testing.T) {
	r := func(k Kind, when, g int64, m uint32, p int32) Record {
		return Record{Kind: k, When: when, G: g, M: m, P: p}
	}
	s := newTranscript([]Record{
		r(PutRunnext, 1, 1, 10, 0), r(PutRunnext, 2, 2, 10, 0), r(PutLocal, 3, 1, 10, 0), // displaced
		r(PutGlobal, 4, 1, 10, 0), // overflow
		r(PutLocal, 5, 1, 11, 1),  // global batch
		r(Grab, 6, 1, 12, 1), r(PutStolen, 7, 1, 12, 2),
		r(TookLocal, 8, 1, 12, 2), r(Start, 9, 1, 12, 2),
	})
	var got string
	for i := range s.other {
		got += string(s.other[i].AppendJSON(nil)) + "\n"
	}
	want := `{"t":3,"k":"move","g":1,"p":0,"m":10,"to":"local"}
{"t":4,"k":"move","g":1,"m":10,"to":"global"}
{"t":5,"k":"move","g":1,"p":1,"m":11,"to":"local"}
{"t":6,"k":"move","g":1,"m":12,"to":"direct"}
{"t":7,"k":"move","g":1,"p":2,"m":12,"to":"local"}
{"t":8,"k":"move","g":1,"p":2,"m":12,"to":"direct"}
`
	if d := cmp.Diff(want, got); d != "" {
		t.Errorf("(-want +got):\n%s", d)
	}
}

func TestCausesOfPreemption(t *testing.T) {
	for name, c := range map[string]struct {
		fill func(*tape)
		why  string
		also []string
	}{
		"time slice": {func(t *tape) {
			t.add(CallSite, 0, 9, siteRetake)
			t.add(PreemptRequest, 1, 0, 0).M = 109
			t.add(TracePreempt, 1, 0, 0)
			t.add(Gosched, 1, 0, 0).Flag = 1
		}, "slice", nil},
		"generation switch, time slice open as well": {func(t *tape) {
			t.add(ForEachP, 0, 2, whyGeneration)
			t.add(CallSite, 0, 2, siteForEachP)
			t.add(CallSite, 0, 2, sitePreemptAll)
			t.add(PreemptRequest, 1, 0, 0).M = 102
			t.add(CallSite, 0, 9, siteRetake)
			t.add(PreemptRequest, 1, 0, 0).M = 109
			t.add(TracePreempt, 1, 0, 0)
			t.add(Gosched, 1, 0, 0).Flag = 1 | 4
		}, "generation-switch", []string{"slice"}},
		"stop of the world wins": {func(t *tape) {
			t.add(CallSite, 0, 9, siteRetake)
			t.add(PreemptRequest, 1, 0, 0).M = 109
			t.add(TracePreempt, 1, 0, 0)
			t.add(Gosched, 1, 0, 0).Flag = 1 | 2
		}, "stw", []string{"slice"}},
		"lock hand-over": {func(t *tape) {
			t.add(TracePreempt, 1, 0, 0)
			t.add(Goyield, 1, 0, 0)
		}, "goyield", nil},
		"mark worker wanted": {func(t *tape) {
			t.add(CallSite, 0, 2, siteEnlist)
			t.add(PreemptRequest, 1, 0, 0).M = 102
			t.add(TracePreempt, 1, 0, 0)
			t.add(Gosched, 1, 0, 0).Flag = 1
		}, "gc", nil},
		"a request dies with the start": {func(t *tape) {
			t.add(CallSite, 0, 9, siteRetake)
			t.add(PreemptRequest, 1, 0, 0).M = 109
			t.add(Start, 1, 3, 0)
			t.add(TracePreempt, 1, 3, 0)
			t.add(Gosched, 1, 3, 0).Flag = 1
		}, "other", nil},
		"the signal was meant for the one before": {func(t *tape) {
			t.add(CallSite, 0, 9, siteRetake)
			t.add(PreemptRequest, 2, 0, 0).M = 109
			t.add(Start, 1, 0, 0)
			t.add(TracePreempt, 1, 0, 0)
			t.add(Gosched, 1, 0, 0).Flag = 1
		}, "slice", nil},
	} {
		t.Run(name, func(t *testing.T) {
			var tp tape
			c.fill(&tp)
			p := newTranscript(tp.recs).preempts[1][0]
			if p.why != c.why || !cmp.Equal(p.also, c.also) {
				t.Errorf("got %s %v, want %s %v", p.why, p.also, c.why, c.also)
			}
		})
	}
}

// script is a source of events made by hand.
type script struct{ events []trace.Event }

func (s *script) transition(t *testing.T, at trace.Time, p trace.ProcID, g trace.GoID, from, to trace.GoState) {
	t.Helper()
	ev, err := trace.MakeEvent(trace.EventConfig[trace.StateTransition]{
		Time: at, Kind: trace.EventStateTransition, Goroutine: trace.NoGoroutine, Proc: p, Thread: trace.ThreadID(100 + p),
		Details: trace.MakeGoStateTransition(g, from, to),
	})
	if err != nil {
		t.Fatal(err)
	}
	s.events = append(s.events, ev)
}

func (s *script) read() (trace.Event, error) {
	if len(s.events) == 0 {
		return trace.Event{}, io.EOF
	}
	ev := s.events[0]
	s.events = s.events[1:]
	return ev, nil
}

func TestJoinByOrderOfStarts(t *testing.T) {
	var tp tape
	tp.add(PutRunnext, 1, 0, 0) // 1000: before the trace
	tp.add(PutLocal, 1, 0, 0)
	tp.add(TookLocal, 1, 0, 0)
	s := tp.add(Start, 1, 0, 62)
	s.LL, s.GL = 3, 4
	tp.add(Overflow, 7, 0, 129) // 1400
	tp.add(PutGlobal, 1, 0, 0)
	tp.add(TookGlobal, 1, 2, 1)
	tp.add(Start, 1, 2, 5)
	tp.add(PutLocal, 1, 0, 0) // never runs again

	var sc script
	sc.transition(t, 1200, 0, 1, trace.GoUndetermined, trace.GoRunnable)
	sc.transition(t, 1300, 0, 1, trace.GoRunnable, trace.GoRunning)
	sc.transition(t, 1500, 0, 1, trace.GoWaiting, trace.GoRunnable)
	sc.transition(t, 1700, 2, 1, trace.GoRunnable, trace.GoRunning)
	sc.transition(t, 1750, 0, 1, trace.GoWaiting, trace.GoRunnable)
	j, err := join(tp.recs, sc.read)
	if err != nil {
		t.Fatal(err)
	}
	var got string
	for i := range j.Lines {
		got += string(j.Lines[i].AppendJSON(nil)) + "\n"
	}
	want := `{"t":0,"k":"move","g":1,"p":0,"m":100,"to":"direct"}
{"t":100,"k":"start","g":1,"p":0,"m":100,"n":0,"src":"local","ll":3,"gl":4,"tick":62}
{"t":200,"k":"overflow","g":7,"p":0,"m":100,"batch":129,"ll":0,"gl":0}
{"t":300,"k":"ready","g":1,"p":0,"m":100,"n":1,"to":"global"}
{"t":400,"k":"move","g":1,"p":2,"m":102,"to":"direct"}
{"t":500,"k":"start","g":1,"p":2,"m":102,"n":1,"src":"global","batch":1,"ll":0,"gl":0,"tick":5}
{"t":550,"k":"ready","g":1,"p":0,"m":100,"n":2,"to":"local"}
`
	if d := cmp.Diff(want, got); d != "" {
		t.Errorf("lines (-want +got):\n%s", d)
	}
}

func TestJoinRejectsWhatDoesNotFit(t *testing.T) {
	for name, fill := range map[string]func(*tape, *script){
		"a start without a record": func(tp *tape, sc *script) {
			sc.transition(t, 1300, 0, 1, trace.GoRunnable, trace.GoRunning)
		},
		"a record without a start": func(tp *tape, sc *script) { tp.add(Start, 1, 0, 0) },
		"another P": func(tp *tape, sc *script) {
			tp.add(Start, 1, 3, 0)
			sc.transition(t, 1300, 0, 1, trace.GoRunnable, trace.GoRunning)
		},
	} {
		t.Run(name, func(t *testing.T) {
			var tp tape
			var sc script
			fill(&tp, &sc)
			if _, err := join(tp.recs, sc.read); !errors.Is(err, ErrMismatch) {
				t.Errorf("error is %v", err)
			}
		})
	}
}

func TestCheckFindsContradictions(t *testing.T) {
	var tp tape
	tp.add(PutLocal, 1, 0, 0)
	tp.add(PutLocal, 1, 0, 0)   // twice
	tp.add(TookLocal, 2, 0, 0)  // never put
	tp.add(TookGlobal, 1, 0, 1) // from the wrong queue
	tp.add(PutGlobal, 3, 0, 0)
	tp.add(PutGlobal, 4, 0, 0)
	tp.add(TookTick, 4, 0, 1) // not the head
	c := Check(tp.recs)
	if c.Broken != 3 || c.Order != 1 {
		t.Errorf("%s: %v", c, c.Examples)
	}
}
