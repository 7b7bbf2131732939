// Package diagnosis answers: what is the verdict about? [Diagnose] decides that once, from a
// finished result; package report puts it into words. The cases that there are, and the
// thresholds between them, are the table in cases.go.
package diagnosis

import (
	"cmp"
	"slices"
	"strings"

	"github.com/gmpscope/gmpscope/analyze"
	"github.com/gmpscope/gmpscope/analyze/breakdown"
	"github.com/gmpscope/gmpscope/analyze/findings"
	"github.com/gmpscope/gmpscope/analyze/waits"
	"github.com/gmpscope/gmpscope/analyze/work"
	"github.com/gmpscope/gmpscope/internal/quantity"
)

// Diagnosis is what the verdict about a result says, with the numbers that its words need. [Diagnose]
// makes it. Times are sums over goroutines, in ns.
type Diagnosis struct {
	Case
	Shorter   string            // a shorter headline, if the other is too long; "" if there is none
	Status    string            // the severity of Subject, else a note if anything was found or nothing judged, or "ok"
	Finding   int               // index of Subject in Result.Findings; -1 if none
	Noted     *findings.Finding // the first note; nil if none
	Advice    findings.Text     // the first advice about Subject; empty if none
	Slow      *Slow             // kind of units of work whose slow units lose most time; nil if none
	InRow     *InRow            // kind of units of work that wait for one thing after the other; nil if none
	Spent     *Spent            // where units of work are asleep, or in system calls, for a large part of their time; nil if nowhere
	Computing *Computing        // where goroutines compute; nil if nowhere in particular
	Line      *work.Resource    // lock for which goroutines stand in line for much of the time; nil if there is none
	Doubt     *findings.Doubt   // the doubt about a lack of CPUs, if Subject depends on it; else nil

	Victim  *Victim          // the class that suffers from Subject, or else waited longest; nil if none waited
	Waiting []*waits.Class   // the classes of the program that waited for a P, longest first; without waits after runtime.Gosched
	Waiter  *breakdown.Class // a class that waited for a P for most of its life, and long; nil if none
	RanNs   int64            // running time of the program
	GCNs    int64            // running time of mark workers, if longer than that of the program, and long; else 0

	MuchWaiting  bool // goroutines waited for a P for more than half as long as they ran, reported by a detector or not; not set if Idle, or for tests
	Idle         bool // the program hardly used its Ps: its waits are long compared with its running, but only due to wake-ups
	ShortWaits   bool // waits are long compared with running because runs were short too
	Small        bool // Subject explains only a small part of the waiting
	AboutVictim  bool // Subject is a mere symptom: goroutines waited for a P
	NotScheduler bool // Subject is about blocking, compared with which goroutines hardly waited

	r      *analyze.Result
	used   float64 // share of the P-time that was in use
	usable int64   // P-time, ns
}

// Victim is a class whose goroutines waited for a P, with what they waited for.
type Victim struct {
	*waits.Class
	Life       *breakdown.Class  // nil if it is not known
	Ahead      *waits.Antagonist // of other classes, the one that ran most meanwhile, if the class mostly waited in queues; else nil
	AheadShare float64           // share of Ahead in what ran meanwhile, from 0 to 1; at least a third
	Holder     *waits.PHold      // what kept Ps longest in system calls, or on the way to a locked thread; nil if that is not known

	mostly bool // what the headline says it waited for is more than half of it
}

// nothing stands for a result that is missing.
var nothing = &analyze.Result{}

// Diagnose decides what the verdict about a result is. It retains r, which must not change afterwards;
// if r is nil, the verdict is that there is no result.
func Diagnose(r *analyze.Result) *Diagnosis {
	r = cmp.Or(r, nothing)
	d := &Diagnosis{r: r, Status: "ok"}
	d.Noted = d.first(func(f *findings.Finding) bool { return f.Kind != findings.KindTrace && f.Severity == findings.Note })
	d.sums()
	d.Slow, d.InRow, d.Line = d.slow(), d.inRow(), d.line()
	d.Spent, d.Computing = cmp.Or(d.asleepIn(), d.childrenIn(), d.callsIn()), d.computing()

	cases := d.cases()
	d.Case = cases[slices.IndexFunc(cases, func(c Case) bool { return c.holds })]
	f := cmp.Or(d.Subject, &none)
	d.Finding = slices.IndexFunc(r.Findings, func(x findings.Finding) bool { return x.ID == f.ID && x.Title.String() == f.Title.String() })
	switch {
	case d.Subject != nil:
		d.Status = string(f.Severity)
	case d.Name == asleepCase, d.Name == lineCase, d.Name == childCase, d.Name == rowCase && d.InRow.loud(), d.Name == computingCase && d.computesMostly():
		d.Status = string(findings.Warning)
	case len(r.Detectors) == 0 || len(r.Findings) > 0 || r.DecisionsOnly || d.Name == computingCase:
		d.Status = string(findings.Note)
	}
	d.Small, d.NotScheduler = small(f), causes(f, findings.OfBlocked) && f.CostNs > 2*r.Waits.User.TotalNs
	d.Advice, d.Victim = d.advice(f), d.victim(f)
	if i := slices.IndexFunc(r.Doubts, func(x findings.Doubt) bool { return x.ID == findings.Strained }); i >= 0 && f != &none && !f.Counted && f.Kind != findings.KindMachine {
		if x := &r.Doubts[i]; slices.Contains(f.Doubts, x.ID) || x.WaitedNs > 0 && float64(x.WaitedNs) >= doubtful*float64(r.Waits.User.TotalNs) {
			d.Doubt = x
		}
	}
	if d.AboutVictim = d.Victim != nil && aboutWaiting(f); d.AboutVictim {
		d.suffers(d.Victim)
	}
	return d
}

// sums fills in who waited, how long the program and the garbage collector ran, and whether
// that is much.
func (d *Diagnosis) sums() {
	var gc, all int64
	for i := range d.r.Procs.Ps {
		p := &d.r.Procs.Ps[i]
		d.RanNs += p.RunningNs
		gc += p.GCNs
		all += p.RunningNs + p.GCNs + p.SystemNs + p.TracerNs + p.SyscallNs
	}
	if gc > d.RanNs && gc > all/4 {
		d.GCNs = gc
	}
	for i := range d.r.Waits.Classes {
		c := d.r.Waits.Classes[i]
		if c.Waits = *c.User(); !c.System && c.Waits.TotalNs > 0 {
			d.Waiting = append(d.Waiting, &c)
		}
	}
	slices.SortStableFunc(d.Waiting, func(a, b *waits.Class) int { return cmp.Compare(b.Waits.TotalNs, a.Waits.TotalNs) })
	waited, short := quantity.Ratio(d.r.Waits.User.TotalNs, d.RanNs), d.r.Waits.User.MaxNs < shortWait
	if c := d.most(func(c *breakdown.Class) int64 { return c.RunnableNs }); c != nil && !d.r.Program.Tested() && 2*c.RunnableNs >= c.LifeNs() && !short && waited >= largeCost {
		d.Waiter = c
	}
	used, of := d.r.Procs.InUse()
	d.used, d.usable = quantity.Ratio(used, of), of
	d.Idle = findings.Idle(used, of, d.r.Waits.User.MaxNs)
	d.MuchWaiting, d.ShortWaits = waited > largeWaiting && !d.Idle && !d.r.Program.Tested(), waited > largeWaiting && short || d.Idle
}

// Fine reports whether the verdict is that no fault was found: it is about no finding, and about no
// units of work.
func (d *Diagnosis) Fine() bool {
	return slices.Contains([]string{"no fault", "no waits", "idle", "only notes", "fine"}, d.Name)
}

// AboutSlow reports whether the verdict is about slow units of work.
func (d *Diagnosis) AboutSlow() bool { return d.Name == slowCase }

// AboutComputing reports whether the verdict is about what units of work compute.
func (d *Diagnosis) AboutComputing() bool { return d.Name == computingCase }

// AboutLine reports whether the verdict is about the line for a lock.
func (d *Diagnosis) AboutLine() bool { return d.Name == lineCase }

// AboutBlocking reports whether the verdict is about what goroutines were blocked on, not about
// waits for a P.
func (d *Diagnosis) AboutBlocking() bool {
	return d.Subject != nil && d.Subject.CostOf == findings.OfBlocked || slices.Contains([]string{asleepCase, lineCase, rowCase, childCase}, d.Name)
}

// SlowBy returns the class to look at if the program is slow, though not by its scheduling, and
// reports whether it is slow by what the class computes, or else by what that is blocked on. The
// class is nil if none stands out.
func (d *Diagnosis) SlowBy() (c *breakdown.Class, computes bool) {
	if used, of := d.r.Procs.InUse(); quantity.Ratio(used, of) >= muchUse {
		return d.most(func(c *breakdown.Class) int64 {
			if d.ofHarness(c) {
				return 0
			}
			return c.RunningNs
		}), true
	}
	return d.most(func(c *breakdown.Class) int64 {
		ns := c.Blocked() + c.SyscallNs
		if c.Name == "main.main" || d.ofHarness(c) || 2*ns < c.LifeNs() {
			return 0 // main, and package testing, wait for all the others
		}
		return ns
	}), false
}

// ofHarness reports whether a class is package testing's, or the main function that go test makes.
func (d *Diagnosis) ofHarness(c *breakdown.Class) bool {
	return strings.HasPrefix(c.Name, "testing.") || c.Name == "main.main" && d.r.Program.Tested()
}

// most returns the class of the program with the most of a time, nil if none has any.
func (d *Diagnosis) most(of func(*breakdown.Class) int64) (out *breakdown.Class) {
	for i := range d.r.Breakdown.Classes {
		if c := &d.r.Breakdown.Classes[i]; !c.Runtime && of(c) > 0 && (out == nil || of(c) > of(out)) {
			out = c
		}
	}
	return out
}

// victim returns the class that waited longest of those that suffer from a finding; of all,
// where the finding names none of them. It is nil if none waited.
func (d *Diagnosis) victim(f *findings.Finding) *Victim {
	if len(d.Waiting) == 0 {
		return nil
	}
	c := d.Waiting[max(0, slices.IndexFunc(d.Waiting, func(c *waits.Class) bool {
		return slices.ContainsFunc(f.Actors, func(a findings.Actor) bool { return a.Role == findings.Victim && a.Class == c.Name })
	}))]
	return &Victim{Class: c, Life: d.r.Breakdown.Of(c.ID)}
}

// suffers finds out for what a class waited, and takes the headline of that.
func (d *Diagnosis) suffers(v *Victim) {
	var most waits.CauseTime
	for _, c := range v.Waits.Causes {
		if c.Ns > most.Ns {
			most = c
		}
	}
	v.mostly = 2*most.Ns > v.Waits.TotalNs
	if i := slices.IndexFunc(v.Held, func(h waits.PHold) bool { return h.Cause == waits.CauseUnavailable && (h.Name != "" || !calls(&h)) }); i >= 0 {
		v.Holder = &v.Held[i]
	}
	if queued := QueuedNs(v.Waits.Causes); 2*queued >= v.Waits.TotalNs {
		v.ahead(queued)
	}
	symptoms := v.symptoms(most.Cause)
	s := symptoms[slices.IndexFunc(symptoms, func(s symptom) bool { return s.holds })]
	d.Headline, d.Shorter = s.headline, s.shorter
}

// ahead finds the class that was ahead in the queue.
func (v *Victim) ahead(queuedNs int64) {
	var all int64
	var most waits.Antagonist
	for _, a := range v.Antagonists {
		if all += a.Ns; a.Class != v.ID && a.Ns > most.Ns {
			most = a
		}
	}
	if most.Ns > 0 && 3*most.Ns >= all {
		v.Ahead, v.AheadShare = &most, quantity.Ratio(most.Ns, all)
		v.mostly = 2*int64(v.AheadShare*float64(queuedNs)) > v.Waits.TotalNs
	}
}

// calls reports whether a system call held Ps.
func calls(h *waits.PHold) bool { return h.Reason == "system call" }

// advice returns the advice of a finding that explains f and blames the same function, where
// there is one: that is about the cause.
func (d *Diagnosis) advice(f *findings.Finding) findings.Text {
	by := d.first(func(by *findings.Finding) bool {
		return blamed(f) != "" && blamed(by) == blamed(f) && slices.Contains(f.SymptomOf, by.ID) && len(by.Advice) > 0
	})
	if f = cmp.Or(by, f); len(f.Advice) == 0 {
		return nil
	}
	return f.Advice[0]
}

// blamed returns the function that a finding blames first, "" if it blames none.
func blamed(f *findings.Finding) findings.Name {
	if i := slices.IndexFunc(f.Actors, func(a findings.Actor) bool { return a.Role == findings.Cause }); i >= 0 {
		return f.Actors[i].Short()
	}
	return ""
}

// first returns the first finding that fits, nil if none does.
func (d *Diagnosis) first(fits func(*findings.Finding) bool) *findings.Finding {
	for i := range d.r.Findings {
		if fits(&d.r.Findings[i]) {
			return &d.r.Findings[i]
		}
	}
	return nil
}

// QueuedNs returns the part of the waiting time in cs, in ns, that was spent behind other goroutines:
// that due to waits.CauseQueueing and waits.CauseOvertaken.
func QueuedNs(cs []waits.CauseTime) int64 {
	return waits.CauseNs(cs, waits.CauseQueueing) + waits.CauseNs(cs, waits.CauseOvertaken)
}
