package diagnosis

import (
	"cmp"
	"slices"
	"strings"

	"github.com/gmpscope/gmpscope/analyze"
	"github.com/gmpscope/gmpscope/analyze/breakdown"
	"github.com/gmpscope/gmpscope/analyze/findings"
	"github.com/gmpscope/gmpscope/analyze/waits"
	"github.com/gmpscope/gmpscope/internal/quantity"
)

// Names of cases in which no finding leads, but units of work do, or a line: slow ones, some that are asleep, some
// that wait for the network time and again, some that are in system calls, or wait for child processes, and some that compute.
const (
	lineCase      = "in line"
	slowCase      = "slow units"
	asleepCase    = "asleep"
	rowCase       = "in a row"
	callsCase     = "in system calls"
	childCase     = "in child processes"
	computingCase = "computing"
)

// A Case is one possible verdict: what it is about, and the templates of its texts. Package report
// fills in the words that begin with a dollar sign: $finding is the headline that the detector of
// the subject wrote, unless the subject is only that goroutines waited for a P: then it tells who
// waited, and for what. Kind, CostOf, Counted and MaybeMeant of a detector say in which cases it may
// lead.
type Case struct {
	Name     string // identifies the case
	holds    bool
	Subject  *findings.Finding // the finding that leads: the headline is about it; nil if none does
	Label    string            // what kind of trouble it is, and how severe, in a few words
	Headline string            // what is the matter, in one sentence
	Try      string            // what to do about it; "" if nothing
}

// cases are the cases of a verdict. The first that holds decides.
func (d *Diagnosis) cases() []Case {
	r, users := d.r, &d.r.Waits.User
	judged, noWaits := len(r.Detectors) > 0, users.Count == 0 && users.OpenCount == 0
	moreWork := judged && d.MuchWaiting && (d.Slow == nil || d.waits()) && 2*QueuedNs(users.Causes) > users.TotalNs // more than the Ps can do
	serious, blocked := findings.Chief(r.Findings, findings.Warning), findings.Lead(r.Findings, d.blocks)
	if serious != nil && d.asleepUnits() && r.Program.Kind == analyze.Server && serious.CostOf != findings.OfBlocked && serious.WorkShare < smallShare {
		serious = nil // requests are asleep meanwhile
	}
	if serious != nil && d.GCNs > 0 && serious.CostOf == findings.OfWaiting && !serious.Counted {
		serious = cmp.Or(d.first(func(f *findings.Finding) bool { return f.Remedy.NoGC && f.Severity.AtLeast(findings.Warning) }), serious)
	}
	if serious != nil && d.computes() && serious.CostOf != findings.OfBlocked && !serious.Counted && small(serious) {
		serious = nil // others wait since there is so much to compute
	}
	inChild := serious != nil && d.Spent != nil && d.Spent.In.What == "child" && serious.At("os.(*Process).Wait")
	if inChild {
		serious = nil // the path of the run says from where they are started
	}
	inLine := d.lineLeads(serious)
	if inLine {
		serious = nil // who gives up a lock wakes who is next, and that has to run
	}
	if serious != nil && serious.InLine && moreWork {
		serious = nil // it explains what is, and is true, but no trouble
	}
	note := blocked // what leads where nothing is serious
	switch {
	case d.r.Program.Tested(): // tests and benchmarks load the program as they mean to
		blocked = nil
		note = d.first(func(f *findings.Finding) bool {
			return !f.OfTest && (f.Counted && float64(f.CostNs) >= testCost*float64(d.RanNs) || f.CostOf == findings.OfBlocked && f.WorkShare >= smallShare || causes(f, findings.OfPTime) && d.costs(f))
		})
	case blocked != nil:
	case !d.MuchWaiting:
		note = findings.Lead(r.Findings, d.costs)
	case moreWork:
		note = d.first(d.behindHalf)
	case judged:
		if note = findings.Chief(r.Findings, findings.Note); note != nil && (!d.affects(note) || d.unproven(note) || d.meant(note) || ofTest(note) || aboutWaiting(note) && harmless(d.victim(note))) {
			note = nil
		}
	}
	if note != nil && (d.asleepUnits() && note.At(d.Spent.In.Where) || d.InRow != nil && !d.InRow.Slow && note.At(d.InRow.Place())) {
		if note == d.Noted {
			d.Noted = nil
		}
		note = nil // units of work show what it says, and how often or how long
	}
	s, b, n := cmp.Or(serious, &none), cmp.Or(blocked, &none), cmp.Or(note, &none)

	how := string(s.Severity)
	fine := "No problem found"
	if d.Noted != nil || d.MuchWaiting {
		fine = "No serious problem found"
	}
	more := "More work than Ps"
	if d.used < mostUse {
		more += " at times"
	}
	const (
		tryFirst = "Try first: $advice"
		spent    = "$spent of the time of $units is spent $spentIn"
		allWell  = "Nothing to do about scheduling: $detectors found no serious fault. $next"
	)
	asleep := "Try first: wait there for what is to happen, and not for a time; if it has to be a time, let its caller set it."
	if d.Spent != nil && d.Spent.By != "" {
		asleep = "Try first: that sleep is in a library: see whether a setting makes it shorter, or lets what is waited for end it, or whether $spentBy has to wait for it."
	}
	inRow, tryInRow := "Note; act if it matters", "If that is too slow for you: ask for several things at once, or for all of them in one request, or keep answers. If these are pieces of one long answer, the time only shows how fast the other side sends."
	if d.InRow.loud() {
		inRow, tryInRow = "Blocking, not scheduling: warning", "Try first: ask for several things at once, or for all of them in one request, or keep answers."
	}
	computing, ifTooSlow := "note", "If that is too slow for you: $faster"
	if d.computesMostly() {
		computing, ifTooSlow = "warning", "Try first: $faster"
	}
	ifWanted := "If that cost matters to you, try: $advice"
	if d.MuchWaiting && (n.CostOf == findings.OfWaiting || n.CostOf == "") {
		ifWanted = "If that waiting matters to you, try: $advice"
	}
	if note == nil && r.Trace.Reduced {
		ifWanted = "" // what threads did is not shown
	}
	if moreWork {
		ifTooSlow += " " + ifWanted
	}
	return []Case{
		{"no result", r == nothing, nil, "No result", "There is no result", ""},
		{"decisions only", r.DecisionsOnly, nil, "Not measured", "Nothing was measured: the analysis was of decisions only", ""},

		// Something is serious. What leads may be a note that explains it.
		{"machine", s.Kind == findings.KindMachine, serious, "Trouble with the machine: " + how, "$finding", tryFirst},
		{"blocking", causes(s, findings.OfBlocked), serious, "Blocking, not scheduling: " + how, "$finding", tryFirst},
		{"P-time", causes(s, findings.OfPTime), serious, "P-time wasted: " + how, "$finding", tryFirst},
		{"overhead", s.Counted && small(s), serious, "Overhead: " + how, "$finding", tryFirst},
		{"delays", serious != nil, serious, "Scheduling delays: " + how, "$finding", tryFirst},

		// Users notice it, and no finding explains it.
		{"slow units, by a cause", d.Slow != nil && !moreWork && note != nil && note.WorkShare >= halfShare, note, "Slow units of work: note", "$finding", tryFirst},
		{lineCase, inLine && (note == nil || note.Remedy.FreeLock && 2*note.CostNs < d.Line.WaitNs || note.CostOf != findings.OfBlocked), nil, "Lock contention: warning",
			"Goroutines stand in line for a lock in $lineAt for $lineShare of the recording: $lineWaits in all",
			"Try first: hold that lock for less: compute, read and write before locking or after unlocking; or have more than one, each for a part of what it guards."},
		{asleepCase, d.asleepUnits() && (d.r.Program.Tested() || note == nil || note.WorkShare < smallShare), nil, "Blocking, not scheduling: warning", spent,
			asleep},
		{slowCase, d.Slow != nil && !moreWork && !d.inRowExplains() && (note == nil || small(note) || !d.affects(note)), nil, "Slow units of work: note", "Slow $slowOnes of $kind: $more of $takes $doing", "If they are too slow for you: $remedy"},
		{rowCase, d.InRow != nil && !moreWork && (note == nil || note.WorkShare < halfShare), nil, inRow, "$rowKind waits for $rowFor $times times in a row$inPlace: $rowTakes $rowUnit", tryInRow},
		{childCase, inChild, nil, "Blocking, not scheduling: warning", spent,
			"Try first: start fewer processes, or several at once, or let one do the work of several; keep their answers where they stay the same."},
		{callsCase, d.Spent != nil && !d.asleepUnits() && !moreWork && note == nil, nil, "Note; act if it matters", spent,
			"If they are too slow for you: make fewer of these calls, or larger ones; if they write to a disk, sync once for many."},
		{computingCase, d.computingLeads(note), nil, "Computing: " + computing, "About $computed of the time $computedBy is spent computing in $computes",
			ifTooSlow},

		// A note leads, or there was much waiting.
		{"by design", b.MaybeMeant, blocked, "Blocked, perhaps by design: note", "$finding",
			"Act only if that is too slow for you: it may be what is meant. Then: $advice"},
		{"more work than Ps, by a cause", moreWork && note != nil, note, more, "$finding", ifWanted},
		{"more work than Ps", moreWork, nil, more, "There was " + strings.ToLower(more[:1]) + more[1:] + ": $busiest ran for $busy, others waited $waited", ifWanted + " $next"},
		{"suspected", n.Basis == findings.Suspected, note, "Suspected: note", "$finding", ifWanted},
		{"minor", note != nil, note, "Note; act if it matters", "$finding", ifWanted},
		{"not judged, no waits", !judged && noWaits, nil, "Not judged", "No goroutine of the program had to wait for a P", ""},
		{"not judged", !judged, nil, "Not judged", "No detector judged this trace; goroutines waited $waited for a P in all", ""},
		{"no fault", d.MuchWaiting, nil, fine, "Goroutines waited $waited for a P and ran $ran; no fault was found", ifWanted + " $next"},

		// Scheduling is not the problem.
		{"no waits", noWaits, nil, fine, "No goroutine of the program had to wait for a P", allWell},
		{"idle", d.Idle, nil, fine, "Scheduling is not the problem: Ps were hardly used, and no wait for one was over $longest", allWell},
		{"lone waiter", d.Waiter != nil, nil, fine, "No fault found, though $waiter waits for a P for $runnable of its life", allWell},
		{"only notes", d.Noted != nil, nil, fine, "Scheduling is not the problem: no wait for a P was longer than $longest", allWell},
		{"fine", true, nil, fine, "Nothing is wrong with scheduling: no wait for a P was longer than $longest", allWell},
	}
}

const (
	waited  = "$victim waited $victimWaited for a P in all, "
	atATime = waited + "up to $victimLongest at a time"
)

// A symptom is a headline about the class that waited most: who that is, and for what it waited.
// The shorter one is for where the other gets too long.
type symptom struct {
	holds             bool
	headline, shorter string
}

// symptoms are those of a class that waited, mostly for one cause. The first that holds decides.
func (v *Victim) symptoms(most waits.Cause) []symptom {
	h := cmp.Or(v.Holder, &waits.PHold{})
	heldNs, queuedNs := waits.CauseNs(v.Waits.Causes, waits.CauseUnavailable), QueuedNs(v.Waits.Causes)
	unavailable := most == waits.CauseUnavailable && v.Holder != nil
	mostly := "in part"
	if v.mostly {
		mostly = "mostly"
	}
	return []symptom{
		{calls(h) && len(h.Stack) > 0 && 2*heldNs >= v.Waits.TotalNs, "System calls of $caller hold Ps that $victim waits for: $held in all", ""},
		{v.Ahead != nil, waited + mostly + " behind $ahead", atATime},
		{2*queuedNs >= v.Waits.TotalNs, atATime, ""},
		{most == waits.CauseGC, waited + mostly + " behind the garbage collector", atATime},
		{most == waits.CauseIdlePAvailable, waited + mostly + " although one was idle", atATime},
		{most == waits.CauseSTW, waited + mostly + " while the world was stopped", atATime},
		{unavailable && !calls(h), waited + mostly + " for one on its way to a locked thread", atATime},
		{unavailable && h.Class == v.ID, waited + mostly + " for one that its own system calls held", atATime},
		{unavailable, waited + mostly + " for one that system calls of $holder held", atATime},
		{true, atATime, ""},
	}
}

// Thresholds. Waiting and cost are compared with the running time of the program.
const (
	largeWaiting = 0.5       // waiting from which on it is worth a headline, even if no detector minds
	largeCost    = 0.15      // cost of a note from which on it leads, even if there was little waiting
	smallPart    = 0.05      // share of all waiting below which a finding is about a small part of it
	smallLife    = 0.05      // share of a class's life below which waiting for a P is no headline
	testCost     = 0.01      // share of the time that tests ran from which on a note about what was counted leads
	littleUse    = 0.1       // share of P-time at least that cost is compared with: a program that ran for less is idle
	mostUse      = 0.8       // share of P-time in use below which there was more work than Ps at times only
	wholeLife    = 0.99      // share of its life from which on a goroutine does nothing else
	muchUse      = 0.5       // share of P-time in use from which on a slow program is slow by its work
	doubtful     = 0.1       // share of the waiting from which on a lack of CPUs during it casts doubt on all
	shortWait    = 2_000_000 // ns up to which a wait for a P is short

	// ManyUnsure is the share of starts without explanation above which the rebuilt run queues are
	// less certain, and MostUnsure that above which they are only indications; 0.01 is one in a
	// hundred.
	ManyUnsure = 0.01
	MostUnsure = 0.05
)

var none findings.Finding

// causes reports whether a finding is no symptom, and what its cost is a part of.
func causes(f *findings.Finding, of findings.CostBase) bool {
	return f.CostOf == of && f.Kind != findings.KindSymptom
}

// aboutWaiting reports whether a finding is only that goroutines waited for a P.
func aboutWaiting(f *findings.Finding) bool {
	return f.Kind == findings.KindSymptom && (f.CostOf == findings.OfWaiting || f.CostOf == "")
}

// small reports whether a finding explains only a small part of the waiting.
func small(f *findings.Finding) bool {
	return f.CostNs > 0 && f.CostOf == findings.OfWaiting && quantity.Ratio(f.CostNs, f.WholeNs) < smallPart
}

// blocks reports whether by a cause goroutines were blocked for longer than all waited for a P.
func (d *Diagnosis) blocks(f *findings.Finding) bool {
	return f.Kind == findings.KindCause && f.CostOf == findings.OfBlocked && len(f.SymptomOf) == 0 && f.CostNs > d.r.Waits.User.TotalNs && d.large(f) && d.affects(f) && !d.meant(f)
}

// costs reports whether a cause cost much, although there was not much waiting: garbage
// collection, for one.
func (d *Diagnosis) costs(f *findings.Finding) bool {
	return f.Kind != findings.KindTrace && f.Kind != findings.KindSymptom && d.large(f) && !d.unproven(f) && !d.meant(f)
}

// ofTest reports whether goroutines wait for test code, or in it, as the test has it.
func ofTest(f *findings.Finding) bool { return f.MaybeMeant && f.OfTest }

// large reports whether a note costs enough to lead.
func (d *Diagnosis) large(f *findings.Finding) bool {
	return !ofTest(f) && float64(f.CostNs) > largeCost*max(float64(d.RanNs), littleUse*float64(d.usable))
}

// unproven reports whether a finding suspects the machine.
func (d *Diagnosis) unproven(f *findings.Finding) bool {
	return f.Kind == findings.KindMachine && !f.Sure()
}

// meant reports whether a finding is about goroutines that wait for something to do, about one that
// sleeps all its life, or, in tests, about what may be what they test.
func (d *Diagnosis) meant(f *findings.Finding) bool {
	return f.MaybeMeant && (d.sleepsAlways(f) || d.r.Program.Tested()) || f.CostOf == findings.OfBlocked && d.atHome(f)
}

// sleepsAlways reports whether a finding is about one goroutine that sleeps all its life.
func (d *Diagnosis) sleepsAlways(f *findings.Finding) bool {
	return len(f.Actors) > 0 && !slices.ContainsFunc(f.Actors, func(a findings.Actor) bool {
		i := slices.IndexFunc(d.r.Breakdown.Classes, func(c breakdown.Class) bool { return c.Name == a.Class && c.Creator == a.Creator })
		if i < 0 {
			return true
		}
		c := &d.r.Breakdown.Classes[i]
		return c.Goroutines != 1 || float64(c.BlockedNs[breakdown.ReasonSleep]) < wholeLife*float64(c.LifeNs())
	})
}

// behindHalf reports whether a cause is behind half of the waiting: what made so many goroutines
// runnable at once, or what explains another finding. Goroutines of one class that stand in one
// another's way are none.
func (d *Diagnosis) behindHalf(f *findings.Finding) bool {
	if f.Kind != findings.KindCause || f.CostOf != findings.OfWaiting || 2*f.CostNs < d.r.Waits.User.TotalNs {
		return false
	}
	amongEquals := slices.ContainsFunc(f.Actors, func(a findings.Actor) bool {
		return a.Role == findings.Cause && slices.ContainsFunc(f.Actors, func(b findings.Actor) bool { return b.Role == findings.Victim && b.Class == a.Class })
	})
	explains := slices.ContainsFunc(d.r.Findings, func(x findings.Finding) bool { return slices.Contains(x.SymptomOf, f.ID) })
	return f.Counted || explains && !amongEquals && !f.InLine
}

// harmless reports whether a class lost little of its life to waiting for a P: it was blocked
// for nearly all of it.
func harmless(v *Victim) bool {
	return v != nil && v.Life != nil && v.Life.LifeNs() > 0 && quantity.Ratio(v.Life.RunnableNs, v.Life.LifeNs()) < smallLife
}
