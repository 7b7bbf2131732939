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
func (a *account) run(end int64) outcome {
	a.feed.Close(end)
	w, p := a.waits.Finish(end, a.feed.Live(), nil), a.procs.Finish()
	return outcome{run: measured(end, &w.All, &p), waits: w, last: a.last}
}

func measured(makespan int64, w *waits.Summary, p *procs.Result) Run {
	r := Run{
		MakespanNs: makespan,
		Waits:      Waits{Count: w.Count, TotalNs: w.TotalNs, P50: w.P50, P99: w.P99, TimeWeighted: Weighted{P50: w.TimeWeighted.P50}},
		Steals:     &p.Steals.Count, GlobalTakes: &p.GlobalTakes,
	}
	for _, x := range p.Ps {
		r.BusyNs += x.RunningNs
	}
	return r
}

// fields are the numbers of a Run.
func (r *Run) fields() []*int64 {
	return []*int64{&r.MakespanNs, &r.BusyNs, &r.Waits.Count, &r.Waits.TotalNs, &r.Waits.P50, &r.Waits.P99, &r.Waits.TimeWeighted.P50, r.Steals, r.GlobalTakes}
}

func newRun() Run { return Run{Steals: new(int64), GlobalTakes: new(int64)} }

// summarise returns the medians of runs, and how far they spread.
func summarise(all []outcome) (Run, Range) {
	mid, r := newRun(), Range{newRun(), newRun()}
	least, most := r.Min.fields(), r.Max.fields()
	for k, f := range mid.fields() {
		*least[k], *f, *most[k] = spread(all, func(o outcome) int64 { return *o.run.fields()[k] })
	}
	return mid, r
}

// spread returns the least, the median and the most of a number over runs. Of an even number of
// runs the median is the lower one of the two in the middle, so that it is a value that occurred.
func spread[T any](runs []T, of func(T) int64) (least, mid, most int64) {
	v := make([]int64, len(runs))
	for i, r := range runs {
		v[i] = of(r)
	}
	slices.Sort(v)
	return v[0], v[(len(v)-1)/2], v[len(v)-1]
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

// topClasses returns the classes that waited longest in the observed run, but for some, with
// the names that they have in the whole trace.
func topClasses(observed waits.Result, res *analyze.Result, but ...int32) []waits.Class {
	names := map[int32]waits.Class{}
	for _, c := range res.Waits.Classes {
		names[c.ID] = c
	}
	var out []waits.Class
	for _, c := range observed.Classes {
		if len(out) == maxClasses || c.Waits.TotalNs == 0 {
			break
		}
		if !slices.Contains(but, c.ID) {
			c.Name, c.Creator = names[c.ID].Name, names[c.ID].Creator
			out = append(out, c)
		}
	}
	return out
}

// class returns what goroutines of a class did in a run.
func (o *outcome) class(id int32) waits.Class {
	if i := slices.IndexFunc(o.waits.Classes, func(c waits.Class) bool { return c.ID == id }); i >= 0 {
		return o.waits.Classes[i]
	}
	return waits.Class{}
}

// classRuns lays the classes side by side.
func classRuns(observed waits.Result, simulated []outcome, res *analyze.Result) []ClassRun {
	out := []ClassRun{}
	for _, c := range topClasses(observed, res, waits.ClassOthers) {
		x := ClassRun{Name: c.Name, Creator: c.Creator, Observed: classWait(c)}
		of := make([]ClassWait, len(simulated))
		for i := range simulated {
			of[i] = classWait(simulated[i].class(c.ID))
		}
		middle := func(number func(ClassWait) int64) int64 {
			_, mid, _ := spread(of, number)
			return mid
		}
		x.Simulated = ClassWait{
			RunningNs: middle(func(w ClassWait) int64 { return w.RunningNs }),
			Count:     middle(func(w ClassWait) int64 { return w.Count }),
			TotalNs:   middle(func(w ClassWait) int64 { return w.TotalNs }),
			P50:       middle(func(w ClassWait) int64 { return w.P50 }),
			P99:       middle(func(w ClassWait) int64 { return w.P99 }),
		}
		x.Error = relative(x.Observed.TotalNs, x.Simulated.TotalNs)
		out = append(out, x)
	}
	slices.SortStableFunc(out, func(a, b ClassRun) int { return cmp.Compare(b.Observed.TotalNs, a.Observed.TotalNs) })
	return out
}

func classWait(c waits.Class) ClassWait {
	return ClassWait{RunningNs: c.RunningNs, Count: c.Waits.Count, TotalNs: c.Waits.TotalNs, P50: c.Waits.P50, P99: c.Waits.P99}
}

// causeRuns lays side by side why goroutines waited.
func causeRuns(observed waits.Result, simulated []outcome) []CauseRun {
	out := []CauseRun{}
	for i, c := range observed.All.Causes {
		_, mid, _ := spread(simulated, func(o outcome) int64 { return o.waits.All.Causes[i].Ns })
		out = append(out, CauseRun{Cause: c.Cause, ObservedNs: c.Ns, SimulatedNs: mid})
	}
	return out
}

// notes reports what a workload lacks.
func (r *replaying) notes() []string {
	w := r.work
	out := []string{}
	add := func(format string, v ...any) { out = append(out, fmt.Sprintf(format, v...)) }
	switch {
	case w.Capped && r.f.lowered:
		add("the workload is too large for the limit of %d MiB of memory: what comes after %s was left out: raise it (--max-memory)", r.f.opt.MaxMemory>>20, quantity.Duration(w.EndNs))
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
	if r.res.Trace.Incomplete {
		add("the trace is not complete")
	}
	return out
}
