package replay

import (
	"cmp"
	"context"
	"slices"

	"github.com/gmpscope/gmpscope/analyze"
	"github.com/gmpscope/gmpscope/analyze/waits"
	"github.com/gmpscope/gmpscope/reference/sim"
	"github.com/gmpscope/gmpscope/replay/workload"
)

// Decomposition compares the observed waiting with simulated schedulers. Times are
// goroutine-time from runnable to running, of all goroutines, the runtime's and the tracer's
// included.
//
// The simulations are inference: they do the work that the trace shows, which is not all
// ([replay.md](replay.md)). The excess is the error of the model and the effect of the
// machine together.
type Decomposition struct {
	FromNs     int64  `json:"from_ns"`     // beginning of the compared part
	EndNs      int64  `json:"end_ns"`      // end of the compared part
	DurationNs int64  `json:"duration_ns"` // of the trace
	GOMAXPROCS int    `json:"gomaxprocs"`  // value that held longest
	Seeds      int    `json:"seeds"`       // simulations of the trace's own scheduler
	Ideal      string `json:"ideal"`       // "gps" or "fifo": the one that waits less; it stands for capacity
	// GPSNs is the waiting under ideal fair sharing, with the demand of the run behind
	// ReferenceNs: goroutines become runnable when they do there, and compute as much until
	// they block. Demand is held fixed, since waiting would otherwise move to where the trace
	// cannot show it.
	GPSNs  int64 `json:"gps_ns"`
	FIFONs int64 `json:"fifo_ns"` // waiting in one ideal queue, with the same demand
	// ReferenceNs is the waiting in the median simulation of the trace's own scheduler, with
	// typical costs, measured in the trace where possible.
	ReferenceNs int64        `json:"reference_ns"`
	Total       Parts        `json:"total"`
	Classes     []ClassSplit `json:"classes"`             // at most 20 classes that waited longest, then one for all others; they add up to Total
	Error       Error        `json:"error"`               // of the simulation of the trace's own scheduler
	OutOfBand   []string     `json:"out_of_band"`         // metrics whose error is outside its band ([replay.md](replay.md)): "busy", "makespan", "waited", "p50", "p99"
	Untrusted   string       `json:"untrusted,omitempty"` // why the split cannot be trusted: the recording had more Ps than CPUs, by --cpus
	Notes       []string     `json:"notes"`               // what the workload lacks
	Prospects   []Gain       `json:"prospects"`           // estimated gains of the victims of the findings, in the order of the findings; empty in the output of replay
}

// Parts is the split of the time waited: ObservedNs = CapacityNs + PolicyNs + ExcessNs, exactly.
type Parts struct {
	ObservedNs int64 `json:"observed_ns"` // waited in the trace
	// CapacityNs is the time waited under the ideal scheduler with the same demand and Ps and
	// no cost of its own: unavoidable without less work or more Ps.
	CapacityNs int64 `json:"capacity_ns"`
	// PolicyNs is the time added by the rules and costs of the trace's own scheduler, as
	// simulated; negative if these wait less, as one class may at the expense of others.
	PolicyNs int64 `json:"policy_ns"`
	// ExcessNs is the time observed beyond the simulation: the machine, or what the model
	// does not know; negative if the model waits longer.
	ExcessNs int64 `json:"excess_ns"`
}

func parts(observed, ideal, reference int64) Parts {
	return Parts{ObservedNs: observed, CapacityNs: ideal, PolicyNs: reference - ideal, ExcessNs: observed - reference}
}

// ClassSplit is how the time that one class waited is split.
type ClassSplit struct {
	Class   int32  `json:"class"`   // ID of the class in an analysis; -1: all others, and goroutines of unknown class
	Name    string `json:"name"`    // start function of the class
	Creator string `json:"creator"` // function that executed the go statement
	Parts
}

// splitSteps bounds the work of a split that goes with an analysis
// (workload.Options.MaxSteps): about 100,000 starts, each simulated six times,
// in about a second, and up to
// 18 times more where findings have advice to try.
const splitSteps = 1 << 18

// SplitOptions returns the options of a Simulation for Decompose, with a bounded cost
// whatever the length of the trace.
func SplitOptions() SimulateOptions {
	return SimulateOptions{Seeds: 3, Workload: workload.Options{MaxSteps: splitSteps}}
}

// Decompose simulates, and compares the observed waiting with the simulated one; it replaces
// Finish. It returns nil for a trace of Go 1.21 or before, and if a simulation fails: then it
// adds the reason to the warnings of the trace in res.
func (f *Simulation) Decompose(ctx context.Context, res *analyze.Result) (s *Decomposition, err error) {
	r, err := f.begin(ctx, res, 0)
	if r == nil || err != nil {
		return nil, err
	}
	r.total += int64(advised(res.Findings) * f.splitSeeds())
	err = attempt(ctx, &res.Trace.Warnings, "the trace is not held against the reference", func() (err error) {
		s, err = r.split()
		return err
	})
	if s == nil || err != nil {
		return nil, err
	}
	err = attempt(ctx, &s.Notes, "what advice would give is not simulated", func() error { return r.gains(s) })
	if r.short {
		s.Notes = append(s.Notes, fewer)
	}
	return s, err
}

// splitSeeds is how many runs the trace's own scheduler does for a split.
func (f *Simulation) splitSeeds() int { return min(f.opt.Seeds, 3) }

// middle is the median of some measurements, as the only one.
func middle(of []sim.Sample) []sim.Sample {
	if len(of) == 0 {
		return nil
	}
	of = slices.Clone(of)
	slices.SortFunc(of, func(a, b sim.Sample) int { return cmp.Compare(a.Ns, b.Ns) })
	return of[len(of)/2 : len(of)/2+1]
}

// split holds the observed run against simulations of its own scheduler, and
// against the ideal ones.
func (r *replaying) split() (*Decomposition, error) {
	typical := r.scheduler(Change{})
	typical.costs.Switches, typical.costs.ThreadWakes = nil, nil
	typical.costs.Yields, typical.costs.Timers, typical.costs.Polls = middle(typical.costs.Yields), middle(typical.costs.Timers), middle(typical.costs.Polls)
	self, err := r.simulate(typical, r.f.splitSeeds())
	if err != nil {
		return nil, err
	}
	own := slices.Clone(self)
	slices.SortStableFunc(own, func(a, b outcome) int { return cmp.Compare(a.run.Waits.TotalNs, b.run.Waits.TotalNs) })
	ref := own[(len(own)-1)/2]
	seed := 1 + slices.IndexFunc(self, func(o outcome) bool { return o.run.Waits.TotalNs == ref.run.Waits.TotalNs })
	asked := newDemand()
	typical.also = asked.add
	if _, err := r.once(typical, seed); err != nil {
		return nil, err
	}
	mid, _ := summarise(self)
	s := &Decomposition{
		FromNs: r.f.opt.From, EndNs: r.f.opt.From + r.work.EndNs, DurationNs: r.res.Trace.DurationNs,
		GOMAXPROCS: r.work.Procs, Seeds: len(self), ReferenceNs: ref.run.Waits.TotalNs,
		Error: compare(r.observed.run, mid), OutOfBand: outOfBand(r.observed.run, mid), Untrusted: untrusted(&r.res.Trace, 0), Notes: r.notes(), Prospects: []Gain{},
	}
	s.Untrusted = cmp.Or(s.Untrusted, far(s.Error))
	var (
		least int64
		ideal []sim.Class
	)
	for _, x := range []struct {
		name string
		ns   *int64
	}{{"gps", &s.GPSNs}, {"fifo", &s.FIFONs}} {
		r.progress()(0)
		total, classes, err := asked.serve(r.ctx, r.scheduler(Change{Policy: x.name}), r.work.Load(workload.Change{}), &r.budget)
		if err != nil {
			return nil, r.fail(err)
		}
		*x.ns = total
		if s.Ideal == "" || total < least {
			s.Ideal, least, ideal = x.name, total, classes
		}
	}
	s.Total = parts(r.observed.run.Waits.TotalNs, least, s.ReferenceNs)
	r.of = func(class int32) Parts {
		capacity := int64(0)
		if int(class) < len(ideal) {
			capacity = ideal[class].WaitNs
		}
		return parts(r.observed.class(class).Waits.TotalNs, capacity, ref.class(class).Waits.TotalNs)
	}
	s.Classes = splitClasses(s.Total, r.observed.waits, r.of, r.res)
	return s, nil
}

// splitClasses splits by class, those that waited longest first.
func splitClasses(rest Parts, observed waits.Result, of func(class int32) Parts, res *analyze.Result) []ClassSplit {
	out := []ClassSplit{}
	for _, c := range topClasses(observed, res, waits.ClassOthers, 0) { // 0: the workload knows late what class a goroutine is of
		p := of(c.ID)
		out = append(out, ClassSplit{Class: c.ID, Name: c.Name, Creator: c.Creator, Parts: p})
		rest.ObservedNs -= p.ObservedNs
		rest.CapacityNs -= p.CapacityNs
		rest.PolicyNs -= p.PolicyNs
		rest.ExcessNs -= p.ExcessNs
	}
	if rest != (Parts{}) {
		out = append(out, ClassSplit{Class: waits.ClassOthers, Name: "(other classes)", Parts: rest})
	}
	return out
}
