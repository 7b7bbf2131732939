package diagnosis

import (
	"slices"
	"strings"

	"github.com/gmpscope/gmpscope/analyze/findings"
	"github.com/gmpscope/gmpscope/analyze/work"
	"github.com/gmpscope/gmpscope/internal/std"
)

// Slow is the kind of units of work whose slow ones lose most time, and what they lose it to.
type Slow struct {
	Kind   *work.UnitKind
	All    work.Bucket // a whole unit
	Bucket work.Bucket // at least half of the difference between a slow and a typical one
	// RunsIn is a function in which goroutines that do such units ran for long, by a finding, where
	// slow ones run for longer; "" if none is known.
	RunsIn string
}

// Bounds on what is called slow.
const (
	slowUnits   = 20        // units of a kind, at least: of fewer, one is the slow one
	slowTimes   = 2         // how many times as long as a typical unit a slow one takes, at least,
	slowByNs    = 1_000_000 // and by how much
	touchedPart = 0.2       // share of their time below which nobody minds
)

// slow returns the kind whose slow units lose most of all that begin from outside, and to what; nil
// if there is none. What tests do is not asked to be fast.
func (d *Diagnosis) slow() (most *Slow) {
	if d.tests() {
		return nil
	}
	lost := 0.0
	for _, k := range d.entries() {
		buckets, all := k.Buckets()
		more := all.MoreNs()
		if all.SlowNs < slowTimes*all.TypicalNs || more < slowByNs || float64(more)*float64(k.Count) <= lost {
			continue
		}
		for _, b := range buckets {
			switch b.Chief.What {
			case "runnable", "unknown", "rest": // the first is what findings are about
				continue
			}
			if 2*b.MoreNs() >= more {
				most, lost = &Slow{Kind: k, All: all, Bucket: b}, float64(more)*float64(k.Count)
			}
		}
	}
	if most != nil && most.Bucket.What() == "running" {
		most.RunsIn = d.longIn(most.Kind.Class)
	}
	return most
}

// longIn returns a function in which findings say that goroutines of a class ran for long, "" if
// they name none.
func (d *Diagnosis) longIn(class string) string {
	for i := range d.r.Findings {
		f := &d.r.Findings[i]
		if !f.LongRuns {
			continue
		}
		for j := range f.Actors {
			if a := &f.Actors[j]; a.Role == findings.Cause && a.Class == class && a.Short() != findings.Short(class) {
				return a.Short()
			}
		}
	}
	return ""
}

// entries are the kinds that begin from outside, of which there are enough to tell slow units from typical ones.
func (d *Diagnosis) entries() (out []*work.UnitKind) {
	for i := range d.r.Work.Kinds {
		k := &d.r.Work.Kinds[i]
		switch k.How {
		case work.Task.String(), work.Region.String(), work.Cycle.String(), work.Lifetime.String():
			if k.Entry && !k.Merged && k.Count >= slowUnits {
				out = append(out, k)
			}
		}
	}
	return out
}

// tests reports whether the program is one that go test made.
func (d *Diagnosis) tests() bool { return strings.HasSuffix(d.r.Trace.Program, ".test") }

// touched reports whether waits for a P are a large part of the time of units that begin from
// outside, or of what slow ones take longer.
func (d *Diagnosis) touched() bool {
	var waited, whole, waitedMore, more float64
	for _, k := range d.entries() {
		buckets, all := k.Buckets()
		whole += float64(all.Ns)
		more += float64(all.MoreNs()) * float64(k.Count)
		for i := range buckets {
			if b := &buckets[i]; b.Chief.What == "runnable" {
				waited += float64(b.Ns)
				waitedMore += float64(b.MoreNs()) * float64(k.Count)
			}
		}
	}
	return waited >= touchedPart*whole || waitedMore >= touchedPart*more
}

// ofWaits reports whether what a finding costs are waits for a P, by measure. A machine without
// CPUs makes goroutines run longer, too.
func (d *Diagnosis) ofWaits(f *findings.Finding) bool {
	if f.Kind == findings.KindMachine {
		return !f.Sure() && d.Slow.Bucket.Chief.What != "running"
	}
	return !f.Counted && (f.CostOf == findings.OfWaiting || f.CostOf == "")
}

// atHome reports whether all that suffer from a finding wait for something to do.
func (d *Diagnosis) atHome(f *findings.Finding) bool {
	victims := 0
	for i := range f.Actors {
		if a := &f.Actors[i]; a.Role == findings.Victim {
			if victims++; !d.waitsForWork(a) {
				return false
			}
		}
	}
	return victims > 0
}

// waitsForWork reports whether a goroutine is where units of its class begin, or only in functions
// of the standard library below.
func (d *Diagnosis) waitsForWork(a *findings.Actor) bool {
	for i := range a.Stack {
		function, _, _ := strings.Cut(a.Stack[i], " ")
		if slices.ContainsFunc(d.r.Work.Kinds, func(k work.UnitKind) bool {
			return k.Class == a.Class && k.How == work.Cycle.String() && k.Home != nil && k.Home.Function == function
		}) {
			return true
		}
		if pkg, _ := std.Split(function); !std.Has(pkg) {
			return false
		}
	}
	return false
}
