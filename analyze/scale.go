package analyze

import (
	"slices"
	"strings"

	"github.com/gmpscope/gmpscope/analyze/findings"
	"github.com/gmpscope/gmpscope/analyze/work"
	"github.com/gmpscope/gmpscope/internal/quantity"
)

// The scale of severities: how much of what users feel a finding must explain.
const (
	warningShare  = 0.2         // of the time of slow units of work, if they are slow, or else of all units
	wantedShare   = 0.1         // of the P-time in use
	criticalShare = 0.5         // of either,
	criticalNs    = 100_000_000 // and ns of goroutine-time a second
)

// scale lowers the severity of findings to what the program's users feel: units of work, of a server,
// and elapsed time.
func (r *Result) scale() {
	var entries []*work.UnitKind
	switch r.Program.Kind {
	case Server:
		entries = r.Work.Entries()
	case Tests:
		entries = r.Work.Tests()
	}
	slow, total := map[*work.UnitKind]bool{}, int64(0)
	for _, k := range entries {
		_, all := k.Buckets()
		slow[k] = all.Slow() && r.Program.Kind == Server
		total += k.TotalNs
	}
	for i := range r.Findings {
		f := &r.Findings[i]
		f.WorkShare = explained(f, entries, slow)
		if r.Program.Kind == Tests { // of many kinds with one unit each, a finding explains no more than it cost
			f.WorkShare = min(f.WorkShare, quantity.Ratio(f.CostNs, total))
		}
		if s := r.atMost(f, entries); !s.AtLeast(f.Severity) {
			f.Severity = s
		}
	}
	r.Findings = findings.Rank(r.Findings)
}

// atMost returns the severity that a finding has at most. What goroutines are blocked by takes elapsed
// time; what keeps Ps takes P-time that others wanted, as do timers and the network, which find no P.
// Waits for a P count as far as units of a server have them, or goroutines that do no such units, and
// not in tests, which load a program as they mean to; benchmarks contend, too, and neither is about the machine. Elsewhere the grade of their detector stands, as
// does that of what is sure to be the machine's.
func (r *Result) atMost(f *findings.Finding, entries []*work.UnitKind) findings.Severity {
	share, wanted := f.WorkShare, 0.0
	used, _ := r.Procs.InUse()
	server, tested, blocked := r.Program.Kind == Server, r.Program.Tested(), f.CostOf == findings.OfBlocked && f.Kind == findings.KindCause
	switch {
	case f.Kind == findings.KindTrace, f.Kind == findings.KindMachine && f.Sure(), !server && !tested && !blocked:
		return findings.Critical
	case tested && !f.Counted && (!blocked || r.Program.Kind == Benchmarks):
		return findings.Note
	case blocked && server && f.Remedy.FreeLock && slices.ContainsFunc(f.Actors, func(a findings.Actor) bool { return a.Role == findings.Victim && does(entries, a.Class) }):
		for i := range r.Work.Kinds { // those of one kind may suffer alone, and be few
			if k := &r.Work.Kinds[i]; k.How != work.Run.String() && k.How != work.Phase.String() {
				share = max(share, explained(f, []*work.UnitKind{k}, nil))
			}
		}
	case blocked && server && f.At("os.(*Process).Wait"): // for main it may run all the time
	case blocked:
		share = max(share, min(1, quantity.Ratio(f.CostNs, r.RecordedNs())))
	case tested && f.Counted, server && f.Kind != findings.KindMachine && f.CostOf != findings.OfWaiting:
		wanted = quantity.Ratio(f.CostNs, used)
	case server && f.Kind != findings.KindMachine:
		share = max(share, r.waited(f, entries))
	}
	switch {
	case max(share, wanted) >= criticalShare && float64(f.CostNs)*1e9 >= criticalNs*float64(r.RecordedNs()):
		return findings.Critical
	case share >= warningShare || wanted >= wantedShare:
		return findings.Warning
	}
	return findings.Note
}

// does reports whether goroutines of a class do units of some kind.
func does(kinds []*work.UnitKind, class string) bool {
	return slices.ContainsFunc(kinds, func(k *work.UnitKind) bool { return findings.Short(class) == k.Name || class == k.Class })
}

// waited is the largest share of their time that goroutines which suffer from a finding waited for a
// P, of those that do no units.
func (r *Result) waited(f *findings.Finding, entries []*work.UnitKind) (share float64) {
	for i := range r.Breakdown.Classes {
		c := &r.Breakdown.Classes[i]
		if !does(entries, c.Name) && f.Names(findings.Victim, findings.Short(c.Name)) {
			share = max(share, quantity.Ratio(c.RunnableNs, c.LifeNs()))
		}
	}
	return share
}

// explained is the share of the time of units that a finding explains: of slow ones, if those of any
// kind are.
func explained(f *findings.Finding, kinds []*work.UnitKind, slow map[*work.UnitKind]bool) float64 {
	var of, ofSlow [2]float64 // of all time and of what is explained
	for _, k := range kinds {
		isSlow := slow[k]
		for i := range k.Path {
			p := &k.Path[i]
			part := partOf(f, k, p)
			of[0] += float64(p.Ns)
			of[1] += part * float64(p.Ns)
			if isSlow {
				ofSlow[0] += float64(p.SlowNs * k.Count)
				ofSlow[1] += part * float64(p.SlowNs*k.Count)
			}
		}
	}
	if ofSlow[0] > 0 {
		of = ofSlow
	}
	return of[1] / max(1, of[0])
}

// partOf is how much of a part of a unit's time a finding explains, from 0 to 1.
func partOf(f *findings.Finding, k *work.UnitKind, p *work.TimePart) float64 {
	switch {
	case f.Kind == findings.KindMachine:
		if p.What == "running" || p.What == "off-cpu" || p.What == "runnable" || p.What == "syscall" {
			return 1
		}
	case p.What == "runnable" && f.CostOf != findings.OfBlocked:
		if f.Names(findings.Victim, p.Who) || f.Names(findings.Victim, k.Name) {
			return 1
		}
		return min(1, quantity.Ratio(f.CostNs, f.WholeNs))
	case p.What == "stw" || strings.HasPrefix(p.What, "gc-"):
		if f.CostOf == findings.OfPTime {
			return 1
		}
	case p.Via != nil && f.CostOf == findings.OfBlocked:
		if acts(f, findings.Victim, k.Name, p.Via.Site) || acts(f, findings.Victim, p.Who, p.Where) || acts(f, findings.Cause, p.Who, p.Where) {
			return 1
		}
	case f.CostOf == findings.OfPTime:
		if f.Names(findings.Cause, p.Who) {
			return 1
		}
	}
	return 0
}

// acts reports whether goroutines have a role in a finding by what they do in a function; class is
// what they run, for those of which no stack is known.
func acts(f *findings.Finding, role, class, in string) bool {
	return slices.ContainsFunc(f.Actors, func(a findings.Actor) bool {
		return a.Role == role && (a.Through(findings.Name(in)) || len(a.Stack) == 0 && findings.Short(a.Class) == class)
	})
}
