package report

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/gmpscope/gmpscope/analyze"
	"github.com/gmpscope/gmpscope/analyze/sidecar"
	"github.com/gmpscope/gmpscope/analyze/waits"
	"github.com/gmpscope/gmpscope/analyze/work"
	"github.com/gmpscope/gmpscope/internal/doc"
	"github.com/gmpscope/gmpscope/internal/jsondoc"
	"github.com/gmpscope/gmpscope/internal/quantity"
	"github.com/gmpscope/gmpscope/report/internal/words"
)

// OpenKinds is the number of kinds of units that can be opened on the page.
const OpenKinds = 12

// Bounds on what is shown of units of work.
const (
	textKinds  = 12
	pageKinds  = 60
	slowKinds  = 3 // whose slow units text explains
	slowCauses = 3
	sideRows   = 10 // of typical beside slow
	waterLanes = 6  // of a waterfall, beside its own
	waterKinds = 6  // of which the slowest units are drawn
)

// workLead returns the sentences at the head of the section about units of work.
func workLead(kinds []*work.UnitKind) string {
	lead := "Requests, jobs and tests, as the trace shows them: those that lose most first. A unit lasts from when its goroutine becomes runnable to its end. " +
		"A typical unit is the mean between p40 and p60, a slow one the mean above p95."
	if slices.ContainsFunc(kinds, func(k *work.UnitKind) bool { return k.Unnamed > 0 }) {
		lead += " Units whose handler no stack shows, mostly short ones, count as their server's, so that the latencies of its handlers may be too long."
	}
	return lead
}

// TraceIDPlace is the placeholder of the ID in a link to the page of a distributed trace.
const TraceIDPlace = "{trace_id}"

// WorkSection returns the section about units of work; nil if there are none. link, if set, is the URL
// of the page of a distributed trace, with TraceIDPlace.
func WorkSection(r *analyze.Result, names *words.Names, link string) *doc.Section {
	kinds := WorkKinds(&r.Work)
	if len(kinds) == 0 {
		return nil
	}
	s := &doc.Section{ID: "work", Title: "Work"}
	table := doc.Table{One: "more kind", Many: "more kinds", Most: textKinds, More: max(0, len(kinds)-pageKinds), Columns: []doc.Column{
		{Title: "kind", Cut: 40, Left: true}, {Title: "found by", Left: true}, {Title: "number"}, {Title: "per s"}, {Title: "p50"}, {Title: "p95"}, {Title: "p99"},
		{Title: "longest", Where: doc.Page}, {Title: "at a time", Where: doc.Page}, {Title: "slow ones, mostly", Left: true, Where: doc.Text}, {Title: "typical, above slow", Left: true, Where: doc.Page},
	}}
	var legend parts
	for i, k := range kinds[:min(len(kinds), pageKinds)] {
		href := ""
		if i < OpenKinds {
			href = fmt.Sprintf("#kind-%d", i+1)
		}
		row := kindRow(names, k, href, &legend)
		row.Selects, row.Group = fmt.Sprintf("k%d", i+1), k.Class
		table.Rows = append(table.Rows, row)
	}
	s.Blocks = append(s.Blocks, table, doc.Legend(legend.sorted()))
	for i, k := range kinds[:min(len(kinds), OpenKinds)] {
		lead, items := SlowInWords(names, k)
		held := heldInWords(names, &r.Work, k)
		if k.Entry && i < slowKinds {
			s.Blocks = append(s.Blocks, doc.Para{Text: lead, Where: doc.Text}, doc.List{Items: items, Where: doc.Text})
			if held != "" {
				s.Blocks = append(s.Blocks, doc.Para{Text: held, Where: doc.Text})
			}
			if k.How == work.Task.String() && len(k.Slowest) > 0 {
				lead, items := taskInWords(&k.Slowest[0])
				s.Blocks = append(s.Blocks, doc.Para{Text: lead, Where: doc.Text}, doc.List{Items: items, Where: doc.Text})
			}
		}
		title := strings.TrimSuffix(strings.TrimSuffix(strings.TrimSuffix(lead, ":"), " The difference"), " spends its time")
		opened := kindBlocks(names, k, i, link)
		if held != "" {
			opened = append([]doc.Block{doc.Para{Text: held}}, opened...)
		}
		s.Blocks = append(s.Blocks, doc.Fold{ID: fmt.Sprintf("kind-%d", i+1), Title: title, Where: doc.Page, Blocks: opened})
	}
	s.Blocks = append(s.Blocks, doc.Para{Text: workLead(kinds), Small: true})
	return s
}

// kindRow is a kind in the table of them.
func kindRow(names *words.Names, k *work.UnitKind, href string, legend *parts) doc.Row {
	how := k.How
	if k.Basis == "ambiguous" {
		how += "?"
	}
	buckets, all := k.Buckets()
	var typical, slow parts
	for i := range buckets {
		b := &buckets[i]
		typical.add(b.What(), b.TypicalNs)
		slow.add(b.What(), b.SlowNs)
		legend.add(b.What(), b.SlowNs+b.TypicalNs)
	}
	mostly := "-"
	if most := slow.sorted(); len(most) > 0 && all.SlowNs > 0 {
		mostly = most[0].Title + " " + quantity.Part(most[0].Ns, all.SlowNs)
	}
	l := &k.Latency
	ns := doc.Duration
	return doc.Row{Cells: []doc.Cell{
		{Name: KindName(names, k), Plain: true, Href: href}, {Text: how}, doc.Count(k.Count), doc.Number(quantity.Number(k.PerS), k.PerS),
		ns(l.P50Ns), ns(l.P95Ns), ns(l.P99Ns), ns(l.MaxNs), doc.Number(quantity.Number(k.Concurrency), k.Concurrency),
		{Text: mostly}, {Bars: [][]doc.Part{typical.sorted(), slow.sorted()}, Whole: max(all.SlowNs, all.TypicalNs), Value: float64(all.MoreNs()), Sorts: true},
	}}
}

// kindBlocks is what a kind shows when it is opened.
func kindBlocks(names *words.Names, k *work.UnitKind, at int, link string) (out []doc.Block) {
	buckets, all := k.Buckets()
	slices.SortStableFunc(buckets, func(x, y work.Bucket) int { return cmp.Compare(max(y.SlowNs, y.TypicalNs), max(x.SlowNs, x.TypicalNs)) })
	whole := max(all.SlowNs, all.TypicalNs)
	side := doc.Table{Caption: "A typical unit beside a slow one", One: "more thing", Many: "more things", Columns: []doc.Column{{Title: "time spent", Left: true}, {Title: "typical"}, {Title: "slow"}, {Title: "more"}}}
	for i := range buckets {
		b := &buckets[i]
		if len(side.Rows) == sideRows || max(b.SlowNs, b.TypicalNs)*200 < whole {
			side.More++
			continue
		}
		cell := func(ns int64) doc.Cell {
			c := doc.Duration(ns)
			c.Bars, c.Whole = [][]doc.Part{{{Key: workKey(b.What()), Title: activities[b.What()].doing, Ns: max(ns, 0)}}}, whole
			return c
		}
		side.Rows = append(side.Rows, doc.Row{Cells: []doc.Cell{{Text: bucketInWords(names, b.Chief)}, cell(b.TypicalNs), cell(b.SlowNs), doc.Duration(b.MoreNs())}})
	}
	if len(side.Rows) > 0 {
		out = append(out, side)
	}
	if k.Count >= fewUnits && len(k.Bins) > 1 {
		t := doc.Table{Columns: []doc.Column{{Title: "latency from", Left: true}, {Title: "units"}, {Title: "mostly", Left: true}}}
		for i := range k.Bins {
			b, mostly := &k.Bins[i], "-"
			if p := LatencyParts(b); len(p) > 0 {
				mostly = p[0].Title
			}
			t.Rows = append(t.Rows, doc.Row{Cells: []doc.Cell{doc.Duration(b.FromNs), doc.Count(b.Count), {Text: mostly}}})
		}
		out = append(out, doc.Chart{ID: fmt.Sprintf("chart_latency%d", at+1), Caption: "Units by latency, coloured by what their time consists of. Drag below to choose a part.", Blocks: []doc.Block{t}})
	}
	if at < waterKinds {
		for i := range k.Slowest {
			if w, ok := Waterfall(names, k, &k.Slowest[i]); ok {
				out = append(out, w)
			}
			if k.How == work.Task.String() {
				_, items := taskInWords(&k.Slowest[i])
				out = append(out, doc.List{Items: items})
				if id := traceID(&k.Slowest[i]); id != "" && link != "" {
					out = append(out, doc.Facts{{Term: "trace ID", Value: doc.Cell{Text: id, Href: strings.ReplaceAll(link, TraceIDPlace, id)}}})
				}
			}
		}
	}
	return append(out, doc.Para{Text: kindNote(names, k), Small: true, Where: doc.Page})
}

// kindNote reports how the units of a kind are known.
func kindNote(names *words.Names, k *work.UnitKind) string {
	s := fmt.Sprintf("How it is known: %s (%s)", k.Basis, k.How)
	if k.Class != k.Name && k.Class != "" {
		s += ", on goroutines of " + words.Visible(names.Function(k.Class))
	}
	if k.Home != nil {
		s += fmt.Sprintf(", which wait for something to do in %s, line %d", words.Visible(names.Function(k.Home.Function)), k.Home.Line)
	}
	s += "."
	for _, n := range []struct {
		n               int64
		one, many, then string
	}{
		{k.Open, "unit is", "units are", " cut by an end of the trace, and not counted."}, {k.Unnamed, "unit of the class shows", "units of the class show", " no handler."},
		{k.WokenForNothing, "time", "times", " they were woken and found nothing to do."},
	} {
		if n.n > 0 {
			s += " " + quantity.Plural(n.n, n.one, n.many) + n.then
		}
	}
	if k.Merged {
		s += " A unit may hold several that followed each other without a wait."
	}
	if k.Alternative != "" {
		s += " Uncertain: " + words.Visible(k.Alternative) + "."
	}
	return s
}

// LatencyParts returns what the units in a bin of latencies spent their time on, longest
// first, as parts of a bar.
func LatencyParts(b *work.Bin) []doc.Part {
	var p parts
	for _, x := range b.Parts {
		p.add(x.What, x.Ns)
	}
	return p.sorted()
}

// Waterfall returns a drawing of a unit over time; false if it has no path.
func Waterfall(names *words.Names, k *work.UnitKind, u *work.Slow) (doc.Waterfall, bool) {
	w := doc.Waterfall{G: u.G, FromNs: u.BeginNs, ToNs: u.EndNs, Href: fmt.Sprintf("#frame=%d-%d-%d", u.BeginNs, u.EndNs, u.G),
		Title: fmt.Sprintf("G%d took %s at %s", u.G, quantity.Duration(u.EndNs-u.BeginNs), quantity.Instant(u.BeginNs)), Lanes: []doc.Lane{{Name: k.Class}}}
	if len(u.Segments) == 0 || u.EndNs <= u.BeginNs {
		return w, false
	}
	others := map[string]int64{}
	for i := range u.Segments {
		if s := &u.Segments[i]; served(s) {
			others[s.Who] += s.Ns
		}
	}
	by := slices.SortedFunc(maps.Keys(others), func(x, y string) int { return cmp.Or(cmp.Compare(others[y], others[x]), cmp.Compare(x, y)) })
	lane := map[string]int{}
	for i, who := range by {
		if lane[who] = min(i+1, waterLanes); i < waterLanes {
			w.Lanes = append(w.Lanes, doc.Lane{Name: who})
		}
	}
	w.More = max(0, len(by)-waterLanes)
	at, least := u.BeginNs, (u.EndNs-u.BeginNs)/maxSpans
	add := func(l *doc.Lane, key, title string, ns int64) {
		n := len(l.Spans)
		if n > 0 && l.Spans[n-1].ToNs == at && (ns < least || l.Spans[n-1].Key == key && l.Spans[n-1].Title == title) { // narrower than it could be seen
			l.Spans[n-1].ToNs += ns
			return
		}
		l.Spans = append(l.Spans, doc.Span{FromNs: at, ToNs: at + ns, Key: key, Title: title})
	}
	for i := range u.Segments {
		s := &u.Segments[i]
		if s.Via == nil {
			add(&w.Lanes[0], workKey(s.What), doingIn(names, s.What, s.Where)+causeOf(&s.Leaf), s.Ns)
		} else {
			add(&w.Lanes[0], workKey(s.Via.What), doingIn(names, s.Via.What, s.Via.Site), s.Ns)
			if served(s) {
				add(&w.Lanes[lane[s.Who]], workKey(s.What), doingIn(names, s.What, s.Where)+causeOf(&s.Leaf), s.Ns)
			}
		}
		at += s.Ns
	}
	return w, true
}

// served reports whether it is known what another goroutine did meanwhile.
func served(s *work.Segment) bool {
	return s.Via != nil && s.Who != "" && (s.What != s.Via.What || s.Where != s.Via.Site)
}

// maxSpans is how many times as long as a span a waterfall is at most: what is shorter is not
// drawn on its own.
const maxSpans = 500

// causeOf reports for what a goroutine was runnable, or for whom it did something.
func causeOf(l *work.Leaf) string {
	switch {
	case l.Cause == "queue":
		return ", for another unit"
	case l.Cause != "":
		return ": " + words.Cause(waits.Cause(l.Cause))
	}
	return ""
}

// parts sums up time by the colour of what it was spent on.
type parts map[string]*doc.Part

func (p *parts) add(what string, ns int64) {
	if *p == nil {
		*p = parts{}
	}
	key := workKey(what)
	if (*p)[key] == nil {
		(*p)[key] = &doc.Part{Key: key, Title: workKeys[key]}
	}
	(*p)[key].Ns += max(ns, 0)
}

// sorted returns the parts that are not empty, the longest first.
func (p parts) sorted() (out []doc.Part) {
	for _, x := range p {
		if x.Ns > 0 {
			out = append(out, *x)
		}
	}
	slices.SortFunc(out, func(x, y doc.Part) int { return cmp.Or(cmp.Compare(y.Ns, x.Ns), cmp.Compare(x.Key, y.Key)) })
	return out
}

// taskNotes is how many regions of a task are shown, and how many log messages.
const taskNotes = 6

// taskInWords returns, in words, the time of a task, its regions and its log messages.
func taskInWords(s *work.Slow) (lead string, items []string) {
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

// traceID returns the ID of the distributed trace that the program gave a task; "" if there is none.
func traceID(s *work.Slow) string {
	for i := range s.Logs {
		if id, ok := strings.CutPrefix(s.Logs[i].Text, sidecar.TraceIDKey+": "); ok && sidecar.IsTraceID(id) {
			return id
		}
	}
	return ""
}

// fewUnits is how many units of a kind are shown, at least, unless the program or package
// testing says that they are units.
const fewUnits = 3

// WorkKinds returns the kinds of units that are shown.
func WorkKinds(u *work.Units) (out []*work.UnitKind) {
	for i := range u.Kinds {
		k := &u.Kinds[i]
		inferred := k.How == work.Cycle.String() || k.How == work.Producer.String() || k.How == work.Lifetime.String()
		if k.Count >= fewUnits || k.Count > 0 && !inferred {
			out = append(out, k)
		}
	}
	slices.SortStableFunc(out, func(x, y *work.UnitKind) int {
		return cmp.Or(quantity.TrueFirst(x.Entry, y.Entry), cmp.Compare(lost(y), lost(x)))
	})
	return out
}

// lost is how much less time the units of a kind would take if slow ones were as fast as typical ones, up to
// a factor that is the same for all. Tests and phases are not asked to be alike.
func lost(k *work.UnitKind) int64 {
	switch k.How {
	case work.Test.String(), work.Benchmark.String(), work.Calibration.String(), work.Phase.String(), work.Run.String():
		return 0
	}
	_, all := k.Buckets()
	return max(0, all.MoreNs()) * k.Count
}

// KindName returns the name of a kind as reports show it.
func KindName(names *words.Names, k *work.UnitKind) string {
	if k.How == work.Task.String() || k.How == work.Region.String() {
		return cmp.Or(k.Name, words.Unknown)
	}
	return names.Function(cmp.Or(k.Name, words.Unknown))
}

// unitWords returns what one unit of a kind is called, and several are.
func unitWords(k *work.UnitKind) (one, many string) {
	if k.Server {
		return "request", "requests"
	}
	return "unit", "units"
}

// much is how many times a typical unit a slow one takes, at least, for the difference to be
// what is explained.
const much = 1.5

// SlowInWords returns, in words, what makes slow units of a kind slower than typical ones,
// or, if they are not much slower, what all units spend their time on.
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
		items = append(items, fmt.Sprintf("%s more (%s instead of %s): %s", quantity.Duration(b.MoreNs()), quantity.Duration(b.SlowNs), quantity.Duration(b.TypicalNs), bucketInWords(names, b.Chief)))
	}
	switch {
	case left*20 >= slow-typical:
		items = append(items, quantity.Duration(left)+" more in all else")
	case -left*20 >= slow-typical:
		items = append(items, quantity.Duration(-left)+" less in all else")
	}
	with := ""
	if k.Unnamed > k.Count && 2*typical < k.Latency.P50Ns {
		with = ", of " + quantity.Count(k.Count+k.Unnamed) + " with those whose handler no stack shows,"
	}
	one, _ := unitWords(k)
	return fmt.Sprintf("%s: a slow %s takes %s, a typical one%s %s. The difference:", name, one, quantity.Duration(slow), with, quantity.Duration(typical)), items
}

// slowSentence is SlowInWords in one sentence.
func slowSentence(names *words.Names, k *work.UnitKind) string {
	lead, items := SlowInWords(names, k)
	one, many := unitWords(k)
	return fmt.Sprintf("%s, of %s in all: %s.", strings.TrimSuffix(lead, ". The difference:"), quantity.Plural(k.Count, one, many), strings.Join(items, "; "))
}

// largest returns the buckets with most of a time, of which there is whole: those with a twentieth or more.
func largest(buckets []work.Bucket, whole int64, time func(*work.Bucket) int64) []work.Bucket {
	slices.SortStableFunc(buckets, func(x, y work.Bucket) int { return cmp.Compare(time(&y), time(&x)) })
	n := 0
	for n < min(len(buckets), slowCauses) && time(&buckets[n])*20 >= whole {
		n++
	}
	return buckets[:n]
}

// An activity is what goroutines do.
type activity struct {
	doing  string // in words
	key    string // of its colour
	remedy string // what to do about slow units that spend their time on it
}

var activities = map[string]activity{
	"running":   {"running", "user", "a CPU profile says in which functions (record --cpu puts its samples into the trace)."},
	"runnable":  {"runnable, without a P", "runnable", "they wait for a P: give the program more CPUs, or bound what else runs meanwhile."},
	"syscall":   {"in system calls", "syscall", "make fewer of these calls, or larger ones; if they write to a disk, sync once for many."},
	"child":     {"waiting for a child process", "child", "start fewer processes, keep one running, or do its work in this one."},
	"gc-assist": {"working for the garbage collector", "gc", "they allocate faster than the collector marks: allocate less, or set GOGC or GOMEMLIMIT higher."},
	"gc-sweep":  {"sweeping for the garbage collector", "gc", "they allocate faster than the collector sweeps: allocate less, or set GOGC or GOMEMLIMIT higher."},
	"stw":       {"stopping the world", "stopped", "see what stops the world."},
	"off-cpu":   {"running, but on no CPU", "offcpu", "other programs, or a quota, have the CPUs."},
	"lock":      {"waiting for a lock", "lock", "do not hold the lock across something slow: fetch or wait first, then lock and store."},
	"cond":      {"waiting at a sync.Cond", "sync", "make whoever signals faster."},
	"waitgroup": {"waiting for a WaitGroup", "sync", "the slowest of those that they wait for decides: make that one faster, or split it."},
	"channel":   {"waiting at a channel", "channel", "make whoever answers faster, or have more of them answer."},
	"coroutine": {"waiting for a coroutine", "channel", "make the iterator faster."},
	"select":    {"waiting in a select", "channel", "make whoever answers faster, or have more of them answer."},
	"network":   {"waiting for the network", "network", "ask for less, ask for several things at once, or keep answers; if the other side is slow, look there."},
	"pipe":      {"waiting for a pipe", "child", "if a child process is at its other end, ask it for less, or for several things at once."},
	"sleep":     {"asleep", "sleep", "wait for what they need, not for a time; or sleep for less."},
	"unknown":   {"not known", "notknown", ""},
	"rest":      {"many other things", "notknown", ""},
}

// workKey returns the key by which the page colours what goroutines did in the time of a unit.
func workKey(what string) string { return cmp.Or(activities[what].key, "notknown") }

// workKeys has what the colours are called.
var workKeys = map[string]string{
	"user": "running", "runnable": "runnable", "syscall": "system call", "offcpu": "off the CPUs", "gc": "garbage collector", "stopped": "stopping the world", "lock": "lock",
	"sync": "Cond or WaitGroup", "channel": "channel", "network": "network", "sleep": "asleep", "child": "child process or pipe", "notknown": "other or not known",
}

// doingIn reports what goroutines do, and in which function, if that is known.
func doingIn(names *words.Names, what, function string) string {
	if function == "" {
		return activities[what].doing
	}
	return activities[what].doing + " in " + words.Visible(names.Function(function))
}

// calledBy returns that a function led to one that was named before; "" if none did.
func calledBy(names *words.Names, function string) string {
	if function == "" {
		return ""
	}
	return ", called by " + words.Visible(names.Function(function))
}

// chiefPart returns, in words, the main part of the time of units in many traces.
func chiefPart(names *words.Names, k *jsondoc.FleetKind) string {
	if len(k.Parts) == 0 {
		return ""
	}
	p := &k.Parts[0]
	return quantity.Part(p.Ns, k.TotalNs) + " " + doingIn(names, p.What, p.Where)
}

// heldInWords reports who holds what slow units of a kind spend a fifth of their time on; "" if nobody.
func heldInWords(names *words.Names, u *work.Units, k *work.UnitKind) string {
	buckets, all := k.Buckets()
	for i := range buckets {
		b := &buckets[i]
		at := slices.IndexFunc(u.Resources, func(r work.Resource) bool {
			return b.Chief.Via != nil && r.What == b.Chief.Via.What && r.Site == b.Chief.Via.Site
		})
		if at < 0 || b.SlowNs == 0 || 5*b.SlowNs < all.SlowNs {
			continue
		}
		r, holders := &u.Resources[at], []string{}
		held := quantity.Sum(r.Holders, func(h *work.Holder) int64 { return h.Ns })
		for _, h := range r.Holders[:min(len(r.Holders), 3)] {
			if h.Ns > 0 {
				holders = append(holders, fmt.Sprintf("%s %s (%s each)", words.Visible(names.Function(h.Who)), quantity.Part(h.Ns, held), quantity.Duration(h.Ns/h.Count)))
			}
		}
		if len(holders) > 0 {
			return fmt.Sprintf("While others stand in line in %s, it is held by %s.", words.Visible(names.Function(r.Site)), words.List(holders))
		}
	}
	return ""
}

// whileInWords reports what another goroutine does while a unit waits for it.
func whileInWords(names *words.Names, p *work.TimePart) string {
	if p.Who == p.Where && p.Who != "" {
		return "while " + words.Visible(names.Function(p.Who)) + " is " + activities[p.What].doing
	}
	return "while " + words.Visible(names.Function(cmp.Or(p.Who, "another goroutine"))) + " is " + doingIn(names, p.What, p.Where) + calledBy(names, p.Caller)
}

// inBrief is bucketInWords, or, where that is too long for a headline, what the unit waits for.
func inBrief(names *words.Names, p *work.TimePart) string {
	s := bucketInWords(names, p)
	if _, rest, ok := strings.Cut(s, ", mostly while "); ok && utf8.RuneCountInString(s) > longDoing {
		return "waiting while " + rest
	}
	return s
}

// longDoing is how many characters a headline has for what slow units do.
const longDoing = 90

// bucketInWords reports what the time of a bucket is, of which p is the largest part.
func bucketInWords(names *words.Names, p *work.TimePart) string {
	called := calledBy(names, p.From)
	if p.Via == nil {
		return doingIn(names, p.What, p.Where) + called
	}
	s := doingIn(names, p.Via.What, p.Via.Site) + called
	switch {
	case p.What == p.Via.What && p.Where == p.Via.Site:
		return s
	case p.What == "unknown" && p.Who != "":
		return s + ", mostly for " + words.Visible(names.Function(p.Who))
	}
	s += ", mostly " + whileInWords(names, p)
	if p.Cause == "queue" {
		s += " for another unit"
	}
	return s
}
