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

// Decomposition holds observed waiting against the reference. Times are in ns of
// goroutine-time, from runnable to running, summed; for all goroutines, those of
// the runtime and of the tracer included.
//
// What the simulations give is inference: they do the work of the trace, and the
// trace does not have all of it (docs/replay.md). The excess is the error of the
// model and the machine's doing in one; nothing in a trace tells them apart.
type Decomposition struct {
	FromNs     int64 `json:"from_ns"`     // beginning of the part of the trace that was held against it
	EndNs      int64 `json:"end_ns"`      // end of that part
	DurationNs int64 `json:"duration_ns"` // duration of the trace
	GOMAXPROCS int   `json:"gomaxprocs"`  // that held longest
	Seeds      int   `json:"seeds"`       // simulations of the trace's own scheduler
	// Ideal is "gps" or "fifo": the one that waits less, and stands for capacity.
	// Neither is always the better one, since where many equal pieces of work queue
	// up, sharing lets them all end late.
	Ideal string `json:"ideal"`
	// GPSNs is what ideal fair sharing (gps) waits with the demand of the run behind
	// ReferenceNs: each goroutine becomes runnable when it does there, and computes
	// as much until it blocks. The demand stays, lest the wait is only moved to where no trace shows
	// it: a goroutine that creates others, slowed down by them, creates them later.
	GPSNs int64 `json:"gps_ns"`
	// FIFONs is what one ideal queue (fifo) waits with the same demand.
	FIFONs int64 `json:"fifo_ns"`
	// ReferenceNs is what the simulation of the trace's own scheduler waits in total,
	// in the run that is the median. Its costs are typical ones, medians where they
	// could be measured in the trace: that a thread wakes up late is not the
	// scheduler's choice.
	ReferenceNs int64 `json:"reference_ns"`
	Total       Parts `json:"total"` // the split
	// Classes has the classes that waited longest, as observed, at most 20, and in a
	// last one what all others waited, and goroutines of unknown class: they add up
	// to Total.
	Classes []ClassSplit `json:"classes"`
	Error   Error        `json:"error"` // how far that simulation of the trace's own scheduler is off
	// OutOfBand names the metrics in which that error is out of its band, which
	// docs/replay.md has: "busy", "makespan", "waited", "p50", "p99".
	OutOfBand []string `json:"out_of_band"`
	// Untrusted reports why the split cannot be trusted, in words: the recording had more
	// Ps than CPUs, by --cpus. Absent if that is not known.
	Untrusted string   `json:"untrusted,omitempty"`
	Notes     []string `json:"notes"` // what the workload lacks
	// Prospects are what the victims of the findings could gain, in the order of the
	// findings. Only [Simulation.Decompose] fills them in: in the output of replay they are
	// empty.
	Prospects []Gain `json:"prospects"`
}

// Parts of the time waited: ObservedNs = CapacityNs + PolicyNs + ExcessNs,
// exactly.
type Parts struct {
	ObservedNs int64 `json:"observed_ns"` // waited
	// CapacityNs is what the ideal scheduler waits with the same demand, as many Ps
	// and no cost of its own: unavoidable without less work or more Ps. Under gps a
	// goroutine waits for as long as it is runnable, less what it computes.
	CapacityNs int64 `json:"capacity_ns"`
	// PolicyNs is what the rules and costs of the trace's own scheduler, as
	// simulated, give beyond that; less than 0 if they give less, which they may to
	// one class at the expense of others.
	PolicyNs int64 `json:"policy_ns"`
	// ExcessNs is what was observed beyond the simulation: the machine, or what the
	// model does not know. Less than 0, the model waits that much too long.
	ExcessNs int64 `json:"excess_ns"`
}

func parts(observed, ideal, reference int64) Parts {
	return Parts{ObservedNs: observed, CapacityNs: ideal, PolicyNs: reference - ideal, ExcessNs: observed - reference}
}

// ClassSplit is the split for one class of goroutines.
type ClassSplit struct {
	Class   int32  `json:"class"`   // its handle, the "id" in the classes of an analysis; -1: all others, and goroutines of unknown class
	Name    string `json:"name"`    // start function
	Creator string `json:"creator"` // function that executed the go statement
	Parts
}

// splitSteps bounds the work of a split that goes with an analysis
// (workload.Options.MaxSteps): about 100,000 starts, each simulated six times,
// in about a second, and up to
// 18 times more where findings have advice to try.
const splitSteps = 1 << 18

// SplitOptions returns the options of a Simulation whose Split goes with an
// analysis: its cost is bounded, whatever the length of the trace.
func SplitOptions() SimulateOptions {
	return SimulateOptions{Seeds: 3, Workload: workload.Options{MaxSteps: splitSteps}}
}

// Decompose simulates, and holds the waiting that it was shown against the
// reference, instead of Finish. It returns nil where there is nothing to
// simulate: for a trace of Go 1.21 or before. It also returns nil if a simulation fails: then
// it adds the reason to the warnings of the trace in res.
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
	typical := r.f.scheduler(Change{}, r.work)
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
	mid, _ := summarise(runs(self))
	s := &Decomposition{
		FromNs: r.f.opt.From, EndNs: r.f.opt.From + r.work.EndNs, DurationNs: r.res.Trace.DurationNs,
		GOMAXPROCS: r.work.Procs, Seeds: len(self), ReferenceNs: ref.run.Waits.TotalNs,
		Error: compare(r.observed.run, mid), OutOfBand: outOfBand(r.observed.run, mid), Untrusted: untrusted(&r.res.Trace, 0), Notes: r.f.notes(r.work, r.res), Prospects: []Gain{},
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
		total, classes, err := asked.serve(r.ctx, r.f.scheduler(Change{Policy: x.name}, r.work), r.work.Load(workload.Change{}), &r.budget)
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
		return parts(waitedBy(r.observed, class), capacity, waitedBy(ref, class))
	}
	s.Classes = splitClasses(s.Total, r.observed.waits, r.of, r.res)
	return s, nil
}

// waitedBy is for how long goroutines of a class waited in a run, in ns.
func waitedBy(o outcome, class int32) int64 {
	for i := range o.waits.Classes {
		if c := &o.waits.Classes[i]; c.ID == class {
			return c.Waits.TotalNs
		}
	}
	return 0
}

// splitClasses splits by class, those that waited longest first.
func splitClasses(rest Parts, observed waits.Result, of func(class int32) Parts, res *analyze.Result) []ClassSplit {
	names := map[int32]waits.Class{}
	for _, c := range res.Waits.Classes {
		names[c.ID] = c
	}
	out := []ClassSplit{}
	for _, c := range observed.Classes {
		if len(out) == topClasses || c.Waits.TotalNs == 0 {
			break
		}
		if c.ID == waits.ClassOthers || c.ID == 0 { // the workload knows late what class a goroutine is of
			continue
		}
		p := of(c.ID)
		out = append(out, ClassSplit{Class: c.ID, Name: names[c.ID].Name, Creator: names[c.ID].Creator, Parts: p})
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
