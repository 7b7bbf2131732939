package report

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/gmpscope/gmpscope/analyze"
	"github.com/gmpscope/gmpscope/analyze/work"
	"github.com/gmpscope/gmpscope/compare"
	"github.com/gmpscope/gmpscope/internal/jsondoc"
	"github.com/gmpscope/gmpscope/internal/quantity"
	"github.com/gmpscope/gmpscope/report/internal/words"
)

// Bounds on the text about units of work.
const (
	textKinds  = 12
	slowKinds  = 3 // whose slow units are explained
	slowCauses = 3
)

// WorkLead reports what the section about units of work shows.
func WorkLead(kinds []*work.UnitKind) string {
	lead := "Requests, jobs and tests, as the trace shows them. A unit lasts from when its goroutine becomes runnable to its end. " +
		"A typical unit is the mean between p40 and p60, a slow one the mean above p95."
	if slices.ContainsFunc(kinds, func(k *work.UnitKind) bool { return k.Unnamed > 0 }) {
		lead += " Units whose handler no stack shows, mostly short ones, count as their server's, so that the latencies of its handlers may be too long."
	}
	return lead
}

// work shows the units of work by kind, if there are any.
func (t *text) work(r *analyze.Result) {
	kinds := WorkKinds(&r.Work)
	if len(kinds) == 0 {
		return
	}
	t.head("Work")
	t.para(2, WorkLead(kinds))
	tb := newTable("kind", "found by", "number", "per s", "p50", "p95", "p99", "longest", "at a time").alignLeft(1)
	for _, k := range kinds[:min(len(kinds), textKinds)] {
		tb.add(append([]string{t.names.Cut(words.Visible(KindName(t.names, k)), 44)}, KindCells(k)...)...)
	}
	t.line("")
	t.table(2, tb)
	if n := len(kinds) - textKinds; n > 0 {
		t.line(fmt.Sprintf("  … and %s.", quantity.Plural(int64(n), "more kind", "more kinds")))
	}
	for _, k := range SlowKinds(kinds) {
		lead, items := SlowInWords(t.names, k)
		t.line("")
		t.para(2, lead)
		for _, item := range items {
			t.hang("    - ", 6, item)
		}
		if k.How == work.Task.String() && len(k.Slowest) > 0 {
			lead, items = TaskInWords(&k.Slowest[0])
			t.para(2, lead)
			for _, item := range items {
				t.hang("    - ", 6, item)
			}
		}
	}
}

// taskNotes is how many regions of a task are shown, and how many log messages.
const taskNotes = 6

// TaskInWords reports when a task was under way, and lists its regions and what was logged for it.
func TaskInWords(s *work.Slow) (lead string, items []string) {
	from, to := quantity.Window(s.BeginNs, s.EndNs)
	lead = fmt.Sprintf("The slowest, task %d, took %s, from %s to %s, and ended on goroutine %d.", s.Task, quantity.Duration(s.EndNs-s.BeginNs), from, to, s.G)
	for _, r := range s.Regions[:min(len(s.Regions), taskNotes)] {
		items = append(items, fmt.Sprintf("%s on, %s: %s on goroutine %d", quantity.Duration(r.BeginNs-s.BeginNs), quantity.Duration(r.EndNs-r.BeginNs),
			words.Cut(words.Visible(cmp.Or(r.Name, words.Unknown)), 120), r.G))
	}
	if more := int64(len(s.Regions)-taskNotes) + s.MoreRegions; more > 0 {
		items = append(items, "… and "+quantity.Plural(more, "more region", "more regions"))
	}
	for _, l := range s.Logs[:min(len(s.Logs), taskNotes)] {
		items = append(items, fmt.Sprintf("%s on, logged by goroutine %d: %s", quantity.Duration(l.AtNs-s.BeginNs), l.G, words.Cut(words.Visible(cmp.Or(l.Text, "(not kept)")), 200)))
	}
	if more := int64(len(s.Logs)-taskNotes) + s.MoreLogs; more > 0 {
		items = append(items, "… and "+quantity.Plural(more, "more log message", "more log messages"))
	}
	return lead, items
}

// fewUnits is how many units of a kind are shown, at least, unless the program or package
// testing says that they are units.
const fewUnits = 3

// WorkKinds are the kinds that are shown.
func WorkKinds(u *work.Units) (out []*work.UnitKind) {
	for i := range u.Kinds {
		k := &u.Kinds[i]
		inferred := k.How == work.Cycle.String() || k.How == work.Producer.String() || k.How == work.Lifetime.String()
		if k.Count >= fewUnits || k.Count > 0 && !inferred {
			out = append(out, k)
		}
	}
	return out
}

// SlowKinds are the kinds whose slow units are explained: the first that begin from outside.
func SlowKinds(kinds []*work.UnitKind) (out []*work.UnitKind) {
	for _, k := range kinds {
		if k.Entry && len(out) < slowKinds {
			out = append(out, k)
		}
	}
	return out
}

// KindName is what a kind is called, with its class where that is another function.
func KindName(names *words.Names, k *work.UnitKind) string {
	if k.How == work.Task.String() || k.How == work.Region.String() {
		return cmp.Or(k.Name, words.Unknown)
	}
	return names.Function(cmp.Or(k.Name, words.Unknown))
}

// KindCells are the cells of a kind, behind its name.
func KindCells(k *work.UnitKind) []string {
	how := k.How
	if k.Basis == "ambiguous" {
		how += "?"
	}
	l := &k.Latency
	return []string{how, quantity.Count(k.Count), quantity.Number(k.PerS), quantity.Duration(l.P50Ns), quantity.Duration(l.P95Ns), quantity.Duration(l.P99Ns), quantity.Duration(l.MaxNs), quantity.Number(k.Concurrency)}
}

// much is how many times a typical unit a slow one takes, at least, for the difference to be
// what is explained.
const much = 1.5

// SlowInWords reports what slow units of a kind spend their time on that typical ones do not,
// or, if slow ones are not much slower, what all do.
func SlowInWords(names *words.Names, k *work.UnitKind) (lead string, items []string) {
	buckets, all := k.Buckets()
	typical, slow := all.TypicalNs, all.SlowNs
	name := words.Visible(KindName(names, k))
	if float64(slow) < much*float64(typical) {
		for _, b := range largest(buckets, k.TotalNs, func(b *work.Bucket) int64 { return b.Ns }) {
			items = append(items, quantity.Part(b.Ns, k.TotalNs)+": "+bucketInWords(names, b.Chief))
		}
		return name + " spends its time:", items
	}
	left := slow - typical
	for _, b := range largest(buckets, slow-typical, (*work.Bucket).MoreNs) {
		left -= b.MoreNs()
		items = append(items, fmt.Sprintf("%s more (%s, typically %s): %s", quantity.Duration(b.MoreNs()), quantity.Duration(b.SlowNs), quantity.Duration(b.TypicalNs), bucketInWords(names, b.Chief)))
	}
	switch {
	case left*20 >= slow-typical:
		items = append(items, quantity.Duration(left)+" more in all else")
	case -left*20 >= slow-typical:
		items = append(items, quantity.Duration(-left)+" less in all else")
	}
	return fmt.Sprintf("%s: a slow unit takes %s, a typical one %s. The difference:", name, quantity.Duration(slow), quantity.Duration(typical)), items
}

// slowSentence is SlowInWords in one sentence.
func slowSentence(names *words.Names, k *work.UnitKind) string {
	lead, items := SlowInWords(names, k)
	return fmt.Sprintf("%s, of %s in all: %s.", strings.TrimSuffix(lead, ". The difference:"), quantity.Plural(k.Count, "unit", "units"), strings.Join(items, "; "))
}

// remedies has what to do about slow units, by what they spend their time on.
var remedies = map[string]string{
	"running":   "a CPU profile says in which functions (record --cpu puts its samples into the trace).",
	"runnable":  "they wait for a P: give the program more CPUs, or bound what else runs meanwhile.",
	"syscall":   "make fewer of these calls, or larger ones; if they write to a disk, sync once for many.",
	"child":     "start fewer processes, keep one running, or do its work in this one.",
	"gc-assist": "they allocate faster than the collector marks: allocate less, or set GOGC or GOMEMLIMIT higher.",
	"gc-sweep":  "they allocate faster than the collector sweeps: allocate less, or set GOGC or GOMEMLIMIT higher.",
	"stw":       "see what stops the world.",
	"off-cpu":   "other programs, or a quota, have the CPUs.",
	"lock":      "do not hold the lock across something slow: fetch or wait first, then lock and store.",
	"waitgroup": "the slowest of those that they wait for decides: make that one faster, or split it.",
	"channel":   "make who answers faster, or let more of them answer.",
	"select":    "make who answers faster, or let more of them answer.",
	"cond":      "make who signals faster.",
	"network":   "ask for less, ask for several things at once, or keep answers; if the other side is slow, look there.",
	"sleep":     "wait for what they need, not for a time; or sleep for less.",
	"coroutine": "make the iterator faster.",
}

// largest returns the buckets with most of a time, of which there is whole: those with a
// twentieth or more.
func largest(buckets []work.Bucket, whole int64, time func(*work.Bucket) int64) []work.Bucket {
	slices.SortStableFunc(buckets, func(x, y work.Bucket) int { return cmp.Compare(time(&y), time(&x)) })
	n := 0
	for n < min(len(buckets), slowCauses) && time(&buckets[n])*20 >= whole {
		n++
	}
	return buckets[:n]
}

// doing has the words for what goroutines do.
var doing = map[string]string{
	"running": "running", "runnable": "runnable, without a P", "syscall": "in system calls", "child": "waiting for a child process",
	"gc-assist": "working for the garbage collector", "gc-sweep": "sweeping for the garbage collector", "stw": "stopping the world", "off-cpu": "running, but on no CPU", "lock": "waiting for a lock", "cond": "waiting at a sync.Cond", "waitgroup": "waiting for a WaitGroup",
	"channel": "waiting at a channel", "coroutine": "waiting for a coroutine", "select": "waiting in a select", "network": "waiting for the network", "sleep": "asleep",
	"unknown": "not known", "rest": "many other things",
}

// doingIn reports what goroutines do, and in which function, if that is known.
func doingIn(names *words.Names, what, function string) string {
	if function == "" {
		return doing[what]
	}
	return doing[what] + " in " + words.Visible(names.Function(function))
}

// ShiftInWords reports which part of the time of a unit changed most; p may be nil.
func ShiftInWords(names *words.Names, p *compare.PartShift) string {
	if p == nil {
		return ""
	}
	return words.Difference(p.BeforeNs, p.AfterNs) + " " + doingIn(names, p.What, p.Where)
}

// ChiefPart reports on what units in many traces spend most of their time.
func ChiefPart(names *words.Names, k *jsondoc.FleetKind) string {
	if len(k.Parts) == 0 {
		return ""
	}
	p := &k.Parts[0]
	return quantity.Part(p.Ns, k.TotalNs) + " " + doingIn(names, p.What, p.Where)
}

// bucketInWords reports what the time of a bucket is, of which p is the largest part.
func bucketInWords(names *words.Names, p *work.TimePart) string {
	if p.Via == nil {
		return doingIn(names, p.What, p.Where)
	}
	s := doingIn(names, p.Via.What, p.Via.Site)
	if p.What == p.Via.What && p.Where == p.Via.Site {
		return s
	}
	s += ", mostly while " + words.Visible(names.Function(cmp.Or(p.Who, "another goroutine"))) + " is " + doingIn(names, p.What, p.Where)
	if p.Cause == "queue" {
		s += " for another unit"
	}
	return s
}
