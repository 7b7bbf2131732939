package compare

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/gmpscope/gmpscope/analyze"
	"github.com/gmpscope/gmpscope/analyze/findings"
	"github.com/gmpscope/gmpscope/internal/funcname"
	"github.com/gmpscope/gmpscope/internal/quantity"
)

const (
	// worthAWord is by how much a metric must change, beside being significant: by a twentieth.
	worthAWord = 0.05
	// heldWorthAWord is by how much the share of time that goroutines are held up must change: it
	// follows how many goroutines share the work, too.
	heldWorthAWord = 0.1
	// outweighs is how many times as much as what speaks against it something must change for the
	// verdict to follow it alone.
	outweighs = 3
	// aDurationDecides is the factor by which the duration of the same work must change to decide
	// whatever units do.
	aDurationDecides = 1.1
	// seesTwice is the factor that must have been detectable for "no significant change" to mean
	// something.
	seesTwice = 2
)

// decision is a metric that decides, with what it is about.
type decision struct {
	*Metric
	outcome
	kind   *KindChange // nil for a metric of whole traces
	weight float64     // for the verdict, and of its chances: by the share of the time that it is about
}

// improvement is by how much a metric got better: the logarithm of the factor; 0 if that is not
// significant, or hardly anything.
func (d *decision) improvement() float64 {
	if d.Name == heldMetric.name && math.Abs(d.Delta) < heldWorthAWord {
		return 0
	}
	if !d.Significant || math.Abs(d.delta) < math.Log1p(worthAWord) || Value(d.Before.Value, d.Unit) == Value(d.After.Value, d.Unit) {
		return 0
	}
	if d.worse() {
		return -math.Abs(d.delta)
	}
	return math.Abs(d.delta)
}

// worse reports whether a metric went the wrong way.
func (m *Metric) worse() bool { return (m.Delta > 0) == (m.Better == Lower) && m.Delta != 0 }

// decisions compares what decides: units of work by kind, and how long the same work took; and, if
// there are no units on both sides and that did not change, for which share of their time goroutines were held up.
func (r *Result) decisions(before, after []*analyze.Result, cs []*candidate) []*decision {
	var out []*decision
	add := func(m metric, b, a sample, kind string, k *KindChange, weight float64) {
		if len(b.values) == 0 || len(a.values) == 0 {
			return
		}
		x, o := metricOf(m, b, a, varianceOf(kind, lastPart(m.name), r.Machine.Busy), r.Machine.Turns)
		out = append(out, &decision{&x, o, k, weight})
	}
	for i, c := range cs {
		if !c.decides {
			continue
		}
		k, b, a := &r.Work[i], c.sums[0], c.sums[1]
		share := max(c.share, smallShare)
		path, few := "work.kinds["+c.Name+"].", min(c.Before.Count, c.After.Count)
		add(metric{name: path + "per_s", title: "throughput", unit: "1/s", better: Higher}, b.rate(), a.rate(), rowOf(c.How), k, 0.3*share)
		for _, q := range []struct {
			name, title string
			q           float64
			least       int64
			weight      float64
		}{{"p50_ns", "p50", 0.5, 1, 0.3}, {"p95_ns", "p95", 0.95, unitsOfP95, 0.2}, {"p99_ns", "p99", 0.99, unitsOfP99, 0.2}} {
			if few >= q.least {
				add(metric{name: path + "latency." + q.name, title: q.title, unit: "ns", better: Lower}, b.quantile(q.q), a.quantile(q.q), rowOf(c.How), k, q.weight*share)
			}
		}
	}
	if len(out) == 0 {
		for i, c := range cs {
			if of, b, a, ok := c.rounds(); ok {
				name := "work.kinds[" + c.Name + "].rounds_per_s"
				add(metric{name: name, title: "rounds, each with a wait for the " + nouns[of.what] + " in " + findings.Short(of.where), unit: "1/s", better: Higher}, b, a, rowOf(c.How), &r.Work[i], max(min(c.share, 1), smallShare))
			}
		}
	}
	// Where all were recorded for a given time, and on one side the programs ran for longer in it, how long they took says nothing.
	sameTime := fixedTime(before, after) && far(float64(r.Before.RunningNs), float64(r.After.RunningNs))
	if (r.Basis == PerTrace || finished(before, after)) && !sameTime && min(r.Before.DurationNs, r.After.DurationNs) > 0 {
		add(durationMetric, durationMetric.sample(before), durationMetric.sample(after), "whole", nil, 0.5)
	}
	decide(out, math.Log(r.Machine.Slower))
	if slices.ContainsFunc(out, func(d *decision) bool { return d.kind != nil || d.improvement() != 0 }) || min(heldShare(before[0]), heldShare(after[0])) == 0 {
		return out
	}
	units := len(out)
	add(heldMetric, heldMetric.sample(before), heldMetric.sample(after), "whole", nil, 1)
	decide(out[units:], math.Log(r.Machine.Slower))
	return out
}

// nouns are what goroutines wait for that is outside of the program.
var nouns = map[string]string{"sleep": "end of a sleep", "network": "network"}

// rowOf returns which row of the table of variances is for units that are found in some way.
func rowOf(how string) string {
	switch how {
	case "test", "benchmark":
		return "tests"
	case "phase", "run":
		return "run"
	}
	return "requests"
}

func (r *Result) judge(ds []*decision) {
	type side struct {
		sum float64
		ds  []*decision
	}
	var up, down side
	var conflict *decision // of latency and throughput of a kind
	byKind := map[*KindChange][]*decision{}
	var order []*KindChange
	for _, d := range ds {
		if byKind[d.kind] == nil {
			order = append(order, d.kind)
		}
		byKind[d.kind] = append(byKind[d.kind], d)
	}
	for _, k := range order {
		var good, bad []*decision
		for _, d := range byKind[k] {
			switch x := d.improvement(); {
			case x > 0:
				good = append(good, d)
			case x < 0:
				bad = append(bad, d)
			}
		}
		g, b := strongest(good), strongest(bad)
		if k != nil && k.ambiguous(good, bad) {
			conflict = byKind[k][0] // fewer, and faster on average; or more, and slower
			continue
		}
		if k != nil && g > 0 && b > 0 && g < outweighs*b && b < outweighs*g && (good[0].Better == Higher) != (bad[0].Better == Higher) {
			conflict = good[0] // more, and slower; or less, and faster: the load may be what differs
			continue
		}
		if g >= outweighs*b {
			bad = nil
		} else if b >= outweighs*g {
			good = nil
		}
		for _, x := range []struct {
			to *side
			ds []*decision
		}{{&up, good}, {&down, bad}} {
			if len(x.ds) > 0 {
				x.to.sum += strongest(x.ds) * x.ds[0].weight
				x.to.ds = append(x.to.ds, x.ds...)
			}
		}
	}
	// Units are parts of the same work, and users wait for the whole.
	whole := 0.0
	for _, d := range ds {
		if d.Name == durationMetric.name && math.Abs(d.improvement()) >= math.Log(aDurationDecides) {
			whole = d.improvement()
		}
	}
	machine := slices.ContainsFunc(ds, func(d *decision) bool { return d.machine && !d.Significant })
	switch {
	case whole > 0, whole == 0 && up.sum > 0 && up.sum >= outweighs*down.sum:
		r.Verdict = Better
	case whole < 0, down.sum > 0 && down.sum >= outweighs*up.sum:
		r.Verdict = Worse
	case up.sum > 0:
		r.Verdict = Mixed
	case conflict != nil, machine, len(ds) == 0, *best(ds).Detectable > seesTwice:
		r.Verdict = Inconclusive
	default:
		r.Verdict = NoChange
	}
	for _, list := range [][]*decision{up.ds, down.ds} {
		slices.SortStableFunc(list, func(x, y *decision) int {
			return cmp.Compare(math.Abs(y.improvement())*y.weight, math.Abs(x.improvement())*x.weight)
		})
	}
	r.write(up.ds, down.ds, ds, conflict, machine)
}

// ambiguous reports whether all metrics of a kind that changed went one way, and the mean of its latency the other.
func (k *KindChange) ambiguous(good, bad []*decision) bool {
	before, after := float64(k.Before.MeanNs), float64(k.After.MeanNs)
	return len(good) == 0 && len(bad) > 1 && after < (1-alike)*before || len(bad) == 0 && len(good) > 1 && before < (1-alike)*after
}

func strongest(ds []*decision) (most float64) {
	for _, d := range ds {
		most = max(most, math.Abs(d.improvement()))
	}
	return most
}

func (r *Result) write(up, down, all []*decision, conflict *decision, machine bool) {
	names := r.shortNames()
	r.Lines = []string{}
	say := func(format string, args ...any) { r.Lines = append(r.Lines, fmt.Sprintf(format, args...)) }
	for_, against := up, down
	switch r.Verdict {
	case Better:
		r.Headline = names.sentence(up[0], false)
	case Worse:
		for_, against = down, up
		r.Headline = names.sentence(down[0], false)
	case Mixed:
		r.Headline = "Some is better and some worse: " + names.went(up[0]) + ", but " + names.went(down[0])
		for _, d := range []*decision{up[0], down[0]} {
			if why := names.why(d); why != "" {
				say("%s: %s.", names.subject(d), why)
			}
		}
		return
	case Inconclusive:
		r.inconclusive(names, all, conflict, machine)
		return
	case NoChange:
		r.Headline = "No significant change"
		if d := best(all); d != nil {
			r.Headline += ": " + names.detectable(d)
		}
		return
	}
	if why := names.why(for_[0]); why != "" {
		r.Headline += ": " + why
	}
	written := map[*KindChange]bool{for_[0].kind: true}
	var rest []string
	for _, d := range for_[1:] {
		if d.kind == for_[0].kind {
			rest = append(rest, d.Title+" "+fromTo(d.Metric))
		}
	}
	if rest != nil {
		say("Likewise: %s.", strings.Join(rest, ", "))
	}
	for _, d := range for_[1:] {
		if !written[d.kind] {
			written[d.kind] = true
			say("%s.", names.sentence(d, true))
		}
	}
	if len(against) > 0 {
		say("On the other hand: %s.", names.sentence(against[0], true))
	}
	unchanged := 0
	for i := range r.Work {
		if k := &r.Work[i]; len(k.Metrics) > 0 && !slices.ContainsFunc(k.Metrics, func(m Metric) bool { return m.Significant }) {
			unchanged++
		}
	}
	if unchanged > 0 {
		say("Not changed significantly: %s of work.", quantity.Plural(int64(unchanged), "other kind", "other kinds"))
	}
	if min(r.Before.N, r.After.N) == 1 {
		say("With one trace on a side this rests on how much other programs differ from one recording to the next; four a side would rest on this one.")
	}
}

// inconclusive writes why nothing can be said, and what could have been seen.
func (r *Result) inconclusive(names shortNames, all []*decision, conflict *decision, machine bool) {
	say := func(format string, args ...any) { r.Lines = append(r.Lines, fmt.Sprintf(format, args...)) }
	switch {
	case conflict != nil:
		r.Headline = "Inconclusive: the load differs"
		say("%s: throughput and latency went the same way, as they do with another load.", names.subject(conflict))
	case machine:
		r.Headline = "Inconclusive: the machine differs"
		by := "the machine may account for"
		if factor := max(r.Machine.Slower, 1/r.Machine.Slower); factor < anyFactor {
			by += ": up to " + quantity.Factor(factor)
		}
		say("What changed is no more than %s. Record both in turns: gmpscope record --alternate.", by)
	case len(all) == 0:
		r.Headline = "Inconclusive: the two sides have nothing in common that could be compared"
	default:
		r.Headline = fmt.Sprintf("Inconclusive: %s before and %s after are too few for what was measured",
			quantity.Plural(int64(r.Before.N), "trace", "traces"), quantity.Plural(int64(r.After.N), "trace", "traces"))
	}
	if d := best(all); d != nil {
		say("%s.", names.detectable(d))
	}
	if !r.Machine.Turns {
		say("The sides were not recorded in turns, or it is not known when: gmpscope record --alternate does it.")
	}
}

// best is the decision in which the smallest change would have been seen, of how long the main work takes
// if that is known; nil if there is none.
func best(all []*decision) (b *decision) {
	rank := func(d *decision) int {
		switch {
		case d.kind != nil && d.Unit == "ns":
			return 0
		case d.Name == durationMetric.name:
			return 1
		case d.kind != nil:
			return 2
		}
		return 3
	}
	for _, d := range all {
		if b == nil || cmp.Or(cmp.Compare(rank(d), rank(b)), cmp.Compare(b.weight, d.weight), cmp.Compare(*d.Detectable, *b.Detectable)) < 0 {
			b = d
		}
	}
	return b
}

// shortNames are the names of functions for sentences.
type shortNames struct{ *funcname.Shorts }

func (r *Result) shortNames() shortNames {
	var all []string
	for i := range r.Work {
		k := &r.Work[i]
		all = append(all, k.Name, k.Was)
		for _, p := range k.Path {
			all = append(all, p.Where, p.Who)
		}
	}
	return shortNames{funcname.Shorten(all)}
}

// subject is what a decision is about.
func (n shortNames) subject(d *decision) string {
	if d.kind == nil {
		return "The whole trace"
	}
	return n.Class(d.kind.Name)
}

// went writes how a metric went, with what it is about.
func (n shortNames) went(d *decision) string {
	s := d.Title + " " + fromTo(d.Metric)
	if d.kind == nil {
		return s
	}
	return n.Class(d.kind.Name) + ": " + s
}

// sentence is went, with the reason if that is asked for.
func (n shortNames) sentence(d *decision, why bool) string {
	s := n.went(d)
	if d.kind == nil {
		switch d.Name {
		case durationMetric.name:
			s = "The same work " + map[bool]string{true: "takes longer: ", false: "is done sooner: "}[d.worse()] + fromTo(d.Metric)
		case heldMetric.name:
			s = "Goroutines are held up " + map[bool]string{true: "more: ", false: "less: "}[d.worse()] + fromTo(d.Metric) + " of their time"
		}
	}
	if why {
		if because := n.why(d); because != "" {
			s += ": " + because
		}
	}
	return s
}

// detectable reports which change would have been seen.
func (n shortNames) detectable(d *decision) string {
	by := quantity.Factor(*d.Detectable)
	if *d.Detectable < 2 {
		by = quantity.Percent(*d.Detectable - 1)
	}
	of := d.Title
	if d.kind != nil {
		of += " of " + n.Class(d.kind.Name)
	}
	return "a change of the " + of + " by " + by + " or more would have been seen"
}

func fromTo(m *Metric) string {
	return Value(m.Before.Value, m.Unit) + " → " + Value(m.After.Value, m.Unit)
}

// Value formats the value v of a metric for people. unit is that of [Metric]: "ns", "share",
// "1/s" or empty. Shares have one digit more than elsewhere, to show differences.
func Value(v float64, unit string) string {
	switch unit {
	case "ns":
		return quantity.Duration(int64(math.Round(v)))
	case "share":
		return quantity.FinePercent(v)
	case "1/s":
		return quantity.Number(v) + "/s"
	}
	return quantity.Fine(v)
}
