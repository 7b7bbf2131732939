package report

import (
	"fmt"
	"os"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/gmpscope/gmpscope/analyze"
	"github.com/gmpscope/gmpscope/analyze/breakdown"
	"github.com/gmpscope/gmpscope/analyze/diagnosis"
	"github.com/gmpscope/gmpscope/analyze/findings"
	"github.com/gmpscope/gmpscope/analyze/waits"
	"github.com/gmpscope/gmpscope/analyze/work"
	"github.com/gmpscope/gmpscope/internal/funcname"
	"github.com/gmpscope/gmpscope/internal/quantity"
	"github.com/gmpscope/gmpscope/internal/vocabulary"
	"github.com/gmpscope/gmpscope/report/internal/words"
)

// Bounds on what a verdict says; what it decides is in package diagnosis.
const (
	fewStarts    = 100        // fewer starts say little
	shortTrace   = 50_000_000 // so does a shorter trace, ns
	longHeadline = 160        // characters; a headline has some 90
	headlineLen  = 90         // beyond which a shorter headline is taken
	openWaiting  = 0.01       // share of all waiting from which on waits that were not over are shown
	smallInLine  = 0.2        // share of waiting behind others below which they are not named
	largeSelf    = 0.1        // self-inflicted per other waiting from which on it is shown
	maxSufferers = 2
)

// A wording puts a diagnosis into words.
type wording struct {
	*diagnosis.Diagnosis
	r     *analyze.Result
	names *words.Names
}

func (w *wording) verdict() Verdict {
	if w.r == nil || w.r.DecisionsOnly {
		return Verdict{Status: w.Status, Label: w.Label, Headline: w.Headline, Finding: w.Finding}
	}
	known := w.known()
	fill := func(s string) string { return os.Expand(s, func(name string) string { return known[name] }) }
	v := Verdict{Status: w.Status, Label: w.Label, Headline: fill(w.Headline), Finding: w.Finding, Blocking: w.AboutBlocking()}
	program, did := w.program()
	switch {
	case !w.Fine() || did == "":
	case w.Noted != nil && w.r.Program.Tested() && !strings.Contains(did, ": "): // which says little
		v.Headline = w.names.Text(w.Noted.InBrief())
	default:
		v.Headline, did = did, ""
	}
	about := v.Headline
	if w.Shorter != "" && utf8.RuneCountInString(v.Headline) > headlineLen {
		v.Headline = fill(w.Shorter)
	}
	v.Headline = shorten(v.Headline)
	v.Detail, v.Try = w.detail(), strings.Join(strings.Fields(fill(w.Try)+" "+w.ofModule()+" "+w.doubtful()), " ")
	v.Lines = slices.DeleteFunc(slices.Concat([]string{v.Detail, v.Try, strings.TrimSpace(program[0] + " " + words.Ended(did))}, program[1:], []string{w.slowUnits(), w.collected(), w.costSentence(), w.sufferers(), w.causers(), w.preempted(about), words.Ended(w.parked(manyParked)), w.leftOut(), w.sureness()}), func(s string) bool { return s == "" })
	return v
}

// shorten has a headline end where a part of it ends, if it is too long.
func shorten(s string) string {
	for utf8.RuneCountInString(s) > longHeadline {
		i := max(strings.LastIndex(s, ": "), strings.LastIndex(s, ", "), strings.LastIndex(s, "; "))
		if 2*i < len(s) {
			return words.Cut(s, longHeadline)
		}
		s = s[:i]
	}
	return s
}

// known are the words that the texts of a case and of a symptom leave open, as far as there is
// something to be said.
func (w *wording) known() map[string]string {
	u := &w.r.Waits.User
	m := map[string]string{
		"waited":    quantity.Duration(u.TotalNs),
		"longest":   quantity.Duration(u.MaxNs),
		"ran":       quantity.Duration(w.RanNs),
		"detectors": quantity.Plural(int64(len(w.r.Detectors)), "detector", "detectors"),
		"advice":    w.advice(),
		"next":      w.whereToLook(),
	}
	if f := w.Subject; f != nil {
		m["finding"] = w.names.Text(f.InBrief())
	}
	if c := w.Waiter; c != nil {
		m["waiter"], m["runnable"] = w.class(c.Name), quantity.Part(c.RunnableNs, c.LifeNs())
	}
	if c, computes := w.SlowBy(); c != nil && computes {
		m["busiest"], m["busy"] = w.class(c.Name), quantity.Duration(c.RunningNs)
	} else {
		m["busiest"], m["busy"] = "goroutines", m["ran"]
	}
	if s := w.Slow; s != nil {
		_, m["slowOnes"] = unitWords(s.Kind)
		m["kind"], m["more"], m["takes"] = words.Visible(KindName(w.names, s.Kind)), quantity.Duration(s.Bucket.MoreNs()), quantity.Duration(s.All.SlowNs)
		m["doing"], m["remedy"] = inBrief(w.names, s.Bucket.Chief), activities[s.Bucket.What()].remedy
		if p := s.Bucket.Chief; p.What == "sleep" && s.Bucket.What() != "sleep" {
			m["remedy"] = "see whether that sleep must be so long, or whether " + words.Visible(w.names.Function(p.Who)) + " can wait there for what is to happen."
		}
		if s.RunsIn != "" {
			m["doing"] += ", for long in " + w.names.Function(string(s.RunsIn))
		}
		if f := s.Machine; f != nil {
			m["doing"] += ", maybe without a CPU"
			m["remedy"] = "see whether threads had a CPU, by the kernel's records (record --kernel) or the limits of the container: " + words.Ended(w.lowered(f.InBrief()))
		}
	}
	if x := w.Spent; x != nil {
		m["spent"], m["spentIn"] = quantity.Part(x.Ns, x.TotalNs), doingIn(w.names, x.In.What, x.In.Where)+calledBy(w.names, x.By)
		m["spentBy"], m["units"] = words.Visible(w.names.Function(x.By)), w.units(x.Kinds)
	}
	if x := w.Line; x != nil {
		m["lineAt"], m["lineShare"], m["lineWaits"] = words.Visible(w.names.Function(x.Site)), quantity.Part(x.LineNs, w.r.RecordedNs()), quantity.Duration(x.WaitNs)
	}
	if c := w.Computing; c != nil {
		function, caller := words.Visible(w.names.Function(c.Function)), "call it"
		if c.From != "" {
			caller = "have " + words.Visible(w.names.Function(c.From)) + " call it"
		}
		m["computed"], m["computes"], m["computedBy"] = quantity.Part(c.Ns, c.TotalNs), w.computingAt(c), "that goroutines ran"
		if len(c.Kinds) > 0 {
			m["computedBy"] = "of " + w.units(c.Kinds)
		}
		m["faster"] = fmt.Sprintf("have %s do less, or %s less often, or for less at a time; a CPU profile shows which lines cost most.", function, caller)
	}
	if x := w.InRow; x != nil {
		one, _ := unitWords(x.Kind)
		m["rowKind"], m["times"] = words.Visible(KindName(w.names, x.Kind)), quantity.Count(x.Times)
		m["rowTakes"], m["rowUnit"], m["rowFor"] = quantity.Duration(x.Ns), "a "+one+" on average", "the network"
		switch {
		case x.Slow:
			m["rowUnit"] = "a slow " + one + " on average"
		case w.r.Program.Kind == analyze.Batch && x.Kind.Count == 1:
			m["rowUnit"] = "in all"
		case x.Ceaseless():
			m["rowKind"], m["rowUnit"] = w.class(x.Kind.Class), "in all"
		}
		if place := words.Visible(w.names.Function(x.Place())); place != m["rowKind"] {
			m["inPlace"] = " in " + place
		}
		if x.Bucket.Chief.Via.What == "pipe" {
			m["rowFor"] = "a pipe"
		}
	}
	v := w.Victim
	if v == nil {
		return m
	}
	m["victim"], m["victimWaited"], m["victimLongest"] = w.class(v.Name), quantity.Duration(v.Waits.TotalNs), quantity.Duration(v.Waits.MaxNs)
	if v.Ahead != nil {
		m["ahead"] = w.class(v.Ahead.Name)
	}
	if h := v.Holder; h != nil {
		caller := findings.Actor{Class: h.Name, Stack: h.Stack}
		m["holder"], m["caller"], m["held"] = w.class(h.Name), w.names.Function(string(caller.Short())), quantity.Duration(waits.CauseNs(v.Waits.Causes, waits.CauseUnavailable))
	}
	return m
}

// units is what units of work of some kinds are called in a sentence.
func (w *wording) units(kinds []*work.UnitKind) string {
	n := int64(len(kinds))
	switch w.r.Program.Kind {
	case analyze.Tests:
		return quantity.Plural(n, "test", "tests")
	case analyze.Benchmarks:
		return quantity.Plural(n, "benchmark", "benchmarks")
	case analyze.Batch:
		return "the run"
	}
	if n > 1 {
		return "requests"
	}
	return "requests of " + words.Visible(KindName(w.names, kinds[0]))
}

// class is what a class is called in a sentence.
func (w *wording) class(name string) string {
	name = findings.Plain(name)
	if what, link, who := funcname.Cut(name); what == funcname.NotShown {
		return notShown[link] + w.names.Class(who)
	}
	return w.names.Class(findings.Short(name))
}

// notShown begins what goroutines are called whose start function no stack shows, by the link of their class.
var notShown = map[string]string{
	funcname.StartedBy: "goroutines started by ", funcname.WokenBy: "goroutines woken by ", funcname.StoppedIn: "goroutines last stopped in ",
}

// detail reports in full what the headline is about; empty if that says all.
func (w *wording) detail() string {
	f := w.Subject
	if f == nil {
		switch {
		case w.AboutSlow():
			return slowSentence(w.names, w.Slow.Kind)
		case w.AboutLine():
			return fmt.Sprintf("Goroutines waited there %s, for %s each on average.", quantity.Plural(w.Line.Waits, "time", "times"), quantity.Duration(w.Line.WaitNs/w.Line.Waits))
		case w.AboutComputing():
			return w.computingIn(w.Computing, "were ") + "; the runtime preempts what runs for 10 ms."
		}
		if w.Noted == nil {
			return ""
		}
		return "Only noted: " + words.Ended(w.names.Text(w.Noted.InBrief()))
	}
	s := w.inWords()
	switch {
	case w.Small && f.Counted:
		s += fmt.Sprintf(" That costs running more than waiting: it explains %s of all waits for a P.", quantity.Part(f.CostNs, f.WholeNs))
	case w.Small:
		s += fmt.Sprintf(" That is %s of all run-queue wait.", quantity.Part(f.CostNs, f.WholeNs))
	}
	if f.Severity == findings.Note && f.CostOf == findings.OfPTime && f.CostNs > 0 && f.CostNs <= w.RanNs {
		s += fmt.Sprintf(" That is %s of the time that goroutines ran.", quantity.Part(f.CostNs, w.RanNs))
	}
	return s
}

// inWords is the leading finding in full: its title, or of a symptom who suffers, and from what.
func (w *wording) inWords() string {
	v := w.Victim
	var by []waits.CauseTime
	if w.AboutVictim {
		by = words.BySize(v.Waits.Causes)
	}
	if len(by) == 0 {
		return words.Ended(words.Cut(w.names.Text(w.Subject.Title), 600))
	}
	s := fmt.Sprintf("%s waited %s in all, up to %s at a time: %s of it %s", w.class(v.Name), quantity.Duration(v.Waits.TotalNs), quantity.Duration(v.Waits.MaxNs),
		quantity.Part(by[0].Ns, v.Waits.TotalNs), words.Lost(by[0].Cause))
	if 2*by[0].Ns < v.Waits.TotalNs && len(by) > 1 {
		s += fmt.Sprintf(" and %s %s", quantity.Part(by[1].Ns, v.Waits.TotalNs), words.Lost(by[1].Cause))
	}
	if v.Ahead != nil {
		return s + fmt.Sprintf(". Meanwhile %s ran, for %s of that time.", w.class(v.Ahead.Name), quantity.Percent(v.AheadShare))
	}
	return s + "."
}

// advice is what to do about the leading finding; where a detector does not say, what helps
// against the cause that owns most of the waiting, and against the next if neither owns half.
func (w *wording) advice() string {
	if len(w.Advice) > 0 {
		return words.Ended(words.Cut(w.lowered(w.Advice), 600))
	}
	u := w.r.Waits.User
	cs := words.BySize(u.Causes)
	if len(cs) == 0 {
		return ""
	}
	do := words.Advice(cs[0].Cause)
	if 2*cs[0].Ns < u.TotalNs && len(cs) > 1 && 4*cs[1].Ns >= u.TotalNs {
		do += "; and " + words.Advice(cs[1].Cause)
	}
	return words.Ended(do)
}

// ofModule reports of which module the code is that the headline blames, where it is not the program's own.
func (w *wording) ofModule() string {
	const of = "%s is code of %s: see whether a newer version does better, or change how it is called."
	switch {
	case w.AboutComputing() && w.Computing.Module != "":
		return fmt.Sprintf(of, w.names.Function(w.Computing.Function), words.Visible(w.Computing.Module))
	case w.Subject == nil:
		return ""
	}
	for _, name := range w.Subject.InBrief().Names() {
		for i := range w.Subject.Actors {
			a := &w.Subject.Actors[i]
			for _, a := range []*findings.Actor{a, a.AtInnermost()} {
				if m := a.Module(); m != "" && a.Role == findings.Cause && a.Short() == name {
					return fmt.Sprintf(of, w.names.Function(string(name)), words.Visible(m))
				}
			}
		}
	}
	return ""
}

// whereToLook reports where to look if a program is slow, though scheduling is not why; "" if that is
// not known.
func (w *wording) whereToLook() string {
	used, of := w.r.Procs.InUse()
	life := &w.r.Breakdown.Program
	c, computes := w.SlowBy()
	if of == 0 || life.LifeNs() == 0 || c == nil && !computes {
		return ""
	}
	const lead = "If the program is still too slow, "
	if computes {
		who := ""
		if c != nil && 2*c.RunningNs >= life.RunningNs {
			who = fmt.Sprintf(", most of it %s (%s)", w.class(c.Name), quantity.Duration(c.RunningNs))
		}
		return lead + fmt.Sprintf("the time goes into computing: goroutines ran for %s%s. A CPU profile says in which functions.", quantity.Duration(life.RunningNs), who)
	}
	s := lead + fmt.Sprintf("see what it is blocked on: %s of the CPU capacity was in use. Longest blocked was %s (%s of its time", quantity.Part(used, of), w.class(c.Name), quantity.Part(c.Blocked()+c.SyscallNs, c.LifeNs()))
	want := "), which may be for want of work"
	if by := BlockedBySize(&c.TimeByState); len(by) > 0 && by[0].Ns > c.SyscallNs {
		s += ", most " + words.Phrase(vocabulary.Blocked, by[0].Reason.String())
		if by[0].Reason == breakdown.ReasonSleep {
			want = "), which may be meant"
		}
	} else if c.SyscallNs > 0 {
		s, want = s+", most in system calls", ")"
	}
	return s + want + "; section “Time breakdown” has all."
}

// doubtful reports that threads may be to blame for how long things took, where the headline is about that.
func (w *wording) doubtful() string {
	if w.Doubt == nil {
		return ""
	}
	much := ""
	if w.Doubt.WaitedNs > 0 && 2*w.Doubt.WaitedNs < w.r.Waits.User.TotalNs {
		much = fmt.Sprintf(": at least %s of the waiting for a P fell into such times", quantity.Part(w.Doubt.WaitedNs, w.r.Waits.User.TotalNs))
	}
	return "The times above may be too long: threads seem to have lacked CPUs at times, which lengthens runs and waits" + much + ". Record again on a quiet machine to measure them."
}

// slowUnits explains slow units of work, if the verdict is about something else.
func (w *wording) slowUnits() string {
	if w.Slow == nil || w.AboutSlow() {
		return ""
	}
	return "Slow units of work: " + slowSentence(w.names, w.Slow.Kind)
}

// collected reports it where the garbage collector took more time of Ps than the program did.
func (w *wording) collected() string {
	if w.GCNs == 0 {
		return ""
	}
	return fmt.Sprintf("The garbage collector ran for longer than the program: %s against %s of CPU capacity.", quantity.Duration(w.GCNs), quantity.Duration(w.RanNs))
}

// costSentence reports how much goroutine-time was lost, and to what.
func (w *wording) costSentence() string {
	u := w.r.Waits.User
	if u.Count == 0 {
		return ""
	}
	s := fmt.Sprintf("Waiting for a P: %s in %s", quantity.Duration(u.TotalNs), quantity.Plural(u.Count, "wait", "waits"))
	if w.NotScheduler {
		return s + fmt.Sprintf(", up to %s at a time, against %s blocked, as the headline says: it is not the scheduler.", quantity.Duration(u.MaxNs), quantity.Duration(w.Subject.CostNs))
	}
	if w.ShortWaits {
		s += fmt.Sprintf(", %s each on average and %s at most", quantity.Duration(u.TotalNs/u.Count), quantity.Duration(u.MaxNs))
		if used, of := w.r.Procs.InUse(); w.Idle {
			s += fmt.Sprintf(", while %s of the CPU capacity was in use", quantity.Part(used, of))
		}
	} else if w.RanNs > 0 {
		s += ", " + againstRunning(quantity.Ratio(u.TotalNs, w.RanNs))
	}
	var parts []string
	for i, c := range words.BySize(u.Causes) {
		if i == 3 || c.Ns*20 < u.TotalNs && i > 0 {
			break
		}
		parts = append(parts, quantity.Part(c.Ns, u.TotalNs)+" "+words.Lost(c.Cause))
	}
	if len(parts) > 0 {
		s += ": " + words.List(parts)
	}
	s += "."
	if self := w.r.Waits.Self.TotalNs; float64(self) > largeSelf*float64(u.TotalNs) && self > 0 {
		s += fmt.Sprintf(" Another %s came after calls of runtime.Gosched.", quantity.Duration(self))
	}
	return s
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

// sufferers reports who waited.
func (w *wording) sufferers() string {
	if w.NotScheduler {
		return strings.TrimSpace(w.lived())
	}
	if len(w.Waiting) == 0 {
		return ""
	}
	var who []string
	var shown, total int64
	for _, c := range w.Waiting {
		total += c.Waits.TotalNs
	}
	for i, c := range w.Waiting {
		if i == maxSufferers || i > 0 && shown*10 > total*8 {
			break
		}
		shown += c.Waits.TotalNs
		var about []string
		if c.Goroutines > 0 {
			about = append(about, quantity.Plural(c.Goroutines, "goroutine", "goroutines"))
		}
		if c.Creator != "" && !strings.HasPrefix(c.Creator, "testing.") {
			about = append(about, "created by "+w.class(c.Creator))
		}
		about = append(about, quantity.Part(c.Waits.TotalNs, total)+" of that waiting", "up to "+quantity.Duration(c.Waits.MaxNs)+" at a time")
		who = append(who, fmt.Sprintf("%s (%s)", w.class(c.Name), strings.Join(about, ", ")))
	}
	return "Who waited for a P: " + words.List(who) + "." + w.lived()
}

// causers reports who ran while the class that waited most did not.
func (w *wording) causers() string {
	if w.NotScheduler || len(w.Waiting) == 0 {
		return ""
	}
	c := w.Waiting[0]
	if len(c.Antagonists) == 0 || float64(diagnosis.QueuedNs(c.Waits.Causes)) < smallInLine*float64(c.Waits.TotalNs) {
		return ""
	}
	var sum int64
	for _, a := range c.Antagonists {
		sum += a.Ns
	}
	a := c.Antagonists[0]
	who := w.class(a.Name)
	if a.Class == c.ID {
		who = "others of the same class"
	}
	s := fmt.Sprintf("Who ran meanwhile: while %s was queued, %s ran for %s of the time", w.class(c.Name), who, quantity.Part(a.Ns, sum))
	if a.Class == c.ID && len(c.Antagonists) > 1 && c.Antagonists[1].Ns*5 > sum {
		b := c.Antagonists[1]
		s += fmt.Sprintf(", and %s for %s", w.class(b.Name), quantity.Part(b.Ns, sum))
	}
	return s + "."
}

// lackOfCPUs reports whether threads had a CPU: what is shown, and what was found.
func (w *wording) lackOfCPUs() string {
	if k := w.r.Kernel; k != nil && 10*k.UnknownNs <= k.RunningNs {
		return fmt.Sprintf(" By the kernel's records threads had a CPU for %s of the running time.", quantity.Part(k.OnCPUNs, k.RunningNs))
	}
	cpus, lacked := w.r.Trace.CPUs, ""
	for f := range w.r.AllFindings() {
		if f.Kind != findings.KindMachine || !f.Severity.AtLeast(findings.Warning) {
			continue
		}
		if f.Basis == findings.Certain {
			lacked = " Threads lacked a CPU: runs and waits contain time in which nothing ran."
			break
		}
		lacked = " Threads seem to have lacked a CPU: runs and waits contain time in which nothing ran."
	}
	switch {
	case lacked == "":
	case w.Doubt != nil:
		lacked = "" // it has been said
	case w.Subject != nil && w.Subject.Counted:
		lacked += " What the headline counts does not depend on that."
	}
	if cpus == 0 {
		return lacked
	}
	had := " The process had " + quantity.Amount(cpus, "CPU", "CPUs") + " (as told)"
	switch procs := w.r.Trace.GOMAXPROCS; {
	case procs == 0:
	case cpus < float64(procs):
		had += ", fewer than its " + quantity.Count(int64(procs)) + " Ps"
	case lacked != "":
		had += ": more Ps than CPUs is ruled out, and other processes remain"
	default:
		had += ": more Ps than CPUs is ruled out"
	}
	return had + "." + lacked
}

// sureness reports how far all this can be trusted.
func (w *wording) sureness() string {
	r := w.r
	t, c := r.Trace, r.Reconstruction
	var s string
	switch u := quantity.Ratio(c.Unexplained, c.Starts); {
	case t.Reduced:
		s = "How sure: waiting times are measured; the old format of the trace (Go 1.21 or before) shows neither threads nor retakes, so queues were not rebuilt and steals are unknown."
	case c.Starts == 0:
		s = "How sure: the trace shows no start of a goroutine."
	case u > diagnosis.MostUnsure:
		s = fmt.Sprintf("How sure: waiting times are measured; but the rules of the scheduler do not explain %s of %s, so take queues, steals and causes as indications.", quantity.Part(c.Unexplained, c.Starts), quantity.Plural(c.Starts, "start", "starts"))
	case u > diagnosis.ManyUnsure:
		s = fmt.Sprintf("How sure: waiting times are measured; queues and steals are inferred, and %s of %s stay unexplained.", quantity.Part(c.Unexplained, c.Starts), quantity.Plural(c.Starts, "start", "starts"))
	default:
		clear := c.Explained + c.EitherTick() // of which the queue is known, and only the reason is not
		s = fmt.Sprintf("How sure: waiting times are measured; run queues are inferred; from which one a goroutine came is clear for %[2]s of %[1]s.", quantity.Plural(c.Starts, "start", "starts"), quantity.Part(clear, c.Starts))
	}
	configured := 0
	for _, d := range r.Detectors {
		if d.Configured {
			configured++
		}
	}
	focus := ""
	if r.Focus != nil {
		window, only := words.Focus(r.Focus)
		if focus = window; only != "" {
			focus += ", and " + only
		}
	}
	open := r.Waits.All
	for _, x := range []struct {
		when bool
		text string
	}{
		{true, w.lackOfCPUs()},
		{configured > 0, fmt.Sprintf(" The configuration sets thresholds of %s.", quantity.Plural(int64(configured), "detector", "detectors"))},
		{len(r.Suppressed) > 0, fmt.Sprintf(" %s suppressed by the configuration.", quantity.Plural(int64(len(r.Suppressed)), "finding is", "findings are"))},
		{t.LostBytes > 0, fmt.Sprintf(" %s of the trace could not be read.", words.Sentence(quantity.Size(t.LostBytes)))},
		{t.LostBytes <= 0 && t.Incomplete && t.LostNs > 0, fmt.Sprintf(" %s of the trace are missing.", words.Sentence(quantity.Duration(t.LostNs)))},
		{t.LostBytes <= 0 && t.Incomplete && t.LostNs <= 0 && !t.Interrupted, " The trace stops short: what the tracer had not written yet is missing."},
		{t.Interrupted, fmt.Sprintf(" The analysis was interrupted: it is about the first %s of the trace.", quantity.Duration(t.DurationNs))},
		{open.OpenCount > 0 && float64(open.OpenNs) >= openWaiting*float64(open.TotalNs), fmt.Sprintf(" %s not over when the trace ended (%s so far) and not counted.", quantity.Plural(open.OpenCount, "wait was", "waits were"), quantity.Duration(open.OpenNs))},
		{focus != "", " It is about " + focus + " only."},
		{t.DurationNs < shortTrace || c.Starts < fewStarts, fmt.Sprintf(" The trace is short (%s, %s): it shows a moment.", quantity.Duration(t.DurationNs), quantity.Plural(c.Starts, "start", "starts"))},
	} {
		if x.when {
			s += x.text
		}
	}
	return s
}

// lowered makes the first letter small, unless it begins a name or acronym.
func (w *wording) lowered(t findings.Text) string {
	s := w.names.Text(t)
	first, _, _ := strings.Cut(s, " ")
	if len(t) == 0 || t[0].Kind != findings.Words || len(first) < 2 || first == "Ps" || first[0] < 'A' || first[0] > 'Z' || strings.ContainsAny(first[1:], "ABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789._/()") {
		return s
	}
	return strings.ToLower(s[:1]) + s[1:]
}
