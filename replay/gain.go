package replay

import (
	"cmp"
	"errors"
	"math"
	"slices"

	"github.com/gmpscope/gmpscope/analyze/findings"
	"github.com/gmpscope/gmpscope/analyze/waits"
)

// Gain is what the victims of a finding could gain: their waiting, split into what is due to the work,
// the scheduler and the machine, and the effect of a change that stands for the finding's advice.
type Gain struct {
	Finding int     `json:"finding"` // index in the list of findings
	ID      string  `json:"id"`      // of the finding
	Class   string  `json:"class"`   // start function of the finding's first victim; empty if none
	Creator string  `json:"creator"` // function that executed the go statement
	Parts           // of all that they waited, in the part of the trace that was simulated
	Advice  *Advice `json:"advice"` // null for notes, and where no simulation stands for the advice
}

// Advice compares simulations of the work with and without a change that stands for what a finding
// advises. The fields that end in Ns are values of the metric, in ns: the simulated ones are medians
// over the runs with different seeds, except MinNs and MaxNs.
type Advice struct {
	Change      string        `json:"change"`       // what is different, as in WhatIf
	Why         string        `json:"why"`          // how that change stands for the advice
	Metric      string        `json:"metric"`       // "waited", by the victims' class, or "makespan"
	ObservedNs  int64         `json:"observed_ns"`  // in the trace
	SimulatedNs int64         `json:"simulated_ns"` // simulated without the change
	Error       *float64      `json:"error"`        // (simulated − observed) / observed; null if nothing was observed
	ChangedNs   int64         `json:"changed_ns"`   // simulated with the change
	MinNs       int64         `json:"min_ns"`       // least with the change
	MaxNs       int64         `json:"max_ns"`       // most with the change
	Verdict     AdviceVerdict `json:"verdict"`
	Untrusted   string        `json:"untrusted,omitempty"` // why it cannot be trusted, as of a what-if
}

// AdviceVerdict is whether a finding's advice, simulated, makes what it is about shorter.
type AdviceVerdict string

// The verdicts on an advice.
const (
	Helps     AdviceVerdict = "helps"     // all runs with the change give less than all without
	NoHelp    AdviceVerdict = "no-help"   // they do not, or by less than 5 %
	Untrusted AdviceVerdict = "untrusted" // the model is off by more than 30 % (10 % for a makespan), or Untrusted says why: its numbers say nothing
)

// The values of Advice.Metric: which time, in ns, the simulations with and without a change are compared by.
const (
	// MetricWaited is the sum of the waits for a P of all goroutines with the start function of the finding's first
	// victim.
	MetricWaited   = "waited"
	MetricMakespan = "makespan" // how long the whole simulated run takes
)

const (
	// maxAdvice bounds how many changes are simulated for findings.
	maxAdvice = 5
	// leastGain is the part of the time that must go for a change to be of help.
	leastGain = 0.05
)

// gains adds to a split what the victims of the findings could gain. What
// the trace's own scheduler gives is simulated once more, with drawn costs: the
// split's is the typical one, without the machine's late wake-ups.
func (r *replaying) gains(s *Decomposition) error {
	var (
		done = map[string][]outcome{}
		why  = map[string]string{} // what is done is not to be trusted
		self []outcome
	)
	for i := range r.res.Findings {
		f := &r.res.Findings[i]
		if f.ToNs > r.f.opt.From+r.work.EndNs { // it shows worst in what was not simulated
			continue
		}
		p := Gain{Finding: i, ID: f.ID}
		class, hurt := r.class(f, findings.Victim)
		if hurt {
			p.Class, p.Creator, p.Parts = class.Name, class.Creator, r.of(class.ID)
		}
		c, sch, ok := r.remedy(f)
		if !ok || !hurt && !f.Remedy.Makespan {
			s.add(p)
			continue
		}
		if _, ok := done[c.String()]; !ok && len(done) < maxAdvice {
			var err error
			if self == nil {
				self, err = r.simulate(r.scheduler(Change{}), r.f.splitSeeds())
			}
			if err == nil {
				done[c.String()], err = r.simulate(sch, r.f.splitSeeds())
			}
			if err == nil {
				why[c.String()], err = r.distrustAdvice(c, sch, self, done[c.String()])
			}
			if err != nil && !errors.Is(err, ErrTooLong) {
				return err
			}
		}
		runs := done[c.String()]
		if len(runs) > 0 {
			p.Advice = advise(r.observed, self, runs, class.ID, c, &f.Remedy)
			p.Advice.distrust(why[c.String()])
		}
		s.add(p)
	}
	return nil
}

// distrustAdvice reports why what comes of a change is not to be trusted, as of a what-if; empty if
// nothing speaks against it. A trace that cannot tell the makespan promises no gain.
func (r *replaying) distrustAdvice(c Change, s scheduler, self, changed []outcome) (string, error) {
	mid, _ := summarise(self)
	e := compare(r.observed.run, mid)
	why := cmp.Or(untrusted(&r.res.Trace, c.Procs), farOff(e))
	if why != "" || c.Procs == 0 || c.Procs == r.work.Procs {
		return why, nil
	}
	x, err := r.sensitivity(s, changed[0], c.Procs)
	if errors.Is(err, ErrTooLong) {
		return "what it depends on could not be simulated: " + err.Error(), nil
	} else if err != nil {
		return "", err
	}
	return cmp.Or(r.distrust(e, c.Procs, x), r.distrustMakespan(e, self[0], c.Procs, x)), nil
}

// add keeps a gain that says something.
func (s *Decomposition) add(p Gain) {
	if p.ObservedNs > 0 || p.Advice != nil {
		s.Prospects = append(s.Prospects, p)
	}
}

// advised is how many schedulers are simulated for the findings, at most.
func advised(all []findings.Finding) int {
	n := 0
	for i := range all {
		if all[i].Remedy.Changes() && all[i].Severity != findings.Note {
			n++
		}
	}
	return min(n, 1) + min(n, maxAdvice)
}

// class finds the class that a finding names first in a role.
func (r *replaying) class(f *findings.Finding, role string) (waits.Class, bool) {
	i := slices.IndexFunc(f.Actors, func(a findings.Actor) bool { return a.Role == role && a.Class != "" })
	if i < 0 {
		return waits.Class{}, false
	}
	k := slices.IndexFunc(r.res.Waits.Classes, func(c waits.Class) bool {
		return c.ID > 0 && c.Name == f.Actors[i].Class && c.Creator == f.Actors[i].Creator
	})
	if k < 0 {
		return waits.Class{}, false
	}
	return r.res.Waits.Classes[k], true
}

// remedy returns the change that stands for a finding's advice, and what it
// makes of the scheduler. It returns false where there is none, or the trace
// lacks what it names.
func (r *replaying) remedy(f *findings.Finding) (c Change, s scheduler, ok bool) {
	if f.Severity == findings.Note {
		return c, s, false
	}
	if c, ok = changeFor(f, r.work.Procs); !ok {
		return c, s, false
	}
	s = r.scheduler(c)
	if c.Speed != 0 || c.Yield != 0 {
		by, ok := r.class(f, findings.Cause)
		if !ok {
			return c, s, false
		}
		c.Class = by.Name
		s.change.Speed, s.change.YieldNs = map[int32]float64{by.ID: c.Speed}, map[int32]int64{by.ID: c.Yield}
	}
	if c.FreeLock != "" {
		s.change.FreeLocks = r.locks(c.FreeLock)
		return c, s, len(s.change.FreeLocks) > 0
	}
	return c, s, true
}

// advise lays simulations with and without a change side by side.
func advise(observed outcome, self, changed []outcome, class int32, c Change, r *findings.Remedy) *Advice {
	metric, limit, of := MetricWaited, farWaited, func(o outcome) int64 { return o.class(class).Waits.TotalNs }
	if r.Makespan {
		metric, limit, of = MetricMakespan, farMakespan, func(o outcome) int64 { return o.run.MakespanNs }
	}
	a := &Advice{Change: c.String(), Why: r.Why, Metric: metric, ObservedNs: of(observed)}
	a.MinNs, a.ChangedNs, a.MaxNs = spread(changed, of)
	least, mid, _ := spread(self, of)
	a.SimulatedNs = mid
	a.Error = relative(a.ObservedNs, a.SimulatedNs)
	switch {
	case a.Error == nil || math.Abs(*a.Error) > limit:
		a.Verdict = Untrusted
	case a.MaxNs < least && float64(a.SimulatedNs-a.ChangedNs) >= leastGain*float64(a.SimulatedNs):
		a.Verdict = Helps
	default:
		a.Verdict = NoHelp
	}
	return a
}

// distrust notes a reason not to trust it, if that is not empty.
func (a *Advice) distrust(why string) {
	if why != "" {
		a.Verdict, a.Untrusted = Untrusted, why
	}
}
