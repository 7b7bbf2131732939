package analyze_test

import (
	"bytes"
	"fmt"
	"maps"
	"math"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/gmpscope/gmpscope/analyze"
	"github.com/gmpscope/gmpscope/analyze/fairness"
	"github.com/gmpscope/gmpscope/analyze/findings"
	"github.com/gmpscope/gmpscope/analyze/findings/all"
	"github.com/gmpscope/gmpscope/analyze/focus"
	"github.com/gmpscope/gmpscope/analyze/input"
	"github.com/gmpscope/gmpscope/analyze/ledger"
	"github.com/gmpscope/gmpscope/analyze/procs"
	"github.com/gmpscope/gmpscope/analyze/timeline"
	"github.com/gmpscope/gmpscope/analyze/waits"
	"github.com/gmpscope/gmpscope/internal/testkit/damage"
	"github.com/gmpscope/gmpscope/internal/testkit/tracetest"
	"github.com/gmpscope/gmpscope/reference"
)

// withoutGenerations is a real trace of which some generations are missing.
func withoutGenerations(t *testing.T, name string, gens ...uint64) []byte {
	tr := damage.Parse(tracetest.Recorded(t, name))
	tr.Blocks = slices.DeleteFunc(tr.Blocks, func(b damage.Block) bool { return slices.Contains(gens, b.Gen) })
	return tr.Bytes()
}

// decided analyses a trace and returns its decisions too.
func decided(t *testing.T, trace []byte) (*analyze.Result, []reference.Decision) {
	t.Helper()
	src, err := input.New(bytes.NewReader(trace), "trace")
	if err != nil {
		t.Fatal(err)
	}
	defer src.Close()
	var ds []reference.Decision
	res, err := analyze.Run(t.Context(), src, analyze.Options{OnDecision: func(d *reference.Decision) error {
		ds = append(ds, *d)
		return nil
	}})
	if err != nil {
		t.Fatal(err)
	}
	return res, ds
}

// The Ps of a trace with a gap do what they do in the whole one, where it is recorded,
// and the shares of their time are of that.
func TestGapIsNotCounted(t *testing.T) {
	for _, minor := range []int{22, 23, 26} {
		name := fmt.Sprintf("real/manygens-io-go1.%d-p4", minor)
		whole, every := decided(t, tracetest.Recorded(t, name))
		for gen := uint64(3); gen < uint64(whole.Trace.Generations)-2; gen += 4 {
			res, ds := decided(t, withoutGenerations(t, name, gen, gen+1))
			i := slices.IndexFunc(ds, func(d reference.Decision) bool { return d.Kind == reference.KindLost })
			if i < 0 || res.Trace.LostNs != ds[i].Wait || res.Trace.RecordedNs() != res.Trace.DurationNs-ds[i].Wait {
				t.Fatalf("go1.%d, generation %d: %d ns lost", minor, gen, res.Trace.LostNs)
			}
			from, to := ds[i].Time, ds[i].Time+ds[i].Wait
			if j := slices.IndexFunc(ds[i+1:], func(d reference.Decision) bool { return d.Time < to }); j >= 0 {
				t.Errorf("go1.%d, generation %d: %+v in the gap until %d", minor, gen, ds[i+1+j], to)
			}
			want := statesOf(every, whole.Trace.DurationNs, from, to)
			late := int64(0) // from the gap's end until the Ps are seen
			for _, p := range res.Procs.Ps {
				late += p.NotRecordedNs - res.Trace.LostNs
				if p.NotRecordedNs < res.Trace.LostNs || p.UsableNs() <= 0 {
					t.Errorf("go1.%d, generation %d: P%d is not recorded for %d ns", minor, gen, p.P, p.NotRecordedNs)
				}
				w := want[p.P]
				for _, s := range []struct {
					state ledger.State
					ns    int64
				}{
					{ledger.User, p.RunningNs}, {ledger.GC, p.GCNs}, {ledger.Idle, p.IdleNs}, {ledger.Syscall, p.SyscallNs},
				} {
					// After the gap's end, the P is known again later, and what it runs still later.
					unknown := p.NotRecordedNs - res.Trace.LostNs + max(0, p.SchedNs-w[ledger.Sched])
					if s.ns > w[s.state] || s.ns < w[s.state]-unknown {
						t.Errorf("go1.%d, generation %d: P%d is %v for %d ns, in the whole trace without the gap %d", minor, gen, p.P, s.state, s.ns, w[s.state])
					}
				}
			}
			if late > res.Trace.RecordedNs()/8 {
				t.Errorf("go1.%d, generation %d: Ps are not seen for %d ns after the gap", minor, gen, late)
			}
			pressure := res.Pressure
			for what, share := range map[string]float64{"some": pressure.Some, "full": pressure.Full, "unclaimed idle": pressure.UnclaimedIdle} {
				if share < 0 || share > 1 {
					t.Errorf("go1.%d, generation %d: %s is %v", minor, gen, what, share)
				}
			}
			if got, want := pressure.Some, pressureOf(every, whole.Trace.DurationNs, from, to); math.Abs(got-want) > 0.02 {
				t.Errorf("go1.%d, generation %d: somebody waits for %.3f of the time, in the whole trace without the gap %.3f", minor, gen, got, want)
			}
			if len(res.Timeline.NotRecorded) != 1 || res.Timeline.NotRecorded[0].From != from || res.Timeline.NotRecorded[0].To != to {
				t.Errorf("go1.%d, generation %d: the timeline has the gaps %+v, want [%d,%d]", minor, gen, res.Timeline.NotRecorded, from, to)
			}
		}
	}
}

// statesOf is how long each P was in which state, without [from, to).
func statesOf(ds []reference.Decision, end, from, to int64) map[int32][ledger.NotRecorded + 1]int64 {
	out := map[int32][ledger.NotRecorded + 1]int64{}
	now := map[int32]ledger.State{}
	since := map[int32]int64{}
	pass := func(p int32, until int64) {
		sum := out[p]
		sum[now[p]] += until - since[p] - max(0, min(until, to)-max(since[p], from))
		out[p], since[p] = sum, until
	}
	var states ledger.States
	for i := range ds {
		states.Apply(&ds[i])
		for _, c := range states.Changes() {
			if _, ok := since[c.P]; ok {
				pass(c.P, ds[i].Time)
			}
			now[c.P], since[c.P] = c.To, ds[i].Time
		}
	}
	for p := range since {
		pass(p, end)
	}
	return out
}

// pressureOf is the share of the time without [from, to) in which a goroutine of the
// program was runnable.
func pressureOf(ds []reference.Decision, end, from, to int64) float64 {
	waiting := map[int64]bool{}
	some, last := int64(0), int64(0)
	pass := func(until int64) {
		if len(waiting) > 0 {
			some += until - last - max(0, min(until, to)-max(last, from))
		}
		last = until
	}
	for _, d := range ds {
		pass(d.Time)
		switch {
		case d.Kind == reference.KindReady && d.Flags.OfProgram():
			waiting[d.G] = true
		case d.Kind == reference.KindReady, d.Kind == reference.KindStart, d.Kind == reference.KindStop:
			delete(waiting, d.G)
		}
	}
	pass(end)
	return float64(some) / float64(end-(to-from))
}

// How long a gap is changes nothing but times: no share, rate, wait or finding. The
// traces are those that each detector finds something in, cut many times.
func TestLengthOfGapDoesNotMatter(t *testing.T) {
	const dir = "../testdata/traces/cases/"
	files, err := filepath.Glob(dir + "*-trigger-go1.26*.trace.gz")
	if err != nil || len(files) < 20 {
		t.Fatalf("%d traces: %v", len(files), err)
	}
	found := map[string]bool{}
	for i, file := range files {
		if !tracetest.Long() && i%4 != 0 {
			continue
		}
		name := strings.TrimSuffix(filepath.Base(file), ".trace.gz")
		_, ds := decided(t, tracetest.Recorded(t, "cases/"+name))
		const short, more = 1_003_000_000, 100_000_000_000 // no window reaches over a gap, and more is a multiple of all
		want := timelessOf(cut(ds, short))
		if d := cmp.Diff(want, timelessOf(cut(ds, short+more))); d != "" {
			t.Errorf("%s: -short gaps +long:\n%s", name, d)
		}
		for _, x := range want.Findings {
			found[x.ID] = true
		}
	}
	if len(found) < len(files)/8 {
		t.Errorf("only %v found something", found)
	}
}

// cuts is how many gaps cut puts into a stream.
const cuts = 20

// cut puts gaps into a stream.
func cut(ds []reference.Decision, ns int64) []reference.Decision {
	var out []reference.Decision
	type state struct {
		on int32
		d  reference.Decision
	}
	active := map[int64]state{} // that run, are runnable or in a system call
	end := ds[len(ds)-1].Time
	stopped, marks := false, false
	shift, gaps := int64(0), 0
	for _, d := range ds {
		if gaps < cuts && d.Time > end*int64(gaps+1)/(cuts+1) {
			at := out[len(out)-1].Time
			for _, g := range slices.Sorted(maps.Keys(active)) {
				a := active[g]
				out = append(out, reference.Decision{Time: at, Kind: reference.KindStop, G: g, Class: a.d.Class, Flags: a.d.Flags & reference.FlagsRuntime, P: a.on,
					M: reference.NoM, Victim: reference.NoP, Why: reference.WhyLost})
			}
			if stopped {
				out = append(out, reference.Decision{Time: at, Kind: reference.KindSTWEnd, G: reference.NoG, P: reference.NoP, Victim: reference.NoP})
			}
			if marks {
				out = append(out, reference.Decision{Time: at, Kind: reference.KindGCEnd, G: reference.NoG, P: reference.NoP, Victim: reference.NoP})
			}
			out = append(out, reference.Decision{Time: at, Kind: reference.KindLost, G: reference.NoG, P: reference.NoP, Victim: reference.NoP, Wait: ns})
			clear(active)
			stopped, marks = false, false
			shift += ns
			gaps++
		}
		d.Time += shift
		out = append(out, d)
		switch d.Kind {
		case reference.KindReady:
			active[d.G] = state{reference.NoP, d}
		case reference.KindStart, reference.KindSyscall, reference.KindSyscallExit:
			active[d.G] = state{d.P, d}
		case reference.KindStop:
			delete(active, d.G)
		case reference.KindSTWBegin, reference.KindSTWEnd:
			stopped = d.Kind == reference.KindSTWBegin
		case reference.KindGCBegin, reference.KindGCEnd:
			marks = d.Kind == reference.KindGCBegin
		}
	}
	return out
}

// timeless is what the accumulators make of a stream, without times.
type timeless struct {
	Findings []findings.Finding
	Ps       procs.Result
	Pressure fairness.Pressure
	Fairness fairness.Result
	Waits    map[string]waits.Summary
}

func timelessOf(ds []reference.Decision) timeless {
	end := ds[len(ds)-1].Time
	ps, fair, ws, set := procs.New(), fairness.New(), waits.New(waits.Options{}), findings.NewSet(all.Detectors(all.Default()))
	feed := ledger.NewFeed(ps.Add, fair.Add, ws.Add)
	feed.AddAll(ds)
	feed.Close(end)
	ledger.NewFeed(set.Add).AddAll(ds)
	a := timeless{Ps: ps.Finish()}
	a.Fairness, a.Pressure = fair.Finish(end, feed.Live(), nil)
	w := ws.Finish(end, feed.Live(), classOf)
	f := &findings.Facts{EndNs: end, Procs: a.Ps, Pressure: a.Pressure, Waits: w,
		ClassName: classOf,
		Stack:     func(h int32) []string { return []string{fmt.Sprint("main.f", h, " (main.go:1)")} },
	}
	a.Findings = set.Finish(f)
	for i := range a.Findings {
		a.Findings[i].FromNs, a.Findings[i].ToNs = 0, 0
	}
	for i := range a.Ps.Ps {
		p := &a.Ps.Ps[i]
		p.LifetimeNs -= p.NotRecordedNs
		p.NotRecordedNs = 0
	}
	for i := range a.Ps.Procs {
		a.Ps.Procs[i].AtNs = 0
	}
	a.Pressure.Age = fairness.Age{MaxNs: a.Pressure.Age.MaxNs}
	for i := range a.Pressure.Windows {
		a.Pressure.Windows[i].Some.AtNs, a.Pressure.Windows[i].Full.AtNs = 0, 0
	}
	a.Waits = map[string]waits.Summary{"all": w.All, "user": w.User, "self": w.Self, "system": w.System}
	return a
}

func classOf(id int32) (name, creator string) { return fmt.Sprint("main.f", id), "main.main" }

// Without a timeline a result is as it is with one, and knows the gaps.
func TestNoTimeline(t *testing.T) {
	gap := withoutGenerations(t, "real/manygens-io-go1.26-p4", 4, 9)
	for name, o := range map[string]analyze.Options{
		"whole":  {},
		"window": {Focus: focus.Focus{From: 1e6, To: 1e9}},
		"class":  {Focus: focus.Focus{Classes: []string{"main.*"}}},
		"limit":  {MaxMemory: analyze.MinMemory},
	} {
		t.Run(name, func(t *testing.T) {
			run := func() *analyze.Result {
				src, err := input.New(bytes.NewReader(gap), "trace")
				if err != nil {
					t.Fatal(err)
				}
				defer src.Close()
				res, err := analyze.Run(t.Context(), src, o)
				if err != nil {
					t.Fatal(err)
				}
				return res
			}
			want := run()
			if o.NoTimeline = true; len(want.Timeline.NotRecorded) == 0 {
				t.Fatal("there is no gap")
			}
			want.Timeline = timeline.Result{FromNs: want.Timeline.FromNs, EndNs: want.Timeline.EndNs, NotRecorded: want.Timeline.NotRecorded}
			if diff := cmp.Diff(want, run(), cmpopts.EquateNaNs(), cmp.Exporter(func(reflect.Type) bool { return true })); diff != "" {
				t.Error(diff)
			}
		})
	}
}
