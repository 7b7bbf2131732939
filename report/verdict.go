package report

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/gmpscope/gmpscope/analyze"
	"github.com/gmpscope/gmpscope/analyze/breakdown"
	"github.com/gmpscope/gmpscope/analyze/findings"
	"github.com/gmpscope/gmpscope/analyze/waits"
	"github.com/gmpscope/gmpscope/internal/quantity"
	"github.com/gmpscope/gmpscope/internal/vocabulary"
	"github.com/gmpscope/gmpscope/report/internal/words"
)

// Thresholds of the words in a verdict; its status is that of the findings.
const (
	fewStarts     = 100        // fewer starts say little
	shortTrace    = 50_000_000 // so does a shorter trace, ns
	longHeadline  = 160        // characters; a headline has some 90
	headlineLen   = 90         // and what is not needed in it is left out beyond these
	smallPart     = 0.05       // share of all waiting below which a headline says how small its part is
	smallLife     = 0.05       // waiting for a P per life of a class below which a note about that is no headline
	openWaiting   = 0.01       // share of all waiting from which on waits that were not over are told
	smallWaiting  = 0.01       // waiting per running below which it does not matter
	smallInLine   = 0.2        // share of waiting behind others below which it is not told who they are
	largeSelf     = 0.1        // self-inflicted per other waiting from which on it is told
	largeWaiting  = 0.5        // waiting per running from which on it is told even if no detector minds
	largeCost     = 0.15       // cost of a note per running from which on it is told even if there was little waiting
	manyUnsure    = 0.01       // share of unexplained starts from which on queues are less certain
	mostUnsure    = 0.05       // and from which on they are indications only
	sufferersTold = 2
	littleUse     = 0.1       // share of P-time in use below which a program is idle: its waits are those of waking up
	shortWait     = 2_000_000 // as long as none is longer, ns
	muchUse       = 0.5       // share of P-time in use from which on a slow program is slow by its work
)

// judge puts a result into words.
func judge(r *analyze.Result, names *words.Names) Verdict {
	if r == nil {
		return Verdict{Status: "note", Label: "No result", Headline: "There is no result", Finding: -1}
	}
	if r.DecisionsOnly {
		return Verdict{Status: "note", Label: "Not measured", Headline: "Nothing was measured: the analysis was of decisions only", Finding: -1}
	}
	v := Verdict{Status: status(r.Findings), Finding: -1}
	if f := subject(r); f != nil {
		v.Finding = slices.IndexFunc(r.Findings, func(x findings.Finding) bool { return x.ID == f.ID && x.Title == f.Title })
	}
	if len(r.Detectors) == 0 && v.Status == "ok" {
		v.Status = string(findings.Note) // nobody looked
	}
	v.Label, v.Headline = label(r, v.Status), words.Cut(headline(r, names, v.Status), longHeadline)
	v.Detail, v.Try = detail(r, names), strings.TrimSpace(tryFirst(r, names)+" "+doubtful(r))
	for _, line := range []string{v.Detail, v.Try, collected(r), lost(r), sufferers(r, names), causers(r, names), sureness(r)} {
		if line != "" {
			v.Lines = append(v.Lines, line)
		}
	}
	return v
}

// collected says so where the garbage collector took more time of Ps than the program did.
func collected(r *analyze.Result) string {
	var gc, all int64
	for i := range r.Procs.Ps {
		p := &r.Procs.Ps[i]
		gc += p.GCNs
		all += p.RunningNs + p.GCNs + p.SystemNs + p.TracerNs + p.SyscallNs
	}
	if ran := running(r); gc > ran && gc > all/4 {
		return fmt.Sprintf("The garbage collector ran for longer than the program: %s against %s of P-time.", quantity.Duration(gc), quantity.Duration(ran))
	}
	return ""
}

// status is the highest severity of the findings. It is about the program: what
// is wrong with the trace alone is worth a note.
func status(fs []findings.Finding) string {
	rank := map[string]int{"ok": 0, string(findings.Note): 1, string(findings.Warning): 2, string(findings.Critical): 3}
	top := "ok"
	for _, f := range fs {
		s := string(f.Severity)
		if _, known := rank[s]; !known || f.Kind == findings.KindTrace {
			s = string(findings.Note)
		}
		if rank[s] > rank[top] {
			top = s
		}
	}
	return top
}

// worst is the first finding about the program with at least that severity.
func worst(fs []findings.Finding, least ...findings.Severity) *findings.Finding {
	for i := range fs {
		if fs[i].Kind != findings.KindTrace && slices.Contains(least, fs[i].Severity) {
			return &fs[i]
		}
	}
	return nil
}

// chief is the serious finding that a verdict is about, nil if nothing is serious.
func chief(fs []findings.Finding) *findings.Finding {
	return findings.Chief(fs, findings.Warning)
}

// muchWaiting reports whether there was much, whether a detector minds or not.
func muchWaiting(r *analyze.Result) bool {
	return quantity.Ratio(r.Waits.User.TotalNs, running(r)) > largeWaiting && !idle(r)
}

// idle reports whether a program hardly used its Ps, and nobody waited long for one: next to
// running that is little, the waits are much, but they are only those of waking up.
func idle(r *analyze.Result) bool {
	used, of := r.Procs.InUse()
	return of > 0 && quantity.Ratio(used, of) < littleUse && r.Waits.User.MaxNs < shortWait
}

// worthKnowing is the note that the headline is about where nothing is serious:
// if there was much waiting, and most of it was not plain queueing.
func worthKnowing(r *analyze.Result) *findings.Finding {
	if len(r.Detectors) == 0 || chief(r.Findings) != nil || !muchWaiting(r) || plainQueueing(r) {
		return nil
	}
	if f := findings.Chief(r.Findings, findings.Note); f != nil && !(aboutWaiting(f) && harmless(r, f)) {
		return f
	}
	return nil
}

// harmless reports whether those who suffer from a finding lost little of their life to
// waiting for a P: they were blocked elsewhere for nearly all of it.
func harmless(r *analyze.Result, f *findings.Finding) bool {
	w := victim(r, f)
	if w == nil {
		return false
	}
	c := r.Breakdown.Of(w.ID)
	return c != nil && c.LifeNs() > 0 && quantity.Ratio(c.RunnableNs, c.LifeNs()) < smallLife
}

// running is the time that goroutines of the program ran.
func running(r *analyze.Result) (ns int64) {
	for _, p := range r.Procs.Ps {
		ns += p.RunningNs
	}
	return ns
}

// subject is the finding that the headline is about, nil if it is about none: the chief, or
// a note that is worth knowing.
func subject(r *analyze.Result) *findings.Finding {
	if f := chief(r.Findings); f != nil {
		return f
	}
	if f := blocked(r); f != nil {
		return f
	}
	switch {
	case !muchWaiting(r):
		return costly(r)
	case len(r.Detectors) > 0 && plainQueueing(r):
		return behindHalf(r)
	}
	return worthKnowing(r)
}

// blocked is a note that says for whom goroutines waited, blocked, for longer than all waited
// for a P; nil if there is none.
func blocked(r *analyze.Result) *findings.Finding {
	for i := range r.Findings {
		f := &r.Findings[i]
		if f.Kind == findings.KindCause && f.CostOf == findings.OfBlocked && len(f.SymptomOf) == 0 && f.CostNs > r.Waits.User.TotalNs && quantity.Ratio(f.CostNs, running(r)) > largeCost {
			return f
		}
	}
	return nil
}

// plainQueueing reports whether most of the waiting was behind other goroutines.
func plainQueueing(r *analyze.Result) bool {
	return inLine(r.Waits.User.Causes) > r.Waits.User.TotalNs/2
}

// label says in a few words what kind of trouble there is, and how much.
func label(r *analyze.Result, status string) string {
	how := map[string]string{string(findings.Critical): "severe", string(findings.Warning): "moderate"}[status]
	f := chief(r.Findings)
	switch {
	case f == nil && blocked(r) != nil && blocked(r).MaybeMeant:
		return "Blocked, perhaps by design; act if it is too slow"
	case f == nil && len(r.Detectors) > 0 && muchWaiting(r) && plainQueueing(r):
		return "More work than Ps"
	case f == nil && len(r.Detectors) > 0 && muchWaiting(r) && subject(r) == nil:
		return "No fault of scheduling found"
	case status == "ok":
		return "No problem found"
	case f == nil && len(r.Detectors) == 0:
		return "Not judged"
	case f == nil && worst(r.Findings, findings.Note) == nil:
		return "No problem found"
	case f == nil && subject(r) != nil:
		if subject(r).Basis == findings.Suspected {
			return "Suspected; see whether it is so"
		}
		return "Minor; act if it matters"
	case f == nil:
		return "No serious problem found"
	case f.Kind == findings.KindMachine:
		return "Trouble with the machine: " + how
	case f.CostOf == findings.OfBlocked && f.Kind != findings.KindSymptom:
		return "Blocking, not scheduling: " + how
	case f.CostOf == findings.OfPTime && f.Kind != findings.KindSymptom && f.Severity != findings.Note: // else what it explains is what is severe
		return "P-time wasted: " + how
	}
	if f.Counted && little(f) {
		return "Overhead: " + how
	}
	return "Scheduling delays: " + how
}

// little reports whether a finding explains only a small part of the waiting.
func little(f *findings.Finding) bool {
	return f.CostNs > 0 && f.CostOf == findings.OfWaiting && quantity.Ratio(f.CostNs, f.WholeNs) < smallPart
}

func headline(r *analyze.Result, names *words.Names, status string) string {
	u := r.Waits.User
	switch f := subject(r); {
	case f != nil && aboutWaiting(f):
		if c := victim(r, f); c != nil {
			if s := heldBy(c, names); s != "" {
				return s
			}
			return waitedFor(c, names)
		}
		fallthrough
	case f != nil:
		return names.Prose(cmp.Or(f.Headline, f.Title))
	case u.Count == 0 && u.OpenCount == 0:
		return "No goroutine of the program had to wait for a P"
	case len(r.Detectors) == 0:
		return fmt.Sprintf("No detector judged this trace; goroutines waited %s for a P in all", quantity.Duration(u.TotalNs))
	case muchWaiting(r) && plainQueueing(r):
		return fmt.Sprintf("There was more work than Ps: goroutines waited %s and ran %s", quantity.Duration(u.TotalNs), quantity.Duration(running(r)))
	case muchWaiting(r):
		return fmt.Sprintf("Goroutines waited %s for a P and ran %s; no fault was found", quantity.Duration(u.TotalNs), quantity.Duration(running(r)))
	case idle(r):
		return fmt.Sprintf("Scheduling is not the problem: Ps were hardly used, and no wait for one was over %s", quantity.Duration(u.MaxNs))
	case waiter(r) != nil:
		c := waiter(r)
		return fmt.Sprintf("No fault found, though %s waits for a P for %s of its life", names.Class(findings.Short(c.Name)), quantity.Part(c.RunnableNs, c.LifeNs()))
	case status == "ok" || worst(r.Findings, findings.Note) == nil:
		return fmt.Sprintf("Nothing is wrong with scheduling: no wait for a P was longer than %s", quantity.Duration(u.MaxNs))
	}
	return fmt.Sprintf("Scheduling is not the problem: no wait for a P was longer than %s", quantity.Duration(u.MaxNs))
}

// waiter is the class of the program that waited for a P for most of its life, and long, though
// that was not much next to all that ran; nil if none did.
func waiter(r *analyze.Result) *breakdown.Class {
	if r.Waits.User.MaxNs < shortWait || quantity.Ratio(r.Waits.User.TotalNs, running(r)) < largeCost {
		return nil
	}
	c := most(r, func(c *breakdown.Class) int64 { return c.RunnableNs })
	if c == nil || 2*c.RunnableNs < c.LifeNs() {
		return nil
	}
	return c
}

// waitedFor is a headline that says who waited, and for what.
func waitedFor(c *waits.Class, names *words.Names) string {
	s := fmt.Sprintf("%s waited %s for a P in all, ", names.Class(findings.Short(c.Name)), quantity.Duration(c.Waits.TotalNs))
	if why := reason(c, names); why != "" && utf8.RuneCountInString(s+why) <= headlineLen {
		return s + why
	}
	return s + "up to " + quantity.Duration(c.Waits.MaxNs) + " at a time"
}

// heldBy is a headline about a class that waited mostly for Ps which system calls held, if
// it is known where most of these are made; else it is "".
func heldBy(c *waits.Class, names *words.Names) string {
	held := words.CauseNs(c.Waits.Causes, waits.CauseUnavailable)
	h := holder(c)
	if h == nil || h.Reason != "system call" || len(h.Stack) == 0 || 2*held < c.Waits.TotalNs {
		return ""
	}
	caller := findings.Actor{Class: h.Name, Stack: h.Stack}
	return fmt.Sprintf("System calls of %s hold Ps that %s waits for: %s in all", names.Prose(caller.Short()), names.Class(findings.Short(c.Name)), quantity.Duration(held))
}

// reason says what most of a class's waiting was for; "" if that is not to be said in
// a few words.
func reason(c *waits.Class, names *words.Names) string {
	much := func(ns int64) string {
		if 2*ns > c.Waits.TotalNs {
			return "mostly "
		}
		return "in part "
	}
	if queued := inLine(c.Waits.Causes); 2*queued >= c.Waits.TotalNs {
		a, share := meanwhile(c)
		if a == nil {
			return ""
		}
		return much(int64(share*float64(queued))) + "behind " + names.Class(findings.Short(a.Name))
	}
	by := words.BySize(c.Waits.Causes)
	if len(by) == 0 {
		return ""
	}
	switch by[0].Cause {
	case waits.CauseUnavailable:
		h := holder(c)
		switch {
		case h == nil:
			return ""
		case h.Reason != "system call":
			return much(by[0].Ns) + "for one on its way to a locked thread"
		case h.Class == c.ID:
			return much(by[0].Ns) + "for one that its own system calls held"
		}
		return much(by[0].Ns) + "for one that system calls of " + names.Class(findings.Short(h.Name)) + " held"
	case waits.CauseGC:
		return much(by[0].Ns) + "behind the garbage collector"
	case waits.CauseIdlePMissed:
		return much(by[0].Ns) + "although one was idle"
	case waits.CauseSTW:
		return much(by[0].Ns) + "while the world was stopped"
	}
	return ""
}

// holder is what kept Ps longest in system calls, or on the way to a locked thread, while
// a class waited; nil if that is not known.
func holder(c *waits.Class) *waits.Held {
	i := slices.IndexFunc(c.Held, func(h waits.Held) bool {
		return h.Cause == waits.CauseUnavailable && (h.Name != "" || h.Reason != "system call")
	})
	if i < 0 {
		return nil
	}
	return &c.Held[i]
}

// detail says in full what the headline is about; empty if that says all.
func detail(r *analyze.Result, names *words.Names) string {
	if f := subject(r); f != nil {
		s := inWords(r, names, f)
		switch {
		case little(f) && f.Counted:
			s += fmt.Sprintf(" That costs running more than waiting: it explains %s of all waits for a P.", quantity.Part(f.CostNs, f.WholeNs))
		case little(f):
			s += fmt.Sprintf(" It explains %s of all waiting.", quantity.Part(f.CostNs, f.WholeNs))
		}
		if ran := running(r); f.Severity == findings.Note && f.CostOf == findings.OfPTime && f.CostNs > 0 && f.CostNs <= ran {
			s += fmt.Sprintf(" That is %s of the time that goroutines ran.", quantity.Part(f.CostNs, ran))
		}
		return s
	}
	if f := worst(r.Findings, findings.Note); f != nil {
		return "Only noted: " + ended(names.Prose(cmp.Or(f.Headline, f.Title)))
	}
	return ""
}

// behindHalf is a note that names who is behind half of the waiting: who made so many
// goroutines runnable at once, or a cause of which another finding is a symptom. Equals
// that stand in one another's way are not it.
func behindHalf(r *analyze.Result) *findings.Finding {
	for i := range r.Findings {
		f := &r.Findings[i]
		explains := slices.ContainsFunc(r.Findings, func(x findings.Finding) bool { return slices.Contains(x.SymptomOf, f.ID) })
		if f.Kind == findings.KindCause && f.CostOf == findings.OfWaiting && 2*f.CostNs >= r.Waits.User.TotalNs && (f.Counted || explains && !amongEquals(f)) {
			return f
		}
	}
	return nil
}

// amongEquals reports whether who suffers from a finding is also who causes it.
func amongEquals(f *findings.Finding) bool {
	return slices.ContainsFunc(f.Actors, func(a findings.Actor) bool {
		return a.Role == findings.Cause && slices.ContainsFunc(f.Actors, func(b findings.Actor) bool { return b.Role == findings.Victim && b.Class == a.Class })
	})
}

// costly is the first note that names a cause and cost much against the
// running, although there was not much waiting: garbage collection, for one.
func costly(r *analyze.Result) *findings.Finding {
	for i := range r.Findings {
		f := &r.Findings[i]
		if f.Kind != findings.KindTrace && f.Kind != findings.KindSymptom && quantity.Ratio(f.CostNs, running(r)) > largeCost {
			return f
		}
	}
	return nil
}

// aboutWaiting reports whether a finding is that goroutines waited, which the headline says
// of those who did.
func aboutWaiting(f *findings.Finding) bool {
	return f.Kind == findings.KindSymptom && (f.CostOf == findings.OfWaiting || f.CostOf == "")
}

// inWords is a finding as a headline has it: its title, or of a symptom who
// suffers, and from what.
func inWords(r *analyze.Result, names *words.Names, f *findings.Finding) string {
	title := ended(words.Cut(names.Prose(f.Title), 600))
	c := victim(r, f)
	if !aboutWaiting(f) || c == nil {
		return title
	}
	by := words.BySize(c.Waits.Causes)
	if len(by) == 0 {
		return title
	}
	s := fmt.Sprintf("%s waited %s in all, up to %s at a time: %s of it %s", names.Class(findings.Short(c.Name)), quantity.Duration(c.Waits.TotalNs), quantity.Duration(c.Waits.MaxNs),
		quantity.Part(by[0].Ns, c.Waits.TotalNs), words.Lost(by[0].Cause))
	if 2*by[0].Ns < c.Waits.TotalNs && len(by) > 1 {
		s += fmt.Sprintf(" and %s %s", quantity.Part(by[1].Ns, c.Waits.TotalNs), words.Lost(by[1].Cause))
	}
	if a, share := meanwhile(c); a != nil && 2*inLine(c.Waits.Causes) >= c.Waits.TotalNs {
		return s + fmt.Sprintf(". Meanwhile %s ran, for %s of that time.", names.Class(findings.Short(a.Name)), quantity.Percent(share))
	}
	return s + "."
}

// meanwhile is the other class that ran most while a class waited, and its share of that
// time, if that is a third or more; nil if none did.
func meanwhile(c *waits.Class) (*waits.Antagonist, float64) {
	var sum int64
	var most *waits.Antagonist
	for i := range c.Antagonists {
		a := &c.Antagonists[i]
		if sum += a.Ns; a.Class != c.ID && (most == nil || a.Ns > most.Ns) {
			most = a
		}
	}
	if most == nil || 3*most.Ns < sum {
		return nil, 0
	}
	return most, quantity.Ratio(most.Ns, sum)
}

// victim is the class of the program that waited longest of those that f says
// suffered; of all, where it says nothing. Nil if none waited.
func victim(r *analyze.Result, f *findings.Finding) *waits.Class {
	cs := userClasses(r)
	for i := range cs {
		if slices.ContainsFunc(f.Actors, func(a findings.Actor) bool { return a.Role == findings.Victim && a.Class == cs[i].Name }) {
			return cs[i]
		}
	}
	if len(cs) == 0 {
		return nil
	}
	return cs[0]
}

// inLine is the waiting behind other goroutines.
func inLine(cs []waits.CauseTime) int64 {
	return words.CauseNs(cs, waits.CauseBehind) + words.CauseNs(cs, waits.CauseOvertaken)
}

// lost says how much goroutine-time was lost, and to what.
func lost(r *analyze.Result) string {
	u := r.Waits.User
	if u.Count == 0 {
		return ""
	}
	var parts []string
	for i, c := range words.BySize(u.Causes) {
		if i == 3 || c.Ns*20 < u.TotalNs && i > 0 {
			break
		}
		parts = append(parts, quantity.Part(c.Ns, u.TotalNs)+" "+words.Lost(c.Cause))
	}
	s := fmt.Sprintf("Waiting for a P: %s in %s", quantity.Duration(u.TotalNs), quantity.Plural(u.Count, "wait", "waits"))
	if f := elsewhere(r); f != nil {
		return s + fmt.Sprintf(", up to %s at a time, against %s blocked, as the headline says: it is not the scheduler.", quantity.Duration(u.MaxNs), quantity.Duration(f.CostNs))
	}
	if u.MaxNs < shortWait && quantity.Ratio(u.TotalNs, running(r)) > largeWaiting || idle(r) { // runs were short, too
		s += fmt.Sprintf(", %s each on average and %s at most", quantity.Duration(u.TotalNs/u.Count), quantity.Duration(u.MaxNs))
		if used, of := r.Procs.InUse(); idle(r) {
			s += fmt.Sprintf(", while %s of the P-time was in use", quantity.Part(used, of))
		}
	} else if run := running(r); run > 0 {
		s += ", " + againstRunning(quantity.Ratio(u.TotalNs, run))
	}
	if len(parts) > 0 {
		s += ": " + words.List(parts)
	}
	s += "."
	if self := r.Waits.Self.TotalNs; float64(self) > largeSelf*float64(u.TotalNs) && self > 0 {
		s += fmt.Sprintf(" Another %s came after calls of runtime.Gosched.", quantity.Duration(self))
	}
	return s
}

// elsewhere is the finding that the headline is about, if it is about what goroutines were
// blocked for, and next to that they hardly waited for a P; else nil.
func elsewhere(r *analyze.Result) *findings.Finding {
	if f := subject(r); f != nil && f.CostOf == findings.OfBlocked && f.Kind != findings.KindSymptom && f.CostNs > 2*r.Waits.User.TotalNs {
		return f
	}
	return nil
}

// againstRunning puts waiting in relation to running.
func againstRunning(f float64) string {
	switch s := quantity.Number(f); {
	case f < 0.995:
		return quantity.Percent(f) + " of the time that they ran"
	case s == "1":
		return "as long as they ran"
	default:
		return s + " times as long as they ran"
	}
}

// userClasses are the classes of the program that waited, longest first.
func userClasses(r *analyze.Result) []*waits.Class {
	var out []*waits.Class
	for i := range r.Waits.Classes {
		if c := &r.Waits.Classes[i]; !c.System && c.Waits.TotalNs > 0 {
			out = append(out, c)
		}
	}
	slices.SortStableFunc(out, func(a, b *waits.Class) int { return cmp.Compare(b.Waits.TotalNs, a.Waits.TotalNs) })
	return out
}

// sufferers says who waited.
func sufferers(r *analyze.Result, names *words.Names) string {
	if elsewhere(r) != nil {
		return strings.TrimSpace(lived(r, names))
	}
	cs := userClasses(r)
	var total int64
	for _, c := range cs {
		total += c.Waits.TotalNs
	}
	if total == 0 {
		return ""
	}
	var who []string
	var told int64
	for i, c := range cs {
		if i == sufferersTold || i > 0 && told*10 > total*8 {
			break
		}
		told += c.Waits.TotalNs
		var about []string
		if c.Goroutines > 0 {
			about = append(about, quantity.Plural(c.Goroutines, "goroutine", "goroutines"))
		}
		if c.Creator != "" {
			about = append(about, "created by "+names.Class(findings.Short(c.Creator)))
		}
		about = append(about, quantity.Part(c.Waits.TotalNs, total)+" of that waiting", "up to "+quantity.Duration(c.Waits.MaxNs)+" at a time")
		who = append(who, fmt.Sprintf("%s (%s)", names.Class(findings.Short(c.Name)), strings.Join(about, ", ")))
	}
	return "Who waited for a P: " + words.List(who) + "." + lived(r, names)
}

// causers says who ran while the class that waited most did not.
func causers(r *analyze.Result, names *words.Names) string {
	if elsewhere(r) != nil {
		return ""
	}
	cs := userClasses(r)
	if len(cs) == 0 {
		return ""
	}
	c := cs[0]
	if len(c.Antagonists) == 0 || float64(inLine(c.Waits.Causes)) < smallInLine*float64(c.Waits.TotalNs) {
		return ""
	}
	var sum int64
	for _, a := range c.Antagonists {
		sum += a.Ns
	}
	a := c.Antagonists[0]
	who := names.Class(findings.Short(a.Name))
	if a.Class == c.ID {
		who = "others of the same class"
	}
	s := fmt.Sprintf("Who ran meanwhile: while %s was queued, %s ran for %s of the time", names.Class(findings.Short(c.Name)), who, quantity.Part(a.Ns, sum))
	if a.Class == c.ID && len(c.Antagonists) > 1 && c.Antagonists[1].Ns*5 > sum {
		b := c.Antagonists[1]
		s += fmt.Sprintf(", and %s for %s", names.Class(findings.Short(b.Name)), quantity.Part(b.Ns, sum))
	}
	return s + "."
}

// tryFirst says what to do; where there is nothing, where to look next.
func tryFirst(r *analyze.Result, names *words.Names) string {
	f := subject(r)
	switch {
	case chief(r.Findings) != nil:
		if a := firstAdvice(r, names, f); a != "" {
			return "Try first: " + a
		}
	case f != nil && f == blocked(r) && f.MaybeMeant:
		if a := firstAdvice(r, names, f); a != "" {
			return "Act only if that is too slow for you: it may be what is meant. Then: " + a
		}
	case muchWaiting(r) && (f == nil || f != blocked(r)):
		if a := firstAdvice(r, names, f); a != "" {
			if f == nil {
				a = strings.TrimSpace(a + " " + next(r, names))
			}
			what := "waiting"
			if f != nil && f.CostOf != findings.OfWaiting && f.CostOf != "" {
				what = "cost"
			}
			return "If that " + what + " matters to you, try: " + a
		}
	case f != nil && status(r.Findings) == string(findings.Note):
		if a := firstAdvice(r, names, f); a != "" {
			return "If that cost matters to you, try: " + a
		}
	}
	if len(r.Detectors) == 0 {
		return ""
	}
	s := "Nothing to do about scheduling: " + quantity.Plural(int64(len(r.Detectors)), "detector", "detectors") + " found no serious fault."
	if next := next(r, names); next != "" {
		s += " " + next
	}
	return s
}

// next says where to look if a program is slow, though scheduling is not why; "" if that is
// not known.
func next(r *analyze.Result, names *words.Names) string {
	used, of := r.Procs.InUse()
	life := &r.Breakdown.Program
	if of == 0 || life.LifeNs() == 0 {
		return ""
	}
	const lead = "If the program is too slow all the same, "
	if quantity.Ratio(used, of) >= muchUse {
		who := ""
		if c := most(r, func(c *breakdown.Class) int64 { return c.RunningNs }); c != nil {
			who = fmt.Sprintf(", most of it by %s (%s)", names.Class(findings.Short(c.Name)), quantity.Duration(c.RunningNs))
		}
		return lead + fmt.Sprintf("it is by what it computes: goroutines ran for %s%s. A CPU profile says in which functions.", quantity.Duration(life.RunningNs), who)
	}
	c := most(r, func(c *breakdown.Class) int64 {
		ns := c.Blocked() + c.SyscallNs
		if c.Name == "main.main" || 2*ns < c.LifeNs() {
			return 0 // main waits for all the others
		}
		return ns
	})
	if c == nil {
		return ""
	}
	s := lead + fmt.Sprintf("see what it is blocked on: %s of the P-time was in use. Longest blocked was %s (%s of its time", quantity.Part(used, of), names.Class(findings.Short(c.Name)), quantity.Part(c.Blocked()+c.SyscallNs, c.LifeNs()))
	want := "), which may be for want of work"
	if by := BlockedBySize(&c.Split); len(by) > 0 && by[0].Ns > c.SyscallNs {
		s += ", most " + words.Phrase(vocabulary.Blocked, by[0].Reason.String())
		if by[0].Reason == breakdown.ReasonSleep {
			want = "), which may be meant"
		}
	} else if c.SyscallNs > 0 {
		s, want = s+", most in system calls", ")"
	}
	return s + want + "; the section “Was it the scheduler?” has all."
}

// most is the class of the program with the most of a time, nil if none has any.
func most(r *analyze.Result, of func(*breakdown.Class) int64) (out *breakdown.Class) {
	for i := range r.Breakdown.Classes {
		if c := &r.Breakdown.Classes[i]; !c.Runtime && of(c) > 0 && (out == nil || of(c) > of(out)) {
			out = c
		}
	}
	return out
}

// firstAdvice is the first that f gives; where there is none, what helps against the
// cause that owns most of the waiting, and against the next if neither owns half.
func firstAdvice(r *analyze.Result, names *words.Names, f *findings.Finding) string {
	if by := sameCause(r, f); by != nil {
		f = by
	}
	if f != nil && len(f.Advice) > 0 && f.Advice[0] != "" {
		return ended(lowered(words.Cut(names.Prose(f.Advice[0]), 600)))
	}
	u := r.Waits.User
	cs := words.BySize(u.Causes)
	if len(cs) == 0 {
		return ""
	}
	do := words.Advice(cs[0].Cause)
	if 2*cs[0].Ns < u.TotalNs && len(cs) > 1 && 4*cs[1].Ns >= u.TotalNs {
		do += "; and " + words.Advice(cs[1].Cause)
	}
	return ended(do)
}

// sameCause is a finding that f is a symptom of, and that blames the same function for it: what
// to do about that is better advice. It is nil if there is none.
func sameCause(r *analyze.Result, f *findings.Finding) *findings.Finding {
	if f == nil || blamed(f) == "" {
		return nil
	}
	for i := range r.Findings {
		by := &r.Findings[i]
		if slices.Contains(f.SymptomOf, by.ID) && len(by.Advice) > 0 && blamed(by) == blamed(f) {
			return by
		}
	}
	return nil
}

// blamed is the function that a finding blames first, "" if it blames none.
func blamed(f *findings.Finding) string {
	for i := range f.Actors {
		if a := &f.Actors[i]; a.Role == findings.Cause {
			return a.Short()
		}
	}
	return ""
}

// doubtful says that threads may be to blame for how long things took, where the headline
// is about that.
func doubtful(r *analyze.Result) string {
	f := subject(r)
	i := slices.IndexFunc(r.Doubts, func(d findings.Doubt) bool { return d.ID == findings.Strained })
	if f == nil || f.Counted || f.Kind == findings.KindMachine || i < 0 {
		return ""
	}
	much := ""
	if ns, all := r.Doubts[i].WaitedNs, r.Waits.User.TotalNs; ns > 0 {
		much = fmt.Sprintf(": at least %s of the waiting for a P fell into such times", quantity.Part(ns, all))
	}
	return "In doubt: threads of this program seem to have lacked CPUs, and then runs and waits take longer than by themselves" + much + ". Record again on a quiet machine before you change code."
}

// lackOfCPUs says whether threads had a CPU: what is told, and what was found.
func lackOfCPUs(r *analyze.Result) string {
	if k := r.Kernel; k != nil && 10*k.UnknownNs <= k.RunningNs {
		return fmt.Sprintf(" By the kernel's records threads had a CPU for %s of the running time.", quantity.Part(k.OnCPUNs, k.RunningNs))
	}
	cpus, lacked := r.Trace.CPUs, ""
	for f := range r.AllFindings() {
		if f.Kind != findings.KindMachine || !f.Severity.AtLeast(findings.Warning) {
			continue
		}
		if f.Basis == findings.Certain {
			lacked = " Threads lacked a CPU: runs and waits contain time in which nothing ran."
			break
		}
		lacked = " Threads seem to have lacked a CPU: runs and waits contain time in which nothing ran."
	}
	switch f := subject(r); {
	case lacked == "":
	case doubtful(r) != "":
		lacked = "" // it has been said
	case f != nil && f.Counted:
		lacked += " What the headline counts does not depend on that."
	}
	if cpus == 0 {
		return lacked
	}
	told := " The process had " + quantity.Amount(cpus, "CPU", "CPUs") + " (as told)"
	switch procs := r.Trace.GOMAXPROCS; {
	case procs == 0:
	case cpus < float64(procs):
		told += ", fewer than its " + quantity.Count(int64(procs)) + " Ps"
	case lacked != "":
		told += ": more Ps than CPUs is ruled out, and other processes remain"
	default:
		told += ": more Ps than CPUs is ruled out"
	}
	return told + "." + lacked
}

// sureness says how far all this can be trusted.
func sureness(r *analyze.Result) string {
	t, c := r.Trace, r.Reconstruction
	var s string
	switch u := quantity.Ratio(c.Unexplained, c.Starts); {
	case t.Reduced:
		s = "How sure: waiting times are measured; the old format of the trace (Go 1.21 or before) shows neither threads nor retakes, so queues were not rebuilt and steals are unknown."
	case c.Starts == 0:
		s = "How sure: the trace shows no start of a goroutine."
	case u > mostUnsure:
		s = fmt.Sprintf("How sure: waiting times are measured; but the rules of the scheduler do not explain %s of %s, so take queues, steals and causes as indications.", quantity.Part(c.Unexplained, c.Starts), quantity.Plural(c.Starts, "start", "starts"))
	case u > manyUnsure:
		s = fmt.Sprintf("How sure: waiting times are measured; queues and steals are inferred, and %s of %s stay unexplained.", quantity.Part(c.Unexplained, c.Starts), quantity.Plural(c.Starts, "start", "starts"))
	default:
		clear := c.Explained + c.EitherTick() // of which the queue is known, and only the reason is not
		s = fmt.Sprintf("How sure: waiting times are measured; run queues are inferred, and it is clear from which one %[2]s of %[1]s came.", quantity.Plural(c.Starts, "start", "starts"), quantity.Part(clear, c.Starts))
	}
	s += lackOfCPUs(r)
	configured := 0
	for _, d := range r.Detectors {
		if d.Configured {
			configured++
		}
	}
	if configured > 0 {
		s += fmt.Sprintf(" The configuration sets thresholds of %s.", quantity.Plural(int64(configured), "detector", "detectors"))
	}
	if n := len(r.Suppressed); n > 0 {
		s += fmt.Sprintf(" %s suppressed by the configuration.", quantity.Plural(int64(n), "finding is", "findings are"))
	}
	if t.LostBytes > 0 {
		s += fmt.Sprintf(" %s of the trace could not be read.", words.Sentence(quantity.Size(t.LostBytes)))
	} else if t.Incomplete && t.LostNs > 0 {
		s += fmt.Sprintf(" %s of the trace are missing.", words.Sentence(quantity.Duration(t.LostNs)))
	} else if t.Incomplete && !t.Interrupted {
		s += " The trace stops short: what the tracer had not written yet is missing."
	}
	if t.Interrupted {
		s += fmt.Sprintf(" The analysis was interrupted: it is about the first %s of the trace.", quantity.Duration(t.DurationNs))
	}
	if n, ns := r.Waits.All.OpenCount, r.Waits.All.OpenNs; n > 0 && float64(ns) >= openWaiting*float64(r.Waits.All.TotalNs) {
		s += fmt.Sprintf(" %s not over when the trace ended (%s so far) and not counted.", quantity.Plural(n, "wait was", "waits were"), quantity.Duration(r.Waits.All.OpenNs))
	}
	if f := r.Focus; f != nil {
		window, only := words.Focus(f)
		s += " It is about " + window
		if only != "" {
			s += ", and " + only
		}
		s += " only."
	}
	if t.DurationNs < shortTrace || c.Starts < fewStarts {
		s += fmt.Sprintf(" The trace is short (%s, %s): it shows a moment.", quantity.Duration(t.DurationNs), quantity.Plural(c.Starts, "start", "starts"))
	}
	return s
}

// lowered makes the first letter small, unless it begins a name or acronym.
func lowered(s string) string {
	first, _, _ := strings.Cut(s, " ")
	if len(first) < 2 || first == "Ps" || first[0] < 'A' || first[0] > 'Z' || strings.ContainsAny(first[1:], "ABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789._/()") {
		return s
	}
	return strings.ToLower(s[:1]) + s[1:]
}

// ended makes sure that a sentence ends.
func ended(s string) string {
	if s == "" || strings.ContainsAny(s[len(s)-1:], ".!?…") {
		return s
	}
	return s + "."
}
