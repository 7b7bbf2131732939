package diagnosis

import (
	"cmp"
	"slices"
	"strings"

	"github.com/gmpscope/gmpscope/analyze"
	"github.com/gmpscope/gmpscope/analyze/findings"
	"github.com/gmpscope/gmpscope/analyze/work"
	"github.com/gmpscope/gmpscope/internal/quantity"
	"github.com/gmpscope/gmpscope/internal/std"
)

// Slow is the kind of units of work whose slow units lose most time, and what they lose it
// to.
type Slow struct {
	Kind   *work.UnitKind // kind of the units
	All    work.Bucket    // total of the time of the units
	Bucket work.Bucket    // what accounts for at least half of the difference between a slow and a typical unit
	// RunsIn is a function in which, by a finding, goroutines that do such units ran for long, if
	// slow units run for longer than typical ones; "" if none is known.
	RunsIn findings.Name
	// Machine is a finding that threads lacked CPUs, if slow units run for much longer than typical
	// ones and RunsIn is ""; nil if there is none.
	Machine *findings.Finding
}

// smallShare is the share of the time of units of work below which no user minds.
const smallShare = 0.2

// farLonger is how many times as long as typical ones slow units run, at least, that may have had no CPU.
const farLonger = 5

// slowUnits is the share of units that are slow.
const slowUnits = 0.05

// halfShare is the share of it from which on a finding explains why units are slow.
const halfShare = 0.5

// slow returns the kind whose slow units lose most of all that begin from outside, and to what; nil
// if there is none. What tests do is not asked to be fast.
func (d *Diagnosis) slow() (most *Slow) {
	if d.r.Program.Tested() {
		return nil
	}
	lost := 0.0
	for _, k := range d.r.Work.Entries() {
		buckets, all := k.Buckets()
		more := all.MoreNs()
		if !all.Slow() || k.Outlier(all.TypicalNs) || float64(more)*float64(k.Count) <= lost {
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
		if most.RunsIn = d.longIn(most.Kind.Class); most.RunsIn == "" && most.Bucket.SlowNs >= farLonger*most.Bucket.TypicalNs {
			most.Machine = d.first(func(f *findings.Finding) bool { return f.Kind == findings.KindMachine })
		}
	}
	return most
}

// InRow is a kind of units of work that spend most of their time in repeated waits at one place, or the run
// of a batch job that does.
type InRow struct {
	Kind   *work.UnitKind // the kind
	Bucket work.Bucket    // the waits at that place
	Slow   bool           // only the slow units do so
	Ns     int64          // mean latency of a unit, or with Slow of a slow one, ns
	Times  int64          // mean number of waits there in such a unit
}

// Place returns the function of the owner's in which they are, or else the function that waits.
func (x *InRow) Place() string { return cmp.Or(x.Bucket.Chief.From, x.Bucket.Chief.Via.Site) }

// Bounds on waits one after the other.
const (
	timesInRow  = 4          // of a unit, from which on they are many
	timesOfSlow = 8          // of a slow unit, of which it is not counted, but follows from all
	timesOfRun  = 20         // of a batch job
	timesLoud   = 20         // requests, not pieces of an answer, from which on they are worth a warning,
	longInRow   = 50_000_000 // if they take so many ns
	leastInRow  = 5_000_000  // ns that a unit takes on average, below which nobody minds
)

// inRow returns the kind with most time, or else whose slow units have most, of those that begin from
// outside; nil if there is none, or it has little of the time of all.
func (d *Diagnosis) inRow() (most *InRow) {
	if d.r.Program.Tested() {
		return nil
	}
	total := int64(0)
	for i := range d.r.Work.Kinds {
		k := &d.r.Work.Kinds[i]
		run := k.How == work.Run.String() || k.How == work.Phase.String()
		if !k.Entry || k.Merged || run && d.r.Program.Kind != analyze.Batch || !run && k.Count < fewAsleep {
			continue
		}
		total += k.TotalNs
		buckets, all := k.Buckets()
		for _, b := range buckets {
			if b.Chief.Via == nil || b.Chief.Via.What != "network" && b.Chief.Via.What != "pipe" && b.Chief.Via.Site != work.RoundTrip && !(b.Chief.What == "network" && b.Chief.Who != "") {
				continue
			}
			waits := b.Chief.Waits
			if b.Chief.Via.Site == work.RoundTrip {
				waits /= 2
			}
			x := &InRow{k, b, false, k.TotalNs / k.Count, waits / k.Count}
			if run && x.Times < timesOfRun {
				continue
			}
			if !x.many(b.Ns / k.Count) {
				x = &InRow{k, b, true, all.SlowNs, int64(float64(waits) * quantity.Ratio(b.SlowNs, b.Ns))}
				if !all.Slow() || !x.many(b.SlowNs) || x.Times < timesOfSlow {
					continue
				}
			}
			if most == nil || most.Slow && !x.Slow || most.Slow == x.Slow && k.TotalNs > most.Kind.TotalNs {
				most = x // of slow ones it is less sure how often they wait
			}
		}
	}
	if most != nil && float64(most.Kind.TotalNs) < smallShare*float64(total) {
		return nil
	}
	return cmp.Or(most, d.asksOn())
}

// asksOn returns the kind of goroutines of a program that hardly uses its Ps which do nothing but ask, one
// request after the other, for half of the time; nil if there is none.
func (d *Diagnosis) asksOn() *InRow {
	for i := range d.r.Work.Kinds {
		k := &d.r.Work.Kinds[i]
		x := &InRow{Kind: k, Ns: k.TotalNs}
		if d.r.Program.Kind != analyze.Idle || !x.Ceaseless() || 2*k.TotalNs < d.r.RecordedNs() {
			continue
		}
		buckets, _ := k.Buckets()
		for _, b := range buckets {
			if b.Chief.Via == nil || b.Chief.Via.Site != work.RoundTrip {
				continue
			}
			if x.Bucket, x.Times = b, b.Chief.Waits/2; x.Times >= timesOfRun && x.many(b.Ns) {
				return x
			}
		}
	}
	return nil
}

// Ceaseless reports whether goroutines of the kind do nothing but ask.
func (x *InRow) Ceaseless() bool { return x.Kind.Home != nil && x.Kind.Home.Function == work.RoundTrip }

// loud reports whether a unit surely makes many requests one after the other, and takes long for that.
func (x *InRow) loud() bool {
	return x != nil && !x.Ceaseless() && x.Bucket.Chief.Via.Site == work.RoundTrip && x.Times >= timesLoud && x.Ns >= longInRow
}

// inRowExplains reports whether what slow units lose may be waits one after the other, of theirs or of
// units that they wait for: those take half as long, all in all.
func (d *Diagnosis) inRowExplains() bool {
	if d.InRow == nil || d.InRow.Kind == d.Slow.Kind {
		return d.InRow != nil
	}
	lost := float64(d.Slow.All.MoreNs()) * max(1, slowUnits*float64(d.Slow.Kind.Count))
	return float64(d.InRow.Kind.TotalNs) >= halfShare*lost
}

// many reports whether a unit waits often, and for most of its time; part is the time of these waits, in ns.
func (x *InRow) many(part int64) bool {
	return x.Times >= timesInRow && x.Ns >= leastInRow && 2*part >= x.Ns
}

// line returns the lock for which goroutines stand in line longest; nil if that is a small share of the time. What
// tests and benchmarks contend for is meant.
func (d *Diagnosis) line() (most *work.Resource) {
	if d.r.Program.Tested() {
		return nil
	}
	for i := range d.r.Work.Resources {
		r := &d.r.Work.Resources[i]
		if r.What == "lock" && float64(r.LineNs) >= smallShare*float64(d.r.RecordedNs()) && (most == nil || r.WaitNs > most.WaitNs) {
			most = r
		}
	}
	return most
}

// lineLeads reports whether the verdict is about the line for a lock rather than about a serious finding: what
// waits for a P cost, or took P-time, may come from it.
func (d *Diagnosis) lineLeads(serious *findings.Finding) bool {
	switch {
	case d.Line == nil || serious == nil:
		return d.Line != nil
	case serious.CostOf == findings.OfBlocked || serious.Counted:
		return false
	case serious.CostOf == findings.OfPTime:
		return d.Line.WaitNs >= farLonger*serious.CostNs
	}
	return 2*d.Line.WaitNs >= serious.CostNs
}

// Spent is where units of work spend much of their time: all tests, the timed parts of all benchmarks or
// of some, the requests of a kind, or the run.
type Spent struct {
	Kinds       []*work.UnitKind // kinds of these units
	In          work.Leaf        // what they do there, and where
	By          string           // function of the owner's that leads there most; "" if it is the owner's own
	Ns, TotalNs int64            // that time, and all of their time, both summed over the units, ns
}

// Bounds on such time. A benchmark that sleeps measures nothing else.
const (
	leastAsleep = 10_000_000 // ns in all,
	unitAsleep  = 1_000_000  // and a unit
	muchAsleep  = 0.5        // share of the time of units
	nearlyAll   = 0.9        // likewise
	benchAsleep = 0.2        // share of the time of all benchmarks
	fewAsleep   = 5          // requests
	manyUnits   = 20         // units from which on it is known whether they come in as requests
)

// asleepIn returns where units are asleep longest; nil if that is no large part of their time.
func (d *Diagnosis) asleepIn() *Spent {
	u := &d.r.Work
	switch d.r.Program.Kind {
	case analyze.Tests:
		return cmp.Or(longest([][]*work.UnitKind{u.Tests()}, d.asleep), longest([][]*work.UnitKind{u.Tests()}, d.inSelect))
	case analyze.Benchmarks:
		all := u.Benchmarks()
		if x := d.asleep(all); x != nil && float64(x.Ns) >= benchAsleep*float64(x.TotalNs) {
			return x
		}
		return longest([][]*work.UnitKind{slices.DeleteFunc(all, func(k *work.UnitKind) bool {
			x := d.asleep([]*work.UnitKind{k})
			return x == nil || float64(x.Ns) < muchAsleep*float64(x.TotalNs)
		})}, d.asleep)
	}
	return longest(d.awaited(), d.asleep)
}

// asleepUnits reports whether units of work are asleep for a large part of their time.
func (d *Diagnosis) asleepUnits() bool {
	return d.Spent != nil && d.Spent.In.What != "syscall" && d.Spent.In.What != "child"
}

// childrenIn returns where the run of a job waits for child processes for most of its time; nil if it does not.
func (d *Diagnosis) childrenIn() *Spent {
	if d.r.Program.Kind != analyze.Batch {
		return nil
	}
	return longest([][]*work.UnitKind{d.r.Work.Run()}, func(run []*work.UnitKind) *Spent {
		return spent(run, leastInRow, func(p *work.TimePart) bool { return p.What == "child" })
	})
}

// callsIn returns where units that take long are in system calls for most of it; nil if they are nowhere.
func (d *Diagnosis) callsIn() *Spent {
	return longest(d.awaited(), func(kinds []*work.UnitKind) *Spent {
		return spent(kinds, leastInRow/2, func(p *work.TimePart) bool { return p.What == "syscall" })
	})
}

// awaited returns the kinds of units that users wait for, in groups: each of a server, or the run.
func (d *Diagnosis) awaited() (groups [][]*work.UnitKind) {
	u := &d.r.Work
	switch d.r.Program.Kind {
	case analyze.Server:
		for i := range u.Kinds {
			if k := &u.Kinds[i]; k.Entry && !k.Merged && k.Count >= fewAsleep && (k.Server || k.Count < manyUnits) {
				groups = append(groups, []*work.UnitKind{k})
			}
		}
	case analyze.Batch:
		groups = append(groups, u.Run())
	}
	return groups
}

// longest returns what the kinds of some group spend most time in, if that is most of their time, and they
// are no small part of all.
func longest(groups [][]*work.UnitKind, in func([]*work.UnitKind) *Spent) (most *Spent) {
	all := int64(0)
	for _, kinds := range groups {
		for _, k := range kinds {
			all += k.TotalNs
		}
		if x := in(kinds); x != nil && float64(x.Ns) >= muchAsleep*float64(x.TotalNs) && (most == nil || x.Ns > most.Ns) {
			most = x
		}
	}
	if most != nil && float64(most.TotalNs) < smallShare*float64(all) {
		return nil
	}
	return most
}

// asleep returns where units of some kinds are asleep longest, or, but for tests, in a select that no
// goroutine ended; nil if that is a short time.
func (d *Diagnosis) asleep(kinds []*work.UnitKind) *Spent {
	return spent(kinds, unitAsleep, func(p *work.TimePart) bool {
		return (p.What == "sleep" || p.What == "select" && d.r.Program.Kind != analyze.Tests) && d.wantsAwake(p)
	})
}

// inSelect returns the select of tested code that no goroutine ended in which tests are for nearly all of their
// time; nil if there is none.
func (d *Diagnosis) inSelect(tests []*work.UnitKind) *Spent {
	x := spent(tests, unitAsleep, func(p *work.TimePart) bool { return p.What == "select" && p.Tested })
	if x == nil || float64(x.Ns) < nearlyAll*float64(x.TotalNs) {
		return nil
	}
	return x
}

// spent returns in which of the places that fit units of some kinds spend most time; nil if that is less
// than so many ns a unit.
func spent(kinds []*work.UnitKind, least int64, fits func(*work.TimePart) bool) *Spent {
	x, in, count := &Spent{Kinds: kinds}, map[work.Leaf]int64{}, int64(0)
	most := int64(0) // of one part there
	for _, k := range kinds {
		x.TotalNs += k.TotalNs
		count += k.Count
		for i := range k.Path {
			p := &k.Path[i]
			if !fits(p) {
				continue
			}
			at := work.Leaf{What: p.What, Where: p.Where}
			if in[at] += p.Ns; in[at] > x.Ns {
				if at != x.In {
					most = 0
				}
				x.In, x.Ns = at, in[at]
			}
			if at == x.In && p.Ns > most {
				most, x.By = p.Ns, p.LedBy()
				if p.What == "child" { // of a library that starts it in a goroutine
					x.By = cmp.Or(x.By, p.From)
				}
			}
		}
	}
	if x.Ns < max(leastAsleep, least*count) {
		return nil
	}
	return x
}

// wantsAwake reports whether a sleep is in code from which nobody expects it: what is tested, or what a
// server's main package calls. What that does itself may stand for what a server waits for, in programs
// that are both ends of a connection.
func (d *Diagnosis) wantsAwake(p *work.TimePart) bool {
	if d.r.Program.Tested() {
		return p.Tested
	}
	pkg, _ := std.Split(p.Where)
	return pkg != "main"
}

// longIn returns a function in which findings say that goroutines of a class ran for long, "" if
// they name none.
func (d *Diagnosis) longIn(class string) findings.Name {
	for i := range d.r.Findings {
		f := &d.r.Findings[i]
		if !f.LongRuns {
			continue
		}
		for j := range f.Actors {
			if a := &f.Actors[j]; a.Role == findings.Cause && a.Class == class && string(a.Short()) != findings.Short(class) {
				return a.Short()
			}
		}
	}
	return ""
}

// waits reports whether waits for a P are a large part of the time of units of the slow kind, or of
// what slow ones take longer.
func (d *Diagnosis) waits() bool {
	var waited, more float64
	for i := range d.Slow.Kind.Path {
		if p := &d.Slow.Kind.Path[i]; p.What == "runnable" {
			waited += float64(p.Ns)
			more += float64(p.SlowNs - p.TypicalNs)
		}
	}
	return waited >= smallShare*float64(d.Slow.All.Ns) || more >= smallShare*float64(d.Slow.All.MoreNs())
}

// affects reports whether a finding affects units of work. What goroutines are blocked by may
// make them, or their waits for a unit, longer; but not where they do none.
func (d *Diagnosis) affects(f *findings.Finding) bool {
	switch {
	case d.r.Program.Kind != analyze.Server || f.Counted || f.WorkShare >= smallShare:
		return true
	case f.Kind == findings.KindMachine:
		return f.Sure()
	case f.CostOf != findings.OfBlocked:
		return false
	case !f.MaybeMeant:
		return true
	}
	return slices.ContainsFunc(d.r.Work.Kinds, func(k work.UnitKind) bool {
		return f.Names(findings.Victim, k.Name) || f.Names(findings.Victim, k.Class)
	})
}

// atHome reports whether all that suffer from a finding wait for something to do.
func (d *Diagnosis) atHome(f *findings.Finding) bool {
	victims := 0
	for i := range f.Actors {
		if a := &f.Actors[i]; a.Role == findings.Victim {
			if victims++; a.Class == "main.main" && d.r.Program.Kind == analyze.Batch || !d.waitsForWork(a) {
				return false
			}
		}
	}
	return victims > 0
}

// waitsForWork reports whether a goroutine is where units of its class begin, or only in functions
// of the standard library below. Who sends has done its work.
func (d *Diagnosis) waitsForWork(a *findings.Actor) bool {
	if len(a.Stack) > 0 && strings.HasPrefix(a.Stack[0], "runtime.chansend") {
		return false
	}
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
