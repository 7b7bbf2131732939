package replay

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/gmpscope/gmpscope/analyze"
	"github.com/gmpscope/gmpscope/analyze/input"
	"github.com/gmpscope/gmpscope/analyze/waits"
	"github.com/gmpscope/gmpscope/internal/funcname"
	"github.com/gmpscope/gmpscope/internal/quantity"
	"github.com/gmpscope/gmpscope/reference"
	"github.com/gmpscope/gmpscope/reference/sim"
	"github.com/gmpscope/gmpscope/replay/workload"
)

// SimulateOptions are the options of a simulation of the work. The zero value is usable.
type SimulateOptions struct {
	// Seeds is the number of runs of each scheduler; 0 means 5.
	Seeds int
	// Rules are the rules of the scheduler that wrote the trace; the zero value means those of
	// its format.
	Rules reference.Rules
	// From is the beginning of the simulated part, in ns since the first event of the trace.
	// Goroutines that run or are runnable then exist from the start.
	From int64
	// Workload bounds what is taken from the trace. Its Until counts from the
	// beginning of the trace, as From does.
	Workload workload.Options
	// MaxMemory limits the memory, in bytes; 0 means no limit. With it, less may be taken from
	// the trace.
	MaxMemory int64
	// WhatIf are the changes to simulate as well.
	WhatIf []Change
}

// Change is a change of scheduler or program for a what-if. The zero value of a field
// means no change.
type Change struct {
	Policy string // named policy, see sim.PolicyNames
	Procs  int    // GOMAXPROCS
	Slice  int64  // time slice, in ns
	// Class is the start function of goroutines, or the last part of its name, and Speed the
	// factor by which these compute faster: 2 halves their computing time.
	Class string
	Speed float64
	// Yield is the computing time, in ns, after which the goroutines of Class call
	// runtime.Gosched.
	Yield int64
	// FreeLock is a function, or the last part of its name, whose mutexes nobody
	// waits for: those that it locks itself (sync.Mutex, sync.RWMutex).
	FreeLock string
	// Unlocked unlocks all goroutines from their threads.
	Unlocked bool
	NoGC     bool // the garbage collector does not run
}

// String returns the change in the words of the command line.
func (c Change) String() string {
	var out []string
	add := func(format string, v ...any) { out = append(out, fmt.Sprintf(format, v...)) }
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
	if c.Yield != 0 {
		add("%s yields every %v", c.Class, time.Duration(c.Yield))
	}
	if c.FreeLock != "" {
		add("lock of %s free", c.FreeLock)
	}
	if c.Unlocked {
		add("no locked threads")
	}
	if c.NoGC {
		add("no GC")
	}
	return strings.Join(out, ", ")
}

// Simulated is the result of a simulation: the work of the trace, scheduled by package
// reference/sim.
type Simulated struct {
	Workload Size `json:"workload"` // what was taken from the trace
	// Simulated is the trace's own scheduler: median over the seeds, number by number; the
	// makespan goes from the start to the last stop of a goroutine of the program, and as
	// long after it as in the trace.
	Simulated Run   `json:"simulated"`
	Spread    Range `json:"spread"` // over the seeds
	Error     Error `json:"error"`  // of Simulated against the observed run
	// Untrusted is why neither Simulated nor WhatIf can be trusted: the recording had more
	// Ps than CPUs, by --cpus, or the model is off by more than 10 % in the makespan, or 30
	// % in the time waited.
	Untrusted string `json:"untrusted,omitempty"`
	// Causes is the waiting time by cause; what only the observed run has is due to the
	// machine if it is idle-p-available or scheduler-overhead.
	Causes        []CauseRun     `json:"causes"`
	Classes       []ClassRun     `json:"classes"` // at most 20, those that waited longest in the trace
	Decomposition *Decomposition `json:"split"`   // absent if that failed, as the notes say
	WhatIf        []WhatIf       `json:"what_if"` // one simulation for each change, except those that the notes name
	Notes         []string       `json:"notes"`   // what the workload lacks
}

// Size is how much work was taken from a trace, for how many simulations.
type Size struct {
	Goroutines int   `json:"goroutines"` // number of goroutines
	Steps      int   `json:"steps"`      // pieces of computing, wake-ups, blockings, system calls …
	Arrivals   int   `json:"arrivals"`   // from outside: the network, the runtime, the state at the beginning
	GCCycles   int   `json:"gc_cycles"`  // garbage collections
	MarkNs     int64 `json:"mark_ns"`    // P-time of mark workers
	GOMAXPROCS int   `json:"gomaxprocs"` // value that held longest
	// SwitchNs is the median cost of a goroutine switch in the trace, from which each
	// simulation draws; 0 if not measured: then the default of sim.Costs holds.
	SwitchNs     int64 `json:"switch_ns"`
	ThreadWakeNs int64 `json:"thread_wake_ns"` // median cost of waking a thread; 0 as in SwitchNs
	FromNs       int64 `json:"from_ns"`        // beginning of the part taken
	EndNs        int64 `json:"end_ns"`         // end of the part taken
	Omitted      int64 `json:"omitted"`        // decisions after EndNs
	Seeds        int   `json:"seeds"`          // simulations of each scheduler
}

// Range is the smallest and the largest value over the simulations with different seeds,
// number by number.
type Range struct {
	Min Run `json:"min"`
	Max Run `json:"max"`
}

// Error is the relative deviation of simulated values from the observed ones, (simulated −
// observed) / observed: 0.1 is a tenth too much, -0.1 a tenth too little; null where nothing was
// observed.
type Error struct {
	Makespan    *float64   `json:"makespan"`     // from the first event to the last
	Busy        *float64   `json:"busy"`         // P-time of the program's goroutines
	Waits       ErrorWaits `json:"waits"`        // of the waits for a P
	Steals      *float64   `json:"steals"`       // number of steals
	GlobalTakes *float64   `json:"global_takes"` // takes from the global queue
}

// ErrorWaits is the relative deviation of simulated waits for a P from the observed ones, as in
// [Error]: null where nothing was observed.
type ErrorWaits struct {
	Count       *float64 `json:"count"`             // number of waits
	Total       *float64 `json:"total"`             // sum of the waits
	P50         *float64 `json:"p50"`               // median of the waits
	P99         *float64 `json:"p99"`               // 99th percentile
	WeightedP50 *float64 `json:"time_weighted_p50"` // median by waiting time
}

// CauseRun is the waiting time due to one cause.
type CauseRun struct {
	Cause       waits.Cause `json:"cause"`
	ObservedNs  int64       `json:"observed_ns"`  // in the trace
	SimulatedNs int64       `json:"simulated_ns"` // in the simulations, median
}

// ClassRun is one class in the observed and the simulated run.
type ClassRun struct {
	Name      string    `json:"name"`      // start function of the class
	Creator   string    `json:"creator"`   // function that executed the go statement
	Observed  ClassWait `json:"observed"`  // in the trace
	Simulated ClassWait `json:"simulated"` // median over the simulations
	Error     *float64  `json:"error"`     // of the total wait; null where nothing was observed
}

// ClassWait is the running and waiting of a class. P50Ns and P99Ns are within 1 %.
type ClassWait struct {
	RunningNs int64 `json:"running_ns"` // running time
	Count     int64 `json:"count"`      // waits that ended
	TotalNs   int64 `json:"total_ns"`   // sum
	P50       int64 `json:"p50_ns"`     // median
	P99       int64 `json:"p99_ns"`     // 99th percentile
}

// WhatIf is a simulation of the work under a change. Its error is at least that of
// Simulated.
type WhatIf struct {
	Change    string `json:"change"`    // what is different
	Simulated Run    `json:"simulated"` // median over the seeds
	Spread    Range  `json:"spread"`    // over the seeds
	// LockBoundNs is, for more Ps, the time for which a mutex is known to be held: a lower
	// bound of the makespan that the simulation may not know; the notes name the mutex; 0 if
	// not in the trace.
	LockBoundNs int64        `json:"lock_bound_ns"`
	Sensitivity *Sensitivity `json:"sensitivity,omitempty"` // dependence of the makespan on what the trace cannot show about another GOMAXPROCS; absent with the same
	// Untrusted is why it cannot be trusted: it or the recording has more Ps than --cpus gives
	// CPUs; the model is too far off; or, with another GOMAXPROCS, the model is out of its
	// bands, or the trace lacks what it would take: it is of one P, goroutines wait for
	// mutexes, the network or the kernel, or it depends on the speed of computing.
	Untrusted string `json:"untrusted,omitempty"`
	// UntrustedMakespan is why the makespan cannot be trusted either; if it is absent and
	// Untrusted is not, only what is said about waiting cannot be trusted.
	UntrustedMakespan string `json:"untrusted_makespan,omitempty"`
}

// Sensitivity is the outcome if computing took longer on more Ps, or shorter on fewer, or
// system calls twice as long: one simulation each.
type Sensitivity struct {
	Work       float64 `json:"work"`        // factor on computing and marking
	WorkNs     int64   `json:"work_ns"`     // makespan with that factor
	WorkWaited float64 `json:"work_waited"` // time waited with that factor, relative to that without
	CallsNs    int64   `json:"calls_ns"`    // makespan if system calls take twice as long, and waking a thread twice, or four times if it is not measured
	// DeadlinesNs is the makespan if timers that ran a function, or woke goroutines which
	// waited for something else too, are due as soon as they are set.
	DeadlinesNs int64 `json:"deadlines_ns"`
	makespan    int64 // without
}

// usualSeeds is how many runs each scheduler does if the options do not say.
const usualSeeds = 5

// leastYield bounds Change.Yield, in ns: each yield is an event of a simulation.
const leastYield = 1_000

// morePs is the part of the makespan that more Ps must save, so that it does not look as
// if there was no more work for them.
const morePs = 0.1

// Of a limit of memory the analysis takes otherMemory, and each step, goroutine and arrival of a
// workload stepMemory: a quarter in the workload, the rest when it is simulated, and before it is
// collected.
const (
	otherMemory = 64 << 20
	stepMemory  = 400
)

// maxClasses is how many classes are shown.
const maxClasses = 20

// Simulation simulates the work of a trace alongside its analysis: it takes the decisions,
// and then the result.
type Simulation struct {
	opt      SimulateOptions
	rules    reference.Rules
	extract  *workload.Extractor // nil if there is nothing to replay
	window   *workload.Window    // nil if all is taken in
	observed *account
	lowered  bool   // Options.MaxMemory bounds what is taken in
	holds    *holds // nil if nothing asks what more Ps would give
	frames   func(stack int32) []string
	progress func(done, total int64)
}

// Check returns an error if the options are invalid.
func (o SimulateOptions) Check() error {
	if o.From < 0 || o.Workload.Until > 0 && o.From >= o.Workload.Until {
		return fmt.Errorf("nothing lies between %v and %v", time.Duration(o.From), time.Duration(o.Workload.Until))
	}
	for _, c := range o.WhatIf {
		_, _, ok := sim.PolicyFor(c.Policy)
		switch {
		case c.Policy != "" && !ok:
			return fmt.Errorf("policy %q is not known; there are %s", c.Policy, strings.Join(sim.PolicyNames(), ", "))
		case c.Procs < 0 || c.Procs > sim.MaxProcs:
			return fmt.Errorf("GOMAXPROCS %d: must be 1 to %d", c.Procs, sim.MaxProcs)
		case c.Slice < 0:
			return fmt.Errorf("slice of %d ns: must be more than 0", c.Slice)
		case c.Yield < 0 || c.Yield > 0 && c.Yield < leastYield:
			return fmt.Errorf("%s yields every %d ns: must be %d or more", c.Class, c.Yield, leastYield)
		case c.Class != "" && c.Yield == 0 && !(c.Speed >= 1e-3 && c.Speed <= 1e3):
			return fmt.Errorf("%s %g times as fast: must be 0.001 to 1000", c.Class, c.Speed)
		}
	}
	return nil
}

// NewSimulation returns a Simulation for a trace with the given header.
func NewSimulation(h input.Header, o SimulateOptions) *Simulation {
	if o.Seeds <= 0 {
		o.Seeds = usualSeeds
	}
	rules, _ := analyze.ChooseRules(h, o.Rules)
	f := &Simulation{opt: o, rules: rules}
	if !h.V1 {
		w := o.Workload
		if most := int(max(1, (o.MaxMemory-otherMemory)/stepMemory)); o.MaxMemory > 0 && (w.MaxSteps <= 0 || w.MaxSteps > most) {
			w.MaxSteps, f.lowered = most, true
		}
		w.GlobalPoll = rules.GlobalPoll
		if w.Until > 0 {
			w.Until -= o.From
		}
		f.extract, f.observed = workload.NewExtractor(w), newAccount()
		if o.From > 0 {
			f.window = workload.NewWindow(o.From, f.follow)
		}
	}
	return f
}

// Simulate audits a trace as [Audit] does, and simulates its work.
func Simulate(ctx context.Context, src *input.Source, o SimulateOptions) (*Result, error) {
	g, f := NewGuiding(src.Header(), Options{Rules: o.Rules}), NewSimulation(src.Header(), o)
	res, err := analyze.Run(ctx, src, analyze.Options{Rules: o.Rules, NoTimeline: true, OnStacks: f.Stacks, OnDecision: func(d *reference.Decision) error {
		return errors.Join(g.Add(d), f.Add(d))
	}})
	if err != nil {
		return nil, fmt.Errorf("replay: %w", err)
	}
	out := g.Finish(res)
	return out, f.Finish(ctx, res, out)
}

// attempt calls simulate for a part of what is asked for, which it costs if it fails, or panics:
// then the reason is added to a list, behind what that means. The error is that of the context.
func attempt(ctx context.Context, reasons *[]string, means string, simulate func() error) (err error) {
	defer func() {
		if v := recover(); v != nil {
			err = analyze.Caught(v)
		}
		if err != nil && ctx.Err() == nil {
			*reasons, err = append(*reasons, fmt.Sprintf("%s: %v", means, err)), nil
		}
	}()
	return simulate()
}

// OnProgress sets a function that is called from time to time during simulations with the
// simulated time so far, and all of it, in ns. It may be nil.
func (f *Simulation) OnProgress(progress func(done, total int64)) { f.progress = progress }

// Stacks sets the resolver of stack handles, which Change.FreeLock needs. It serves as
// analyze.Options.OnStacks.
func (f *Simulation) Stacks(frames func(stack int32) []string) {
	f.frames = frames
	if f.extract != nil && slices.ContainsFunc(f.opt.WhatIf, func(c Change) bool { return c.Procs > 0 }) {
		f.holds = newHolds(frames)
	}
}

// Add processes the next decision. It serves as analyze.Options.OnDecision, and never
// fails.
func (f *Simulation) Add(d *reference.Decision) error {
	switch {
	case f.extract == nil:
	case f.window != nil:
		f.window.Add(d)
	default:
		f.follow(d)
	}
	return nil
}

func (f *Simulation) follow(d *reference.Decision) {
	if f.extract.Add(d) {
		f.observed.add(d)
		if f.holds != nil {
			f.holds.add(d)
		}
	}
}

// outcome is a run, and who waited in it, and why.
type outcome struct {
	run   Run
	waits waits.Result
	last  int64 // when a goroutine of the program stopped last, in ns
}

// replaying is the second half of a simulation: the trace has been read.
type replaying struct {
	f           *Simulation
	ctx         context.Context
	res         *analyze.Result
	work        *workload.Workload
	observed    outcome
	budget      int64                   // steps that all simulations may still take
	short       bool                    // that did not suffice
	done, total int64                   // simulations
	of          func(class int32) Parts // the split of a class, once that is made
}

// begin ends the extraction, before that many schedulers and the split are
// simulated. It returns nil if there is nothing to replay.
func (f *Simulation) begin(ctx context.Context, res *analyze.Result, simulated int) (*replaying, error) {
	if err := f.opt.Check(); err != nil {
		return nil, fmt.Errorf("replay: %w", err)
	}
	if f.extract == nil {
		return nil, nil
	}
	if f.opt.From > res.Trace.DurationNs {
		return nil, fmt.Errorf("replay: the trace ends after %v: nothing comes after %v", time.Duration(res.Trace.DurationNs), time.Duration(f.opt.From))
	}
	w := f.extract.Finish(res.Trace.DurationNs - f.opt.From)
	r := &replaying{f: f, ctx: ctx, res: res, work: w, total: int64(f.opt.Seeds)*int64(simulated) + int64(f.splitSeeds()) + 3}
	r.budget = budget(res.Trace.Stored) * int64(1+len(f.opt.WhatIf)) * int64(max(1, f.opt.Seeds/usualSeeds))
	r.observed = f.observed.run(w.EndNs)
	return r, nil
}

// simulate runs a scheduler once for each of some seeds, or for the first of them for which
// the budget suffices. The error is [ErrTooLong] if that is none.
func (r *replaying) simulate(s scheduler, seeds int) ([]outcome, error) {
	var out []outcome
	for seed := range seeds {
		o, err := r.once(s, seed+1)
		if errors.Is(err, ErrTooLong) && len(out) > 0 {
			break
		}
		if err != nil {
			return nil, err
		}
		o.run.MakespanNs = o.last + r.work.TailNs
		out = append(out, o)
	}
	return out, nil
}

// once runs a scheduler with a seed.
func (r *replaying) once(s scheduler, seed int) (outcome, error) {
	o, err := s.simulate(r.ctx, r.work, uint64(seed), &r.budget, r.progress())
	return o, r.fail(err)
}

// fail wraps the error of a simulation, and notes that the budget did not suffice.
func (r *replaying) fail(err error) error {
	if err == nil {
		return nil
	}
	r.short = r.short || errors.Is(err, ErrTooLong)
	return fmt.Errorf("replay: %w", err)
}

// progress returns what the next simulation is to call with its time.
func (r *replaying) progress() func(now int64) {
	before := r.done * r.work.EndNs
	r.done++
	report := r.f.progress
	if report == nil {
		return func(int64) {}
	}
	return func(now int64) { report(before+min(now, r.work.EndNs), r.total*r.work.EndNs) }
}

// Finish simulates, and adds its account to that of the guided replay, whose
// Observed becomes the part of the run that was taken in. If the simulation fails, Free stays
// nil, and the warnings of the trace say why.
func (f *Simulation) Finish(ctx context.Context, res *analyze.Result, out *Result) error {
	r, err := f.begin(ctx, res, 1+len(f.opt.WhatIf))
	if r == nil || err != nil {
		return err
	}
	changes, err := r.changes()
	if err != nil {
		return err
	}
	out.Observed = r.observed.run
	return attempt(ctx, &out.Trace.Warnings, "the work of the trace is not simulated", func() (err error) {
		out.Simulated, err = r.free(changes)
		return err
	})
}

// free simulates the work as it was, and with changes.
func (r *replaying) free(changes []workload.Change) (*Simulated, error) {
	f, w, res := r.f, r.work, r.res
	free := &Simulated{
		Workload: Size{
			Goroutines: w.Goroutines, Steps: w.Steps, Arrivals: w.Arrivals, GCCycles: w.Cycles, MarkNs: w.MarkNs,
			GOMAXPROCS: w.Procs, SwitchNs: w.SwitchNs, ThreadWakeNs: w.ThreadWakeNs, FromNs: f.opt.From, EndNs: f.opt.From + w.EndNs,
			Omitted: w.Omitted, Seeds: f.opt.Seeds,
		},
		WhatIf: []WhatIf{}, Notes: r.notes(), Untrusted: untrusted(&res.Trace, 0),
	}
	self, err := r.simulate(r.scheduler(Change{}), f.opt.Seeds)
	if err != nil {
		return nil, err
	}
	free.Workload.Seeds = len(self)
	free.Simulated, free.Spread = summarise(self)
	free.Error = compare(r.observed.run, free.Simulated)
	free.Untrusted = cmp.Or(free.Untrusted, far(free.Error))
	free.Causes, free.Classes = causeRuns(r.observed.waits, self), classRuns(r.observed.waits, self, res)
	var tried []Change
	for i, c := range f.opt.WhatIf {
		err := attempt(r.ctx, &free.Notes, c.String()+" is not simulated", func() error {
			x, err := r.whatIf(c, changes[i], free, self[0])
			if err == nil {
				free.WhatIf, tried = append(free.WhatIf, x), append(tried, c)
			}
			return err
		})
		if err != nil {
			return nil, err
		}
	}
	err = attempt(r.ctx, &free.Notes, "the trace is not held against the reference", func() (err error) {
		free.Decomposition, err = r.split()
		return err
	})
	if err != nil {
		return nil, err
	}
	r.noteMorePs(free, tried)
	if r.short {
		free.Notes = append(free.Notes, fewer)
	}
	return free, nil
}

// fewer reports that the budget did not suffice.
const fewer = "some simulations are left out, since all together would take more steps than are allowed for a trace of that size"

// whatIf simulates the work with a change. self is a simulation without it.
func (r *replaying) whatIf(c Change, change workload.Change, free *Simulated, self outcome) (x WhatIf, err error) {
	w, trace := r.work, &r.res.Trace
	s := r.scheduler(c)
	s.change.Speed, s.change.YieldNs, s.change.FreeLocks = change.Speed, change.YieldNs, change.FreeLocks
	all, err := r.simulate(s, r.f.opt.Seeds)
	if err != nil {
		return x, err
	}
	x.Change = c.String()
	if c.Procs != 0 && c.Procs != w.Procs {
		if x.Sensitivity, err = r.sensitivity(s, all[0], c.Procs); err != nil {
			return x, err
		}
	}
	x.UntrustedMakespan = cmp.Or(untrusted(trace, c.Procs), farOff(free.Error), r.distrustMakespan(free.Error, self, c.Procs, x.Sensitivity))
	x.Untrusted = cmp.Or(untrusted(trace, c.Procs), free.Untrusted, r.distrust(free.Error, c.Procs, x.Sensitivity), x.UntrustedMakespan)
	x.Simulated, x.Spread = summarise(all)
	return x, nil
}

// noteMorePs records what simulations with more Ps leave out.
func (r *replaying) noteMorePs(free *Simulated, tried []Change) {
	w, locked := r.work, len(r.locks("")) > 0
	least := int64(0)
	if locked && slices.ContainsFunc(tried, func(c Change) bool { return c.Procs > w.Procs }) {
		var held []string
		least, held = r.f.holds.notes(r.observed.run.MakespanNs)
		free.Notes = append(free.Notes, "goroutines waited for a mutex: on more Ps they may meet there more often than in the trace, so that a makespan for more Ps is the least to expect")
		free.Notes = append(free.Notes, held...)
	}
	for i, c := range tried {
		x := &free.WhatIf[i]
		switch {
		case c.Procs <= w.Procs:
		case locked:
			x.LockBoundNs = least
		case float64(x.Simulated.MakespanNs) > (1-morePs)*float64(free.Simulated.MakespanNs):
			free.Notes = append(free.Notes, fmt.Sprintf("%s: the work was divided for %s; a program that starts a goroutine for each P, or so, divides it otherwise, and gains more", c, quantity.Plural(int64(w.Procs), "P", "Ps")))
		}
	}
}

// changes finds the classes and locks that Options.WhatIf names.
func (r *replaying) changes() ([]workload.Change, error) {
	out := make([]workload.Change, len(r.f.opt.WhatIf))
	for i, c := range r.f.opt.WhatIf {
		out[i].Speed, out[i].YieldNs = map[int32]float64{}, map[int32]int64{}
		if c.FreeLock != "" {
			out[i].FreeLocks = r.locks(c.FreeLock)
			if len(out[i].FreeLocks) == 0 {
				return nil, fmt.Errorf("nobody waited for a mutex in %q: name a function as gmpscope analyze shows it", c.FreeLock)
			}
		}
		if c.Class == "" {
			continue
		}
		for _, k := range r.res.Waits.Classes {
			if isCalled(k.Name, c.Class) {
				out[i].Speed[k.ID], out[i].YieldNs[k.ID] = c.Speed, c.Yield
			}
		}
		if len(out[i].Speed) == 0 {
			return nil, fmt.Errorf("no class is called %q: name a start function as gmpscope analyze shows it", c.Class)
		}
	}
	return out, nil
}

// isCalled reports whether name is, or is the last part of, the name of a function,
// or is its short one.
func isCalled(function, name string) bool {
	return slices.Contains(funcname.Spellings(function), name) || strings.HasSuffix(function, "."+name) || strings.HasSuffix(function, "/"+name)
}

// locks finds the stacks at which goroutines blocked on a mutex that a function
// locks; "" is any.
func (r *replaying) locks(function string) map[int32]bool {
	out := map[int32]bool{}
	if r.f.frames == nil {
		return out
	}
	for _, s := range r.work.Semaphores() {
		if by := locker(r.f.frames(s)); by != "" && (function == "" || isCalled(by, function)) {
			out[s] = true
		}
	}
	return out
}

// locker returns the function that locks the mutex at which a stack, innermost
// frame first, blocks; "" if it is none: a WaitGroup is a semaphore, too.
func locker(frames []string) string {
	mutex := false
	for _, f := range frames {
		f, _, _ = strings.Cut(f, " ")
		switch {
		case strings.Contains(f, "sync.(*Mutex)."), strings.Contains(f, "sync.(*RWMutex)."):
			mutex = true
		case strings.HasPrefix(f, "runtime."), strings.HasPrefix(f, "sync."), strings.HasPrefix(f, "internal/sync."):
		case mutex:
			return f
		default:
			return ""
		}
	}
	return ""
}

// scheduler is what the work is given to.
type scheduler struct {
	policy sim.Policy
	costs  sim.Costs
	procs  int
	change workload.Change
	also   func(*reference.Decision) // gets the decisions, too; may be nil
}

// scheduler returns the trace's own, but for a change.
func (r *replaying) scheduler(c Change) scheduler {
	w := r.work
	s := scheduler{policy: sim.Version(r.f.rules), costs: sim.DefaultCosts(), procs: w.FirstProcs}
	if w.NoRunnext {
		s.policy.Rules.NoRunnext = true
	}
	s.change.NoGC, s.change.Unlocked = c.NoGC, c.Unlocked
	if c.Policy != "" {
		s.policy, s.costs, _ = sim.PolicyFor(c.Policy)
	}
	if c.Procs != 0 {
		s.procs, s.change.FixedProcs = c.Procs, true
	}
	if c.Slice != 0 {
		s.policy.Rules.Slice = c.Slice
	}
	if s.costs.Switch == sim.DefaultCosts().Switch && w.SwitchNs > 0 {
		s.costs.Switch, s.costs.Switches = w.SwitchNs, w.Switches
	}
	if s.costs.ThreadWake != 0 && w.ThreadWakeNs > 0 {
		s.costs.ThreadWake, s.costs.ThreadWakes = w.ThreadWakeNs, w.ThreadWakes
	}
	if s.costs.Switch != 0 {
		s.costs.Yields, s.costs.Polls = w.Yields, w.Polls
	}
	if s.costs.ThreadWake != 0 {
		s.costs.Timers = w.Timers
	}
	// Observed sleeps hold the poller's grain already, and observed system calls
	// what their return costs.
	s.policy.Rules.PollResolution, s.costs.Syscall = 0, 0
	return s
}

// ErrTooLong reports that a simulation was abandoned: see [sim.ErrTooLong].
var ErrTooLong = sim.ErrTooLong

// budget returns how many steps all simulations of a trace of so many bytes as stored may take
// together, but for what is tried besides: some seconds for a trace of 1 MiB. A step takes 150
// ns, and what real programs do at most 32 a byte; sysmon looks at a busy one up to 50,000
// times a second.
func budget(stored int64) int64 {
	const small = 1 << 20
	return 3<<23 + 1<<8*max(0, min(stored, 1<<40)-small)
}

// progressEvery is how many decisions are between two calls of OnProgress.
const progressEvery = 1 << 13

// simulate does the work once, with steps of the budget. It calls tell now and then with the
// time.
func (s scheduler) simulate(ctx context.Context, w *workload.Workload, seed uint64, budget *int64, report func(now int64)) (outcome, error) {
	a, n := newAccount(), 0
	o := sim.Options{Policy: s.policy, Costs: s.costs, Procs: s.procs, Seed: seed, Ticks: w.Ticks, Budget: budget}
	o.Emit = func(d *reference.Decision) {
		if n++; n%progressEvery == 0 {
			report(d.Time)
		}
		if w.Invents(d) {
			return
		}
		a.add(d)
		if s.also != nil {
			s.also(d)
		}
	}
	var shared []int64
	if s.policy.Fluid {
		o.Emit, o.Waited = nil, func(at int64, f reference.Flags, ns int64) {
			shared = append(shared, ns)
			if f.OfProgram() {
				a.last = at
			}
		}
	}
	report(0)
	r, err := sim.Simulate(ctx, o, w.Load(s.change))
	if err != nil {
		return outcome{}, err
	}
	out := outcome{last: a.last}
	if s.policy.Fluid {
		out.run, out.waits = sharing(r, shared)
	} else {
		out = a.run(r.EndNs)
	}
	// In the trace they ran while the world was stopped; in the model it is
	// stopped from outside.
	out.run.BusyNs += w.StopperNs - r.KeptNs
	if s.change.NoGC {
		out.run.BusyNs -= w.GCStopperNs
	}
	return out, nil
}

// sharing is the account of ideal fair sharing, which has no decisions: a wait
// is for how much longer a goroutine was runnable than it computed.
func sharing(r *sim.Result, all []int64) (Run, waits.Result) {
	run, by := newRun(), waits.Result{}
	run.MakespanNs, run.BusyNs = r.EndNs, r.BusyNs
	w := &run.Waits
	slices.Sort(all)
	for _, ns := range all {
		w.TotalNs += ns
	}
	w.Count = int64(len(all))
	if len(all) > 0 {
		w.P50, w.P99 = all[(len(all)-1)/2], all[(len(all)-1)*99/100]
	}
	sum := int64(0)
	for _, ns := range all {
		if sum += ns; 2*sum >= w.TotalNs {
			w.TimeWeighted.P50 = ns
			break
		}
	}
	by.All.TotalNs = w.TotalNs
	for i, c := range r.Classes {
		if c.Goroutines > 0 {
			k := waits.Class{ID: int32(i), RunningNs: c.RunningNs}
			k.Waits.Count, k.Waits.TotalNs, k.Waits.MaxNs = c.Waits, c.WaitNs, c.MaxWaitNs
			by.Classes = append(by.Classes, k)
		}
	}
	return run, by
}
