package replay

import (
	"cmp"
	"fmt"
	"slices"

	"github.com/gmpscope/gmpscope/analyze"
	"github.com/gmpscope/gmpscope/analyze/ledger"
	"github.com/gmpscope/gmpscope/analyze/procs"
	"github.com/gmpscope/gmpscope/analyze/waits"
	"github.com/gmpscope/gmpscope/internal/quantity"
	"github.com/gmpscope/gmpscope/reference"
	"github.com/gmpscope/gmpscope/replay/workload"
)

// account measures a run, observed or simulated, with the accumulators of the
// analysis.
type account struct {
	feed  *ledger.Feed
	waits *waits.Accumulator
	procs *procs.Accumulator
	last  int64 // when a goroutine of the program stopped last, in ns
}

func newAccount() *account {
	a := &account{waits: waits.New(waits.Options{Worst: -1, WorstPerClass: -1, WorstClasses: -1}), procs: procs.New()}
	a.feed = ledger.NewFeed(a.waits.Add, a.procs.Add)
	return a
}

func (a *account) add(d *reference.Decision) {
	a.feed.Add(d)
	if d.Kind == reference.KindStop && d.Flags.OfProgram() {
		a.last = d.Time
	}
}

// run ends the account, after end ns. The caller knows better what the makespan
// is, if the run did not end with the trace.
func (a *account) run(end int64) (Run, waits.Result) {
	a.feed.Close(end)
	w, p := a.waits.Finish(end, a.feed.Live(), nil), a.procs.Finish()
	r := Run{
		MakespanNs: end,
		Waits: Waits{
			Count: w.All.Count, TotalNs: w.All.TotalNs, P50: w.All.P50, P99: w.All.P99, TimeWeighted: Weighted{P50: w.All.TimeWeighted.P50},
		},
		Steals: &p.Steals.Count, GlobalTakes: &p.GlobalTakes,
	}
	for _, x := range p.Ps {
		r.BusyNs += x.RunningNs
	}
	return r, w
}

// fields are the numbers of a Run.
func (r *Run) fields() []*int64 {
	return []*int64{&r.MakespanNs, &r.BusyNs, &r.Waits.Count, &r.Waits.TotalNs, &r.Waits.P50, &r.Waits.P99, &r.Waits.TimeWeighted.P50, r.Steals, r.GlobalTakes}
}

func newRun() Run { return Run{Steals: new(int64), GlobalTakes: new(int64)} }

// summarise returns the medians of runs, and how far they spread.
func summarise(runs []Run) (Run, Range) {
	mid, r := newRun(), Range{newRun(), newRun()}
	values := make([][]*int64, len(runs))
	for i := range runs {
		values[i] = runs[i].fields()
	}
	for k, f := range mid.fields() {
		var of []int64
		for _, v := range values {
			of = append(of, *v[k])
		}
		*f = median(of)
		*r.Min.fields()[k], *r.Max.fields()[k] = slices.Min(of), slices.Max(of)
	}
	return mid, r
}

// median sorts v. Of an even number it is the lower one of the two in the
// middle, so that it is a value that occurred.
func median(v []int64) int64 {
	slices.Sort(v)
	return v[(len(v)-1)/2]
}

func compare(observed, simulated Run) Error {
	var e [9]*float64
	o, s := observed.fields(), simulated.fields()
	for i := range e {
		e[i] = relative(*o[i], *s[i])
	}
	return Error{
		Makespan: e[0], Busy: e[1], Waits: ErrorWaits{Count: e[2], Total: e[3], P50: e[4], P99: e[5], WeightedP50: e[6]},
		Steals: e[7], GlobalTakes: e[8],
	}
}

func relative(observed, simulated int64) *float64 {
	if observed == 0 {
		return nil
	}
	e := float64(simulated-observed) / float64(observed)
	return &e
}

// classRuns lays the classes side by side.
func classRuns(observed waits.Result, simulated []outcome, res *analyze.Result) []ClassRun {
	names := map[int32]waits.Class{}
	for _, c := range res.Waits.Classes {
		names[c.ID] = c
	}
	account := func(c waits.Class) ClassWait {
		return ClassWait{RunningNs: c.RunningNs, Count: c.Waits.Count, TotalNs: c.Waits.TotalNs, P50: c.Waits.P50, P99: c.Waits.P99}
	}
	out := []ClassRun{}
	for _, c := range observed.Classes {
		if len(out) == topClasses || c.Waits.TotalNs == 0 {
			break
		}
		if c.ID == waits.ClassOthers {
			continue
		}
		out = append(out, ClassRun{Name: names[c.ID].Name, Creator: names[c.ID].Creator, Observed: account(c), id: c.ID})
	}
	for i := range out {
		var v [5][]int64
		for _, r := range simulated {
			k := slices.IndexFunc(r.waits.Classes, func(c waits.Class) bool { return c.ID == out[i].id })
			w := ClassWait{}
			if k >= 0 {
				w = account(r.waits.Classes[k])
			}
			for j, n := range []int64{w.RunningNs, w.Count, w.TotalNs, w.P50, w.P99} {
				v[j] = append(v[j], n)
			}
		}
		out[i].Simulated = ClassWait{RunningNs: median(v[0]), Count: median(v[1]), TotalNs: median(v[2]), P50: median(v[3]), P99: median(v[4])}
		out[i].Error = relative(out[i].Observed.TotalNs, out[i].Simulated.TotalNs)
	}
	slices.SortStableFunc(out, func(a, b ClassRun) int { return cmp.Compare(b.Observed.TotalNs, a.Observed.TotalNs) })
	return out
}

// causeRuns lays side by side why goroutines waited.
func causeRuns(observed waits.Result, simulated []outcome) []CauseRun {
	out := []CauseRun{}
	for i, c := range observed.All.Causes {
		var of []int64
		for _, r := range simulated {
			of = append(of, r.waits.All.Causes[i].Ns)
		}
		out = append(out, CauseRun{Cause: c.Cause, ObservedNs: c.Ns, SimulatedNs: median(of)})
	}
	return out
}

// notes reports what a workload lacks.
func (f *Simulation) notes(w *workload.Workload, res *analyze.Result) []string {
	out := []string{}
	add := func(format string, v ...any) { out = append(out, fmt.Sprintf(format, v...)) }
	switch {
	case w.Capped && f.lowered:
		add("the workload is too large for the limit of %d MiB of memory: what comes after %s was left out: raise it (--max-memory)", f.opt.MaxMemory>>20, quantity.Duration(w.EndNs))
	case w.Capped:
		add("the workload is too large: what comes after %s was left out", quantity.Duration(w.EndNs))
	case w.Omitted > 0:
		add("what comes after %s was left out, as asked for", quantity.Duration(w.EndNs))
	}
	if w.ProcsChanged {
		add("GOMAXPROCS changes in the trace, and in the model with it; %d held longest", w.Procs)
	}
	if w.NoRunnext {
		add("nothing was put into a runnext slot, as on wasm: the model has none, either")
	}
	if w.Odd > 0 {
		add("%d decisions contradict those before them", w.Odd)
	}
	if res.Trace.Incomplete {
		add("the trace is not complete")
	}
	return out
}
