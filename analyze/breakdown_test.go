package analyze_test

import (
	"bytes"
	"io"
	"iter"
	"maps"
	"os"
	"path/filepath"
	runtimetrace "runtime/trace"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
	"golang.org/x/exp/trace"

	"github.com/gmpscope/gmpscope/analyze"
	"github.com/gmpscope/gmpscope/analyze/breakdown"
	"github.com/gmpscope/gmpscope/reference"
)

// TestLivesAddUp holds the life of each class against what package waits says of it.
func TestLivesAddUp(t *testing.T) {
	for _, name := range traces(t) {
		t.Run(filepath.Base(name), func(t *testing.T) {
			a := analysis(t, name)
			if a.err != nil {
				t.Skip(a.err)
			}
			res := a.Result
			statesAddUp(t, res)
			if n, m := len(res.Breakdown.Classes), len(res.Waits.Classes); n != m {
				t.Errorf("%d classes, but package waits has %d", n, m)
			}
			for i := range res.Waits.Classes {
				w := &res.Waits.Classes[i]
				c := res.Breakdown.Of(w.ID)
				if c == nil {
					t.Fatalf("%s has no life", w.Name)
				}
				if c.RunningNs != w.RunningNs || c.RunnableNs != w.Waits.SeenNs() || c.Runtime != w.System || c.Goroutines != w.Goroutines {
					t.Errorf("%s: %d goroutines running %d, runnable %d ns, but package waits has %d, %d, %d",
						c.Name, c.Goroutines, c.RunningNs, c.RunnableNs, w.Goroutines, w.RunningNs, w.Waits.SeenNs())
				}
			}
		})
	}
}

// statesAddUp checks what must hold of the lives in any result, also of a damaged trace:
// together they have the running time and the waits that package waits says, and none is
// longer than the trace. Classes that become known late may have other shares there.
func statesAddUp(t testing.TB, res *analyze.Result) {
	t.Helper()
	var program, runtime breakdown.TimeByState
	for i := range res.Breakdown.Classes {
		c := &res.Breakdown.Classes[i]
		if most := c.Goroutines * res.Trace.DurationNs; c.LifeNs() > most {
			t.Errorf("%s: a life of %d ns, of at most %d", c.Name, c.LifeNs(), most)
		}
		if least := min(c.RunningNs, c.RunnableNs, c.SyscallNs, c.UnknownNs, slices.Min(c.BlockedNs[:])); least < 0 {
			t.Errorf("%s: %d ns", c.Name, least)
		}
		if c.Runtime {
			runtime.Add(&c.TimeByState)
		} else {
			program.Add(&c.TimeByState)
		}
	}
	if d := cmp.Diff([]breakdown.TimeByState{program, runtime}, []breakdown.TimeByState{res.Breakdown.Program, res.Breakdown.Runtime}); d != "" {
		t.Errorf("the sums are not those of the classes: %s", d)
	}
	running, runnable := program.RunningNs+runtime.RunningNs, program.RunnableNs+runtime.RunnableNs
	for i := range res.Waits.Classes {
		running -= res.Waits.Classes[i].RunningNs
		runnable -= res.Waits.Classes[i].Waits.SeenNs()
	}
	if running != 0 || runnable != 0 {
		t.Errorf("goroutines are running %d ns and runnable %d ns longer than package waits has it", running, runnable)
	}
}

// TestLivesAgainstReader adds up, by the transitions that the public reader shows, what the
// goroutines of each class did. Which class a goroutine is of is not the question here: it
// is taken from the decisions.
func TestLivesAgainstReader(t *testing.T) {
	for _, name := range traces(t) {
		t.Run(filepath.Base(name), func(t *testing.T) { compareStates(t, name, func(*breakdown.TimeByState) bool { return true }) })
	}
}

// TestLivesOfCoroutines does the same for a program with coroutines.
func TestLivesOfCoroutines(t *testing.T) {
	if runtimetrace.IsEnabled() {
		t.Skip("this test is traced itself")
	}
	var b bytes.Buffer
	if err := runtimetrace.Start(&b); err != nil {
		t.Fatal(err)
	}
	next, stop := iter.Pull(slices.Values([]int{1, 2, 3}))
	for _, ok := next(); ok; _, ok = next() {
	}
	stop()
	runtimetrace.Stop()
	name := filepath.Join(t.TempDir(), "coroutines.trace")
	if err := os.WriteFile(name, b.Bytes(), 0o600); err != nil {
		t.Fatal(err)
	}
	// Of others, what the process did besides: their statuses come at times of their own.
	res := compareStates(t, name, func(s *breakdown.TimeByState) bool { return s.BlockedNs[breakdown.ReasonCoroutine] > 0 })
	if res.Breakdown.Program.BlockedNs[breakdown.ReasonCoroutine] == 0 {
		t.Error("nobody waited for a coroutine")
	}
}

// compareStates compares the lives in a trace, of the classes that of chooses, with those that
// the public reader shows.
func compareStates(t *testing.T, name string, of func(*breakdown.TimeByState) bool) *analyze.Result {
	t.Helper()
	classes := map[int64]int32{}
	res, err := analyze.Run(t.Context(), open(t, name), analyze.Options{OnDecision: func(d *reference.Decision) error {
		if d.Class != 0 && d.G >= 0 {
			classes[d.G] = d.Class
		}
		return nil
	}})
	if err != nil {
		t.Skip(err)
	}
	if res.Trace.Reduced {
		t.Skip("the public reader sets events of one tick apart in another way than ours")
	}
	got, want := map[int32]breakdown.TimeByState{}, map[int32]breakdown.TimeByState{}
	for _, c := range res.Breakdown.Classes {
		if of(&c.TimeByState) {
			got[c.ID] = c.TimeByState
		}
	}
	for g, life := range readGoroutines(t, name) {
		s := want[classes[g]]
		s.Add(life)
		want[classes[g]] = s
	}
	maps.DeleteFunc(want, func(_ int32, s breakdown.TimeByState) bool { return !of(&s) })
	if d := cmp.Diff(want, got); d != "" {
		t.Error(d)
	}
	return res
}

// life is what a goroutine did until now, as a plain loop over the transitions finds it.
type life struct {
	breakdown.TimeByState
	state   trace.GoState
	since   trace.Time
	reason  breakdown.Reason
	silent  bool // all that was seen of it is that it is blocked
	created bool // and that it was created so
}

// until adds the time up to t.
func (l *life) until(t trace.Time) {
	ns := int64(t - l.since)
	l.since = t
	switch l.state {
	case trace.GoRunning:
		l.RunningNs += ns
	case trace.GoRunnable:
		l.RunnableNs += ns
	case trace.GoSyscall:
		l.SyscallNs += ns
	case trace.GoWaiting:
		l.BlockedNs[l.reason] += ns
	}
}

// blockReasons are the runtime's words: traceBlockReasonStrings in traceruntime.go.
var blockReasons = map[string]breakdown.Reason{
	"":                             breakdown.ReasonCoroutine, // a GoSwitch has no reason
	"forever":                      breakdown.ReasonForever,
	"network":                      breakdown.ReasonNetwork,
	"select":                       breakdown.ReasonSelect,
	"sync.(*Cond).Wait":            breakdown.ReasonCond,
	"sync":                         breakdown.ReasonSync,
	"chan send":                    breakdown.ReasonChanSend,
	"chan receive":                 breakdown.ReasonChanReceive,
	"GC mark assist wait for work": breakdown.ReasonAssist,
	"system goroutine wait":        breakdown.ReasonSystem,
	"preempted":                    breakdown.ReasonSuspended,
	"wait until GC ends":           breakdown.ReasonGCEnds,
	"sleep":                        breakdown.ReasonSleep,
	"synctest":                     breakdown.ReasonSynctest,
}

func blockReason(s string) breakdown.Reason {
	if r, ok := blockReasons[s]; ok {
		return r
	}
	return breakdown.ReasonOther
}

// readGoroutines returns what each goroutine did while the trace was recorded. It reads each
// generation by itself: a reader over several moves events that happened before the last
// one of the generation before to that one's time.
func readGoroutines(t *testing.T, name string) map[int64]*breakdown.TimeByState {
	t.Helper()
	x := &goroutines{alive: map[trace.GoID]*life{}, out: map[int64]*breakdown.TimeByState{}, first: -1}
	for src := open(t, name); ; {
		gen, err := src.Next()
		if err == io.EOF {
			break
		}
		if err != nil {
			t.Fatal(err)
		}
		x.read(t, gen.Data)
	}
	for g, l := range x.alive {
		if !l.silent {
			l.until(x.end)
			x.out[int64(g)] = &l.TimeByState
		}
	}
	return x.out
}

// goroutines are the goroutines of a trace.
type goroutines struct {
	alive            map[trace.GoID]*life
	out              map[int64]*breakdown.TimeByState
	first, last, end trace.Time // last is that of a transition
}

// read reads a generation.
func (x *goroutines) read(t *testing.T, data []byte) {
	t.Helper()
	r, err := trace.NewReader(bytes.NewReader(data))
	if err != nil {
		t.Fatal(err)
	}
	for {
		ev, err := r.ReadEvent()
		if err == io.EOF {
			return
		}
		if err != nil {
			t.Fatal(err)
		}
		if x.first < 0 {
			x.first = ev.Time()
		}
		x.end = max(x.end, ev.Time())
		if ev.Kind() == trace.EventStateTransition && ev.StateTransition().Resource.Kind == trace.ResourceGoroutine {
			x.follow(&ev)
		}
	}
}

// follow follows a transition of a goroutine.
func (x *goroutines) follow(ev *trace.Event) {
	st := ev.StateTransition()
	g := st.Resource.Goroutine()
	from, to := st.Goroutine()
	l := x.alive[g]
	if l != nil && from == trace.GoUndetermined { // said again by each generation
		return
	}
	if from != trace.GoUndetermined || to != trace.GoWaiting { // those come at the end of a generation
		x.last = max(x.last, ev.Time())
	}
	switch {
	case from == trace.GoNotExist:
		l = &life{since: x.last}
		l.created = to == trace.GoWaiting
		l.silent = l.created
	case l != nil && l.created: // a coroutine, at the first switch to it
		l.since, l.created, l.silent = x.last, false, false
	case l == nil: // it was there before
		l = &life{since: x.first}
		if to != trace.GoWaiting && (to != trace.GoSyscall || ev.Proc() != trace.NoProc) {
			l.since, l.UnknownNs = x.last, int64(x.last-x.first)
		}
		l.silent = to == trace.GoWaiting
	default:
		l.until(x.last)
		l.silent = false
		l.reason = blockReason(st.Reason)
	}
	l.state, x.alive[g] = to, l
	if to == trace.GoNotExist {
		x.out[int64(g)] = &l.TimeByState
		delete(x.alive, g)
	}
}
