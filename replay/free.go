package replay

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/gmpscope/gmpscope/analyze"
	"github.com/gmpscope/gmpscope/analyze/input"
	"github.com/gmpscope/gmpscope/analyze/waits"
	"github.com/gmpscope/gmpscope/reference"
	"github.com/gmpscope/gmpscope/reference/sim"
	"github.com/gmpscope/gmpscope/replay/workload"
)

// FreeOptions of a free replay. The zero value is usable.
type FreeOptions struct {
	// Seeds is how many runs each scheduler does; 0 means 5.
	Seeds int
	// Workload bounds what is taken from the trace.
	Workload workload.Options
	// WhatIf is what to try besides.
	WhatIf []Change
}

// Change is something that could be different. The zero value of a field means
// that it stays.
type Change struct {
	Policy string // named policy, see sim.PolicyNames
	Procs  int    // GOMAXPROCS
	Slice  int64  // time slice, in ns
	// Class is the start function of a class, or its last part, and Speed how
	// much faster its goroutines compute.
	Class string
	Speed float64
	NoGC  bool
}

// String says what is different, in the words of the command line.
func (c Change) String() string {
	out := ""
	add := func(format string, v ...any) {
		if out != "" {
			out += ", "
		}
		out += fmt.Sprintf(format, v...)
	}
	if c.Policy != "" {
		add("policy %s", c.Policy)
	}
	if c.Procs != 0 {
		add("GOMAXPROCS %d", c.Procs)
	}
	if c.Slice != 0 {
		add("slice %v", time.Duration(c.Slice))
	}
	if c.Speed != 0 {
		add("%s %g x as fast", c.Class, c.Speed)
	}
	if c.NoGC {
		add("no GC")
	}
	return out
}

// Free is the account of a free replay: the work of the trace, scheduled by the
// reference.
type Free struct {
	Workload  Size  `json:"workload"`
	Simulated Run   `json:"simulated"` // medians over the seeds, number by number
	Spread    Range `json:"spread"`    // over the seeds
	Error     Error `json:"error"`     // of Simulated against Result.Observed
	// Causes has the waiting time by cause. What only the observed run waited for
	// is not the scheduler's doing: the machine's, if it is idle-p or residue.
	Causes []CauseRun `json:"causes"`
	// Classes has the classes that waited longest, as observed, at most 20.
	Classes []ClassRun `json:"classes"`
	WhatIf  []WhatIf   `json:"what_if"`
	// Notes says what the workload lacks, in words.
	Notes []string `json:"notes"`
}

// Size says how much work was taken from a trace.
type Size struct {
	Goroutines int   `json:"goroutines"`
	Steps      int   `json:"steps"`
	Arrivals   int   `json:"arrivals"`   // from outside
	GCCycles   int   `json:"gc_cycles"`  // of the garbage collector
	MarkNs     int64 `json:"mark_ns"`    // of its workers
	GOMAXPROCS int   `json:"gomaxprocs"` // that held longest
	// SwitchNs and ThreadWakeNs are costs that were measured in the trace; 0 if
	// they were not, and the default holds (sim.Costs).
	SwitchNs     int64 `json:"switch_ns"`
	ThreadWakeNs int64 `json:"thread_wake_ns"`
	EndNs        int64 `json:"end_ns"`  // up to which the trace was taken in
	Omitted      int64 `json:"omitted"` // decisions after that
	Seeds        int   `json:"seeds"`   // simulations of each scheduler
}

// Range is the smallest and the largest value, number by number.
type Range struct {
	Min Run `json:"min"`
	Max Run `json:"max"`
}

// Error has by how much of the observed value a simulated one is more, or less.
// A number is nil where nothing was observed.
type Error struct {
	Makespan    *float64   `json:"makespan"`
	Busy        *float64   `json:"busy"`
	Waits       ErrorWaits `json:"waits"`
	Steals      *float64   `json:"steals"`
	GlobalTakes *float64   `json:"global_takes"`
}

// ErrorWaits is the part of Error about waits.
type ErrorWaits struct {
	Count       *float64 `json:"count"`
	Total       *float64 `json:"total"`
	P50         *float64 `json:"p50"`
	P99         *float64 `json:"p99"`
	WeightedP50 *float64 `json:"time_weighted_p50"`
}

// CauseRun is the waiting time that one cause owns.
type CauseRun struct {
	Cause       waits.Cause `json:"cause"`
	ObservedNs  int64       `json:"observed_ns"`
	SimulatedNs int64       `json:"simulated_ns"` // median
}

// ClassRun is how it went for one class of goroutines.
type ClassRun struct {
	Name      string    `json:"name"`
	Creator   string    `json:"creator"`
	Observed  ClassWait `json:"observed"`
	Simulated ClassWait `json:"simulated"` // medians
	Error     *float64  `json:"error"`     // of the total wait
	id        int32
}

// ClassWait is the account of a class. P50 and P99 are right to 1 %.
type ClassWait struct {
	RunningNs int64 `json:"running_ns"`
	Count     int64 `json:"count"` // of waits
	TotalNs   int64 `json:"total_ns"`
	P50       int64 `json:"p50_ns"`
	P99       int64 `json:"p99_ns"`
}

// WhatIf is how it would have gone. It means something only beside Free.Error.
type WhatIf struct {
	Change    string `json:"change"`
	Simulated Run    `json:"simulated"`
	Spread    Range  `json:"spread"`
}

// maxProcs is the largest GOMAXPROCS that the simulator takes.
const maxProcs = 1 << 14

// topClasses is how many classes are told.
const topClasses = 20

// Freeing is a free replay beside an analysis that is under way: it gets the
// decisions, and then the result.
type Freeing struct {
	opt      FreeOptions
	minor    int
	extract  *workload.Extractor // nil if there is nothing to replay
	observed *account
}

// Check says what is wrong with the options.
func (o FreeOptions) Check() error {
	for _, c := range o.WhatIf {
		pol, _, ok := sim.PolicyFor(c.Policy)
		switch {
		case c.Policy != "" && !ok:
			return fmt.Errorf("policy %q is not known; there are %s", c.Policy, strings.Join(Policies(), ", "))
		case pol.Fluid:
			return fmt.Errorf("policy %q has no queues, and so no waits to compare", c.Policy)
		case c.Procs < 0 || c.Procs > maxProcs:
			return fmt.Errorf("GOMAXPROCS %d: must be 1 to %d", c.Procs, maxProcs)
		case c.Slice < 0:
			return fmt.Errorf("slice of %d ns: must be more than 0", c.Slice)
		case c.Class != "" && !(c.Speed >= 1e-3 && c.Speed <= 1e3):
			return fmt.Errorf("%s %g times as fast: must be 0.001 to 1000", c.Class, c.Speed)
		}
	}
	return nil
}

// NewFreeing returns a Freeing for a trace with that header.
func NewFreeing(h input.Header, o FreeOptions) *Freeing {
	if o.Seeds <= 0 {
		o.Seeds = 5
	}
	f := &Freeing{opt: o, minor: h.Minor}
	if !h.V1 {
		f.extract, f.observed = workload.NewExtractor(o.Workload), newAccount()
	}
	return f
}

// FreeReplay analyses a trace and replays it freely, besides the guided replay.
func FreeReplay(ctx context.Context, src *input.Source, o FreeOptions) (*Result, error) {
	g, f := NewGuiding(src.Header(), Options{}), NewFreeing(src.Header(), o)
	res, err := analyze.Run(ctx, src, analyze.Options{OnDecision: func(d *reference.Decision) error {
		return errors.Join(g.Add(d), f.Add(d))
	}})
	if err != nil {
		return nil, fmt.Errorf("replay: %w", err)
	}
	out := g.Finish(res)
	return out, f.Finish(ctx, res, out)
}

// Policies lists the names that Change.Policy may have.
func Policies() []string {
	return slices.DeleteFunc(sim.PolicyNames(), func(n string) bool {
		p, _, _ := sim.PolicyFor(n)
		return p.Fluid
	})
}

// Add takes the next decision. It is made for analyze.Options.OnDecision, and
// never fails.
func (f *Freeing) Add(d *reference.Decision) error {
	if f.extract != nil && f.extract.Add(d) {
		f.observed.add(d)
	}
	return nil
}

// Finish simulates, and adds its account to that of the guided replay, whose
// Observed becomes the part of the run that was taken in.
func (f *Freeing) Finish(ctx context.Context, res *analyze.Result, out *Result) error {
	if err := f.opt.Check(); err != nil {
		return fmt.Errorf("replay: %w", err)
	}
	if f.extract == nil {
		return nil
	}
	w := f.extract.Finish(res.Trace.DurationNs)
	changes, err := f.changes(res)
	if err != nil {
		return err
	}
	var observed waits.Result
	out.Observed, observed = f.observed.run(w.EndNs)
	free := &Free{
		Workload: Size{
			Goroutines: w.Goroutines, Steps: w.Steps, Arrivals: w.Arrivals, GCCycles: w.Cycles, MarkNs: w.MarkNs,
			GOMAXPROCS: w.Procs, SwitchNs: w.SwitchNs, ThreadWakeNs: w.ThreadWakeNs, EndNs: w.EndNs, Omitted: w.Omitted, Seeds: f.opt.Seeds,
		},
		WhatIf: []WhatIf{}, Notes: notes(w, res),
	}
	simulate := func(s scheduler) ([]Run, []waits.Result, error) {
		var runs []Run
		var all []waits.Result
		for seed := range f.opt.Seeds {
			r, c, err := s.simulate(ctx, w, uint64(seed+1))
			if err != nil {
				return nil, nil, fmt.Errorf("replay: %w", err)
			}
			runs, all = append(runs, r), append(all, c)
		}
		return runs, all, nil
	}
	runs, all, err := simulate(f.scheduler(Change{}, w))
	if err != nil {
		return err
	}
	free.Simulated, free.Spread = summarise(runs)
	free.Error = compare(out.Observed, free.Simulated)
	free.Causes, free.Classes = causeRuns(observed, all), classRuns(observed, all, res)
	for i, c := range f.opt.WhatIf {
		s := f.scheduler(c, w)
		s.change = changes[i]
		runs, _, err := simulate(s)
		if err != nil {
			return err
		}
		x := WhatIf{Change: c.String()}
		x.Simulated, x.Spread = summarise(runs)
		free.WhatIf = append(free.WhatIf, x)
	}
	out.Free = free
	return nil
}

// changes finds the classes that Options.WhatIf names.
func (f *Freeing) changes(res *analyze.Result) ([]workload.Change, error) {
	out := make([]workload.Change, len(f.opt.WhatIf))
	for i, c := range f.opt.WhatIf {
		out[i].NoGC = c.NoGC
		if c.Class == "" {
			continue
		}
		out[i].Speed = map[int32]float64{}
		for _, k := range res.Waits.Classes {
			if k.Name == c.Class || strings.HasSuffix(k.Name, "."+c.Class) || strings.HasSuffix(k.Name, "/"+c.Class) {
				out[i].Speed[k.ID] = c.Speed
			}
		}
		if len(out[i].Speed) == 0 {
			return nil, fmt.Errorf("no class is called %q: name a start function as gmpscope analyze shows it", c.Class)
		}
	}
	return out, nil
}

// scheduler is what the work is given to.
type scheduler struct {
	policy sim.Policy
	costs  sim.Costs
	procs  int
	change workload.Change
}

// scheduler returns the trace's own, but for a change.
func (f *Freeing) scheduler(c Change, w *workload.Workload) scheduler {
	s := scheduler{policy: sim.Version(f.minor), costs: sim.DefaultCosts(), procs: w.Procs}
	if c.Policy != "" {
		s.policy, s.costs, _ = sim.PolicyFor(c.Policy)
	}
	if c.Procs != 0 {
		s.procs = c.Procs
	}
	if c.Slice != 0 {
		s.policy.Rules.Slice = c.Slice
	}
	if s.costs.Switch == sim.DefaultCosts().Switch && w.SwitchNs > 0 {
		s.costs.Switch = w.SwitchNs
	}
	if s.costs.ThreadWake != 0 && w.ThreadWakeNs > 0 {
		s.costs.ThreadWake = w.ThreadWakeNs
	}
	// Observed sleeps hold the poller's grain already, and observed system calls
	// what their return costs.
	s.policy.Rules.PollResolution, s.costs.Syscall = 0, 0
	return s
}

func (s scheduler) simulate(ctx context.Context, w *workload.Workload, seed uint64) (Run, waits.Result, error) {
	a := newAccount()
	emit := func(d *reference.Decision) {
		if !w.Invents(d) {
			a.add(d)
		}
	}
	r, err := sim.Simulate(ctx, sim.Options{Policy: s.policy, Costs: s.costs, Procs: s.procs, Seed: seed, Emit: emit}, w.Load(s.change))
	if err != nil {
		return Run{}, waits.Result{}, err
	}
	run, why := a.run(r.EndNs)
	// In the trace they ran while the world was stopped; in the model it is
	// stopped from outside.
	run.BusyNs += w.StopperNs
	if s.change.NoGC {
		run.BusyNs -= w.GCStopperNs
	}
	return run, why, nil
}
