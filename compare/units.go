package compare

import (
	"cmp"
	"maps"
	"math"
	"slices"
	"strings"

	"github.com/gmpscope/gmpscope/analyze"
	"github.com/gmpscope/gmpscope/analyze/findings"
	units "github.com/gmpscope/gmpscope/analyze/work"
	"github.com/gmpscope/gmpscope/internal/funcname"
	"github.com/gmpscope/gmpscope/internal/quantity"
)

// Bounds on kinds of units.
const (
	maxKinds   = 100  // that a comparison has
	maxDecide  = 6    // that decide
	fewUnits   = 3    // in a trace on average, at least, to be compared
	smallShare = 0.05 // of the time of all units, below which a kind does not decide
	unitsOfP95 = 20   // in a trace, from which on one unit in twenty is a unit
	unitsOfP99 = 100
	// By which factor the number of units may differ where the program may portion its work
	// differently: for the same work, and at all.
	otherPieces, farMorePieces = 2, 8
	// What share of the time of a unit must go to something else for the work to be another one, in
	// whatever pieces.
	otherUse = 0.3
	// The share of a class's units of which no stack shows the handler, from which on its handlers are
	// not told apart.
	muchUnnamed = 0.1
)

// KindChange is the change of the units of work of one kind.
type KindChange struct {
	Name    string      `json:"name"`            // handler, test function or annotation; else the class
	How     string      `json:"how"`             // how the units were found: "task", "region", "cycle" and so on, as in the units of analyze
	Was     string      `json:"was,omitempty"`   // name before the change, if another: inferred
	Why     string      `json:"why,omitempty"`   // evidence that it is the same kind; absent where name and how are the same
	Split   []string    `json:"split,omitempty"` // names of further kinds that it became: inferred
	In      string      `json:"in"`              // "both", "before" or "after"
	Entry   bool        `json:"entry"`           // units begin from outside
	Before  KindSide    `json:"before"`
	After   KindSide    `json:"after"`
	Metrics []Metric    `json:"metrics"` // throughput and latency; empty for a kind that does not decide
	Path    []PartShift `json:"path"`    // change of the time of a unit by part, largest first, at most 5

	share float64 // of the time of all units, the larger of both sides
	guess bool    // that both sides are the same kind, by no more than how many there are
}

// KindSide is the units of a kind in all traces of a side.
type KindSide struct {
	Count  int64   `json:"count"`   // mean per trace
	PerS   float64 `json:"per_s"`   // units per second
	MeanNs int64   `json:"mean_ns"` // mean latency
	P50Ns  int64   `json:"p50_ns"`  // median
	P95Ns  int64   `json:"p95_ns"`  // 95th percentile
	P99Ns  int64   `json:"p99_ns"`  // 99th percentile
}

// PartShift is a part of the time of a unit on both sides.
type PartShift struct {
	What         string `json:"what"`              // what its own goroutine did, or waited for
	Where        string `json:"where"`             // function; empty if unknown
	By           string `json:"by,omitempty"`      // main activity of the goroutines that it waited for
	Who          string `json:"who,omitempty"`     // class of these
	BeforeNs     int64  `json:"before_ns"`         // mean per unit
	AfterNs      int64  `json:"after_ns"`          // mean per unit
	BeforeSlowNs int64  `json:"before_slow_ns"`    // mean per slow unit: above the 95th percentile
	AfterSlowNs  int64  `json:"after_slow_ns"`     // mean per slow unit: above the 95th percentile
	Finding      string `json:"finding,omitempty"` // ID of a finding about that function, on the side with more of this part
}

type kindKey struct{ name, how string }

type kindSum struct {
	key       kindKey
	class     string
	entry     bool
	merged    bool // a unit may hold several
	count, ns int64
	running   int64 // of ns, that its own goroutine ran
	latency   units.Latency
	parts     map[part]*partSum
	per       []perTrace // by trace
}

type perTrace struct {
	count   int64
	ns      int64 // recorded
	latency units.Latency
	waits   map[part]int64
}

// part is what a unit's own goroutine does.
type part struct{ what, where string }

type partSum struct {
	ns, slow int64 // slow ones weigh by their trace's units
	most     int64
	by, who  string
}

// naming is how kinds are called, the same in all traces: which functions the stacks of a trace show is
// chance where they are few.
type naming struct {
	given map[string]string // what runs that a call gave to sync or errgroup: shown in one of the traces, and no other in another
	mixed map[kindKey]bool  // classes of which the handlers are not told apart
}

func namingOf(sides ...[]*analyze.Result) naming {
	n := naming{map[string]string{}, map[kindKey]bool{}}
	each := func(f func(k *units.UnitKind)) {
		for _, rs := range sides {
			for _, r := range rs {
				for i := range r.Work.Kinds {
					f(&r.Work.Kinds[i])
				}
			}
		}
	}
	each(func(k *units.UnitKind) {
		if k.GivenBy == "" || strings.HasPrefix(k.Runs, funcname.NotShown) {
			return
		}
		if was, ok := n.given[k.GivenBy]; !ok {
			n.given[k.GivenBy] = k.Runs
		} else if was != k.Runs {
			n.given[k.GivenBy] = ""
		}
	})
	each(func(k *units.UnitKind) {
		if float64(k.Unnamed) > muchUnnamed*float64(k.Unnamed+k.Count) {
			n.mixed[kindKey{n.class(k), k.How}] = true
		}
	})
	return n
}

// class returns the name of the class of a kind.
func (n naming) class(k *units.UnitKind) string {
	return cmp.Or(n.given[k.GivenBy], k.Runs, k.Class)
}

// key returns what units of a kind are called.
func (n naming) key(k *units.UnitKind) kindKey {
	class := kindKey{n.class(k), k.How}
	if n.mixed[class] || strings.HasPrefix(k.Name, funcname.NotShown) {
		return class
	}
	return kindKey{k.Name, k.How}
}

// kindsOf sums up the units of traces by kind.
func kindsOf(rs []*analyze.Result, names naming) map[kindKey]*kindSum {
	out := map[kindKey]*kindSum{}
	for t, r := range rs {
		for i := range r.Work.Kinds {
			k := &r.Work.Kinds[i]
			if k.Count == 0 {
				continue
			}
			key := names.key(k)
			s := out[key]
			if s == nil {
				s = &kindSum{key: key, class: names.class(k), parts: map[part]*partSum{}, per: make([]perTrace, len(rs))}
				for u := range rs {
					s.per[u].ns = rs[u].RecordedNs()
				}
				out[key] = s
			}
			s.add(k, t)
		}
	}
	return out
}

func (s *kindSum) add(k *units.UnitKind, t int) {
	s.count += k.Count
	s.ns += k.TotalNs
	s.entry = s.entry || k.Entry
	s.merged = s.merged || k.Merged
	s.latency.Merge(&k.Latency)
	s.per[t].count += k.Count
	s.per[t].latency.Merge(&k.Latency)
	for j := range k.Path {
		x := &k.Path[j]
		what, where := x.Own()
		p := s.parts[part{what, where}]
		if p == nil {
			p = &partSum{}
			s.parts[part{what, where}] = p
		}
		p.ns += x.Ns
		if x.Via == nil && x.What == "running" {
			s.running += x.Ns
		}
		p.slow += x.SlowNs * k.Count
		if x.Waits > 0 {
			if s.per[t].waits == nil {
				s.per[t].waits = map[part]int64{}
			}
			s.per[t].waits[part{what, where}] = x.Waits // the same in all parts with that wait
		}
		if x.Via != nil && x.Ns > p.most && (x.What != what || x.Where != where) {
			p.most, p.by, p.who = x.Ns, x.What, x.Who
		}
	}
}

// side is what a comparison says about a kind; s may be nil.
func (s *kindSum) side() KindSide {
	if s == nil {
		return KindSide{}
	}
	n, l := int64(len(s.per)), &s.latency
	return KindSide{(s.count + n/2) / n, quantity.Ratio(float64(s.count)*1e9, float64(s.recorded())), s.ns / s.count, l.P50Ns, l.P95Ns, l.P99Ns}
}

// recorded is how long all traces are, ns.
func (s *kindSum) recorded() int64 {
	return quantity.Sum(s.per, func(p *perTrace) int64 { return p.ns })
}

// perSecond is the sample of how often something was a second, by the number in each trace and its variance.
func (s *kindSum) perSecond(of func(p *perTrace) (n, within float64)) (out sample) {
	to, _ := scaleOf("1/s")
	for i := range s.per {
		n, within := of(&s.per[i])
		out.values = append(out.values, to(quantity.Ratio(n*1e9, float64(s.per[i].ns))))
		out.within = append(out.within, within)
	}
	return out
}

// rate is the sample of units a second.
func (s *kindSum) rate() sample {
	return s.perSecond(func(p *perTrace) (n, within float64) {
		n = max(float64(p.count), 0.5)
		return n, 1 / (n * n) // one more or less at the edges
	})
}

// quantile is the sample of a quantile of the latency.
func (s *kindSum) quantile(q float64) (out sample) {
	for i := range s.per {
		p := &s.per[i]
		if p.count == 0 {
			continue
		}
		at := func(rank float64) float64 { return math.Log(float64(max(1, p.latency.At(int64(math.Ceil(rank)))))) }
		n := float64(p.count)
		mid, spread := q*n, math.Sqrt(n*q*(1-q))
		middle := at(mid)
		// The ranks within which the quantile of all units would be; above the slowest nothing is known.
		d := middle - at(max(1, mid-spread))
		if mid+spread <= n {
			d = max(d, at(mid+spread)-middle)
		}
		out.values = append(out.values, middle)
		out.within = append(out.within, d*d)
	}
	return out
}

// kindChanges returns the kinds of both sides, those that decide first, and of them that which has most of the time.
func kindChanges(before, after []*analyze.Result, basis Basis) ([]KindChange, []*candidate) {
	names := namingOf(before, after)
	b, a := kindsOf(before, names), kindsOf(after, names)
	matches := match(b, a)
	var cs []*candidate
	sameWork := basis == PerTrace && !fixedTime(before, after)
	// Where all traces are about as long, the lives of a pool's workers are no longer than these.
	asLong := max(lengthOf(before), lengthOf(after)) < aDurationDecides*min(lengthOf(before), lengthOf(after))
	total := [2]float64{total(b, asLong), total(a, asLong)}
	for _, m := range matches {
		x := KindChange{Why: m.why, guess: m.guess, Split: m.split, In: "both", Before: m.before.side(), After: m.after.side(), Metrics: []Metric{}, Path: []PartShift{}}
		last := cmp.Or(m.after, m.before)
		x.Name, x.How, x.Entry = last.key.name, last.key.how, last.entry
		for i, s := range []*kindSum{m.before, m.after} {
			if s != nil {
				x.share = max(x.share, quantity.Ratio(float64(s.ns), total[i]))
			}
		}
		switch {
		case m.before == nil:
			x.In = "after"
		case m.after == nil:
			x.In = "before"
		default:
			x.Entry = m.before.entry && m.after.entry
			x.Path = shifts(m.before, m.after)
			if m.before.key.name != x.Name {
				x.Was = m.before.key.name
			}
		}
		cs = append(cs, &candidate{KindChange: x, sums: [2]*kindSum{m.before, m.after}})
	}
	anyEntry := slices.ContainsFunc(cs, func(c *candidate) bool { return c.Entry && c.compared(sameWork, asLong) && c.share >= smallShare })
	for _, c := range cs { // what the library does for itself is nothing that users want more of
		c.decides = c.compared(sameWork, asLong) && (c.Entry || !anyEntry && !findings.OfLibrary(c.Name)) && c.share >= smallShare
	}
	slices.SortFunc(cs, func(x, y *candidate) int {
		return cmp.Or(quantity.TrueFirst(x.decides, y.decides), quantity.TrueFirst(x.In == "both", y.In == "both"), cmp.Compare(y.share, x.share), strings.Compare(x.Name, y.Name), strings.Compare(x.How, y.How))
	})
	out := make([]KindChange, 0, min(len(cs), maxKinds))
	for i, c := range cs[:min(len(cs), maxKinds)] {
		c.decides = c.decides && i < maxDecide
		out = append(out, c.KindChange)
	}
	return out, cs[:len(out)]
}

// lengthOf is the median length of traces, ns.
func lengthOf(rs []*analyze.Result) float64 {
	var ns []float64
	for _, r := range rs {
		ns = append(ns, float64(r.RecordedNs()))
	}
	return quantity.Median(ns)
}

// candidate is a kind with the numbers behind it.
type candidate struct {
	KindChange
	sums    [2]*kindSum
	decides bool
}

// compared reports whether there are enough units on both sides, and they are surely the same: if
// the program did its work in other pieces, as with a batch for several former units, they are not.
func (c *candidate) compared(sameWork, asLong bool) bool {
	if c.In != "both" || c.guess || c.How == units.Calibration.String() || min(c.Before.Count, c.After.Count) < 1 || max(c.Before.Count, c.After.Count) < fewUnits {
		return false
	}
	b, a := c.sums[0], c.sums[1]
	if asLong && (b.lasting() || a.lasting()) {
		return false
	}
	counts := float64(max(c.Before.Count, c.After.Count)) / float64(min(c.Before.Count, c.After.Count))
	if sameWork {
		return counts <= otherPieces
	}
	if c.How != units.Cycle.String() && c.How != units.Producer.String() || b.class != b.key.name {
		return true // what begins and ends a unit is not how the program portions its work
	}
	rates, runs := c.After.PerS/c.Before.PerS, quantity.Ratio(float64(a.running)/float64(a.count), float64(b.running)/float64(b.count))
	portions := rates * runs // as many times the work in each as there are fewer
	more := max(rates, 1/rates)
	if more > farMorePieces*farMorePieces && max(portions, 1/portions) < math.Sqrt(more) {
		return false
	}
	if c.moved() >= otherUse {
		return true
	}
	if b.merged || a.merged {
		return false
	}
	computes := 10*a.running >= a.ns && 10*b.running >= b.ns
	return computes && max(runs, 1/runs) <= otherPieces || more <= farMorePieces && (more <= otherPieces || portions > otherPieces || portions < 1/float64(otherPieces))
}

// fewRounds is how often goroutines must wait for something outside in each trace for that to be what
// they do once in each round.
const fewRounds = 30

// rounds returns what goroutines that loop wait for most often on both sides, of what is outside of the
// program: they do so as often as they go round. It is not ok where they seldom do.
func (c *candidate) rounds() (of part, b, a sample, ok bool) {
	if c.In != "both" || !c.sums[0].lasting() || !c.sums[1].lasting() {
		return of, b, a, false
	}
	most := int64(0)
	for p := range c.sums[0].parts {
		if p.what != "sleep" && p.what != "network" && p.what != "pipe" {
			continue
		}
		least := int64(math.MaxInt64)
		for _, s := range c.sums {
			for i := range s.per {
				least = min(least, s.per[i].waits[p])
			}
		}
		if least > most || least == most && p.where < of.where {
			of, most = p, least
		}
	}
	if most < fewRounds {
		return of, b, a, false
	}
	return of, c.sums[0].rounds(of), c.sums[1].rounds(of), true
}

// rounds is the sample of waits a second.
func (s *kindSum) rounds(of part) sample {
	return s.perSecond(func(p *perTrace) (n, within float64) { return float64(p.waits[of]), 1 / float64(p.waits[of]) })
}

// moved returns which share of the time of a unit goes to something else than before.
func (c *candidate) moved() (share float64) {
	b, a := c.sums[0], c.sums[1]
	for p, x := range a.parts {
		y := cmp.Or(b.parts[p], &partSum{})
		share += max(0, quantity.Ratio(float64(x.ns), float64(a.ns))-quantity.Ratio(float64(y.ns), float64(b.ns)))
	}
	return share
}

// lasting reports whether the units are goroutines that live for three quarters of a trace, as those of a pool do.
func (s *kindSum) lasting() bool {
	return (s.key.how == units.Lifetime.String() || s.key.how == units.Run.String()) && 4*s.ns/s.count > 3*s.recorded()/int64(len(s.per))
}

// total is the time of the kind with the most, or of all entry kinds if that is more.
func total(kinds map[kindKey]*kindSum, asLong bool) float64 {
	entries, most := int64(0), int64(0)
	for _, s := range kinds {
		if asLong && s.lasting() {
			continue
		}
		most = max(most, s.ns)
		if s.entry {
			entries += s.ns
		}
	}
	return float64(max(1, entries, most))
}

// shifts returns how the parts of a unit's time changed.
func shifts(b, a *kindSum) []PartShift {
	out := []PartShift{}
	all := maps.Clone(b.parts)
	maps.Copy(all, a.parts)
	for p := range all {
		x, y := cmp.Or(b.parts[p], &partSum{}), cmp.Or(a.parts[p], &partSum{})
		s := PartShift{What: p.what, Where: p.where, BeforeNs: x.ns / b.count, AfterNs: y.ns / a.count, BeforeSlowNs: x.slow / b.count, AfterSlowNs: y.slow / a.count, By: x.by, Who: x.who}
		if s.BeforeNs < s.AfterNs {
			s.By, s.Who = y.by, y.who
		}
		out = append(out, s)
	}
	slices.SortFunc(out, func(x, y PartShift) int {
		return cmp.Or(cmp.Compare(abs(y.AfterNs-y.BeforeNs), abs(x.AfterNs-x.BeforeNs)), strings.Compare(x.What, y.What), strings.Compare(x.Where, y.Where))
	})
	return out[:min(len(out), 5)]
}
