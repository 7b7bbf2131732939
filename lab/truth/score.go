package truth

import (
	"cmp"
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"
)

// A Rate is a share of a number of cases.
type Rate struct{ Right, Of int64 }

func (r *Rate) count(ok bool) {
	r.Of++
	if ok {
		r.Right++
	}
}

func (r *Rate) add(o Rate) { r.Right += o.Right; r.Of += o.Of }

// String gives per cent with two digits, or a dash if there was no case. What
// is not all right never shows as 100.00.
func (r Rate) String() string {
	if r.Of == 0 {
		return "–"
	}
	pc := 100 * float64(r.Right) / float64(r.Of)
	if r.Right < r.Of && pc > 99.99 {
		pc = 99.99
	}
	return fmt.Sprintf("%.2f", pc)
}

// A Pair is a word of the truth and a word of the dump for one thing.
type Pair struct{ Truth, Dump string }

// A Score reports how well a dump agrees with the truth.
type Score struct {
	Starts  int // in the truth
	Missing int // starts without a dump line
	Extra   int // dump lines without a start
	Exact   Rate
	Coarse  Rate
	Sources map[Pair]int64

	StealRecall, StealPrecision  Rate
	Victim, Batch, Global, Locks Rate     // Global: size of global batches; Locks: locked threads
	LL, GL                       Rate     // exact queue lengths
	LLNear, GLNear               Rate     // within one
	Lengths                      Lengths  // empty unless it was asked what the trace leaves open
	Reasons                      *Reasons // as well
	Ready                        Rate
	Readies                      map[Pair]int64

	// Found and Real are recall and precision of other decisions, by kind.
	Found, Real map[string]*Rate

	Preempt  Rate
	Preempts map[Pair]int64

	Basis map[string]*Rate // exact source, by basis with its rule

	Ticks Ticks // if FindOpenTicks was asked

	Waiting *Waiting // empty unless decisions were compared as well
}

// NewScore returns the score of nothing.
func NewScore() *Score {
	return &Score{
		Sources: make(map[Pair]int64), Readies: make(map[Pair]int64), Preempts: make(map[Pair]int64),
		Found: make(map[string]*Rate), Real: make(map[string]*Rate), Basis: make(map[string]*Rate),
		Waiting: NewWaiting(), Reasons: NewReasons(),
	}
}

// Add adds the counts of another score.
func (s *Score) Add(o *Score) {
	s.Starts += o.Starts
	s.Missing += o.Missing
	s.Extra += o.Extra
	for _, p := range [...][2]*Rate{
		{&s.Exact, &o.Exact}, {&s.Coarse, &o.Coarse}, {&s.StealRecall, &o.StealRecall},
		{&s.StealPrecision, &o.StealPrecision}, {&s.Victim, &o.Victim}, {&s.Batch, &o.Batch},
		{&s.Global, &o.Global}, {&s.Locks, &o.Locks}, {&s.LL, &o.LL}, {&s.GL, &o.GL},
		{&s.LLNear, &o.LLNear}, {&s.GLNear, &o.GLNear}, {&s.Ready, &o.Ready}, {&s.Preempt, &o.Preempt},
	} {
		p[0].add(*p[1])
	}
	addCounts(s.Sources, o.Sources)
	addCounts(s.Readies, o.Readies)
	addCounts(s.Preempts, o.Preempts)
	for _, p := range [...][2]map[string]*Rate{{s.Found, o.Found}, {s.Real, o.Real}, {s.Basis, o.Basis}} {
		for k, r := range p[1] {
			rate(p[0], k).add(*r)
		}
	}
	s.Lengths.Add(&o.Lengths)
	s.Ticks.Add(&o.Ticks)
	s.Reasons.Add(o.Reasons)
	s.Waiting.Add(o.Waiting)
}

// AddTo adds a score to that of a key.
func AddTo(m map[string]*Score, key string, s *Score) {
	if m[key] == nil {
		m[key] = NewScore()
	}
	m[key].Add(s)
}

// addCounts adds the counts of another map.
func addCounts[K comparable](to, more map[K]int64) {
	for k, n := range more {
		to[k] += n
	}
}

func rate(m map[string]*Rate, k string) *Rate {
	if m[k] == nil {
		m[k] = new(Rate)
	}
	return m[k]
}

// Certain returns the share of right sources among lines whose basis claims
// knowledge, Uncertain among all others.
func (s *Score) Certain() Rate   { return s.byBasis(true) }
func (s *Score) Uncertain() Rate { return s.byBasis(false) }

func (s *Score) byBasis(certain bool) Rate {
	var sum Rate
	for b, r := range s.Basis {
		word, _, _ := strings.Cut(b, ":")
		if (word == "observed" || word == "inferred") == certain {
			sum.add(*r)
		}
	}
	return sum
}

// uncertainShare is the share of starts whose basis claims no knowledge.
func (s *Score) uncertainShare() Rate {
	u, c := s.Uncertain(), s.Certain()
	return Rate{u.Of, u.Of + c.Of}
}

// coarse joins sources that differ only in which end of a place was used.
func coarse(src string) string {
	switch src {
	case srcRunnext, srcLocal:
		return "own"
	case srcGlobal, srcTick:
		return "global"
	case srcSteal, srcStealRunnext:
		return "steal"
	case srcUnknown, "":
		return "unknown"
	}
	return "direct"
}

// A Match is one line of the truth and the dump's line for the same event; the
// index in the dump is −1 if there is none.
type Match struct{ Truth, Dump int }

// Compare scores a dump against the truth. The matches are those of the starts,
// in the truth's order.
func Compare(truth, dump []Line) (*Score, []Match) {
	s := NewScore()
	starts := byGoroutine(truth, dump, "start")
	have := 0
	for _, m := range starts {
		s.Starts++
		t := &truth[m.Truth]
		if m.Dump < 0 {
			s.Missing++
			s.Exact.count(false)
			s.Coarse.count(false)
			continue
		}
		have++
		s.start(t, &dump[m.Dump])
	}
	for i := range dump {
		if dump[i].K == "start" {
			have--
		}
	}
	s.Extra = -have
	for _, m := range byGoroutine(truth, dump, "ready") {
		if m.Dump >= 0 {
			t, d := truth[m.Truth].To, dump[m.Dump].To
			s.Ready.count(t == d)
			s.Readies[Pair{t, d}]++
		}
	}
	for _, m := range byGoroutine(truth, dump, "preempt") {
		t := &truth[m.Truth]
		if t.Why == "" {
			continue
		}
		rate(s.Found, "preempt").count(m.Dump >= 0)
		if m.Dump >= 0 {
			d := dump[m.Dump].Why
			s.Preempt.count(d == t.Why || slices.Contains(t.Also, d))
			s.Preempts[Pair{t.Why, d}]++
		}
	}
	s.events(truth, dump)
	return s, starts
}

func (s *Score) start(t, d *Line) {
	ok := t.Src == d.Src
	s.Exact.count(ok)
	s.Coarse.count(coarse(t.Src) == coarse(d.Src))
	s.Sources[Pair{t.Src, d.Src}]++
	basis := d.Basis
	if basis == "" {
		basis = "none"
	}
	rate(s.Basis, basis).count(ok)
	stolen, said := coarse(t.Src) == "steal", coarse(d.Src) == "steal"
	if stolen {
		s.StealRecall.count(said)
	}
	if said {
		s.StealPrecision.count(stolen)
	}
	if stolen && said {
		s.Victim.count(t.Victim == d.Victim)
		s.Batch.count(t.Batch == d.Batch)
	}
	if t.Src == srcGlobal && ok && d.Batch != none {
		s.Global.count(t.Batch == d.Batch)
	}
	if t.Locked || d.Locked {
		s.Locks.count(t.Locked == d.Locked)
	}
	s.LL.count(t.LL == d.LL)
	s.GL.count(t.GL == d.GL)
	s.LLNear.count(d.LL != none && near(t.LL, d.LL))
	s.GLNear.count(d.GL != none && near(t.GL, d.GL))
}

func near(a, b int64) bool { return a-b <= 1 && b-a <= 1 }

// byGoroutine pairs the lines of one kind, per goroutine in order. Where the
// numbers differ, a line of the dump counts for the truth's line closest in
// time, order kept.
func byGoroutine(truth, dump []Line, kind string) []Match {
	lists := make(map[int64][]int)
	for i := range dump {
		if dump[i].K == kind {
			lists[dump[i].G] = append(lists[dump[i].G], i)
		}
	}
	mine := make(map[int64][]int)
	var order []Match
	for i := range truth {
		if truth[i].K == kind {
			mine[truth[i].G] = append(mine[truth[i].G], len(order))
			order = append(order, Match{i, none})
		}
	}
	for g, list := range mine {
		theirs := lists[g]
		if len(theirs) == len(list) {
			for i, o := range list {
				order[o].Dump = theirs[i]
			}
			continue
		}
		at := 0
		for i, o := range list {
			if at == len(theirs) {
				break
			}
			t := truth[order[o].Truth].T
			// Leave the dump's line to the next one of the truth if that is closer.
			if i+1 < len(list) && len(theirs)-at < len(list)-i {
				next := truth[order[list[i+1]].Truth].T
				if abs(dump[theirs[at]].T-next) < abs(dump[theirs[at]].T-t) {
					continue
				}
			}
			// And pass over the dump's lines that are too many.
			for len(theirs)-at > len(list)-i && abs(dump[theirs[at+1]].T-t) <= abs(dump[theirs[at]].T-t) {
				at++
			}
			order[o].Dump = theirs[at]
			at++
		}
	}
	return order
}

func abs(x int64) int64 {
	if x < 0 {
		return -x
	}
	return x
}

// Decisions about a P are the same if they are this close in time: threads lose
// the processor between the decision and its event.
const window = 3_000_000

// events scores decisions about Ps, which have no goroutine to join by.
func (s *Score) events(truth, dump []Line) {
	kinds := []struct {
		kind string
		must func(*Line) bool // whether a dump can be expected to have it
	}{
		{"retake", func(l *Line) bool { return l.By == "sysmon" }},
		{"handoff", func(l *Line) bool { return l.Started != nil && *l.Started }},
		{"overflow", func(*Line) bool { return true }},
	}
	for _, k := range kinds {
		byP := make(map[int64][2][]*Line)
		for side, lines := range [2][]Line{truth, dump} {
			for i := range lines {
				if l := &lines[i]; l.K == k.kind {
					pair := byP[l.P]
					pair[side] = append(pair[side], l)
					byP[l.P] = pair
				}
			}
		}
		for _, pair := range byP {
			ts, ds := pair[0], pair[1]
			slices.SortStableFunc(ts, func(a, b *Line) int { return cmp.Compare(a.T, b.T) })
			slices.SortStableFunc(ds, func(a, b *Line) int { return cmp.Compare(a.T, b.T) })
			used := make([]bool, len(ds))
			// What need not be in the dump must not take the place of what must.
			for _, must := range [...]bool{true, false} {
				for _, t := range ts {
					if k.must(t) != must {
						continue
					}
					best := -1
					for j, d := range ds {
						if !used[j] && abs(d.T-t.T) <= window && (best < 0 || abs(d.T-t.T) < abs(ds[best].T-t.T)) {
							best = j
						}
					}
					if best >= 0 {
						used[best] = true
					}
					if must {
						rate(s.Found, k.kind).count(best >= 0)
					}
				}
			}
			for _, u := range used {
				rate(s.Real, k.kind).count(u)
			}
		}
	}
}

// Summary is the score in one line of a Markdown table; SummaryHead its head.
func (s *Score) Summary() string {
	return strings.Join([]string{
		fmt.Sprint(s.Starts), s.Exact.String(), s.StealRecall.String(), s.StealPrecision.String(), s.LL.String(), s.GL.String(),
		s.Uncertain().String(), s.uncertainShare().String(),
	}, " | ")
}

// SummaryHead names the columns of Summary; all but the first are per cent.
const SummaryHead = "starts | exact source | steal recall | steal precision | ll | gl | where not certain | uncertain"

// Rest returns a Markdown table of the rates that Summary does not have.
func (s *Score) Rest() string {
	cell := func(m map[string]*Rate, k string) string { return rate(m, k).String() }
	both := func(k string) string { return cell(s.Found, k) + "/" + cell(s.Real, k) }
	return "| " + strings.Join([]string{"coarse", "victim", "batch", "global batch", "ready queue", "retake r/p", "handoff r/p", "overflow r/p", "preempt cause", "where certain"}, " | ") +
		" |\n" + strings.Repeat("|---:", 10) + "|\n| " + strings.Join([]string{s.Coarse.String(), s.Victim.String(), s.Batch.String(), s.Global.String(), s.Ready.String(),
		both("retake"), both("handoff"), both("overflow"), s.Preempt.String(), s.Certain().String()}, " | ") + " |\n"
}

// SummaryRule is the line below SummaryHead, for a table with one column before it.
var SummaryRule = "|---|" + strings.Repeat("---:|", strings.Count(SummaryHead, "|")+1)

// Calibration is a Markdown table of the bases that the dumps gave for starts,
// with the rule behind each: how many starts, and how many of them right.
func (s *Score) Calibration() string {
	all := int64(0)
	for _, r := range s.Basis {
		all += r.Of
	}
	var b strings.Builder
	b.WriteString("| basis | rule | starts | share of starts | right |\n|---|---|---:|---:|---:|\n")
	for _, k := range slices.Sorted(maps.Keys(s.Basis)) {
		word, rule, _ := strings.Cut(k, ":")
		r := *s.Basis[k]
		fmt.Fprintf(&b, "| %s | %s | %d | %s | %s |\n", word, rule, r.Of, Rate{r.Of, all}, r)
	}
	return b.String()
}

// Print writes the score in words.
func (s *Score) Print(w io.Writer) {
	n := func(label string, r Rate) { fmt.Fprintf(w, "  %-34s %8s %%  of %d\n", label, r, r.Of) }
	fmt.Fprintf(w, "  starts %d, not in the dump %d, only in the dump %d\n", s.Starts, s.Missing, s.Extra)
	n("exact source", s.Exact)
	n("coarse source", s.Coarse)
	n("steals: recall", s.StealRecall)
	n("steals: precision", s.StealPrecision)
	n("steals: victim right", s.Victim)
	n("steals: batch right", s.Batch)
	n("global batch right", s.Global)
	n("locked thread right", s.Locks)
	n("ll exact", s.LL)
	n("ll within 1", s.LLNear)
	n("gl exact", s.GL)
	n("gl within 1", s.GLNear)
	n("ready: queue right", s.Ready)
	for _, k := range slices.Sorted(maps.Keys(s.Found)) {
		n(k+": recall", *s.Found[k])
	}
	for _, k := range slices.Sorted(maps.Keys(s.Real)) {
		n(k+": precision", *s.Real[k])
	}
	n("preemption cause", s.Preempt)
	n("exact source where certain", s.Certain())
	n("exact source where uncertain", s.Uncertain())
	for _, k := range slices.Sorted(maps.Keys(s.Basis)) {
		n("  basis "+k, *s.Basis[k])
	}
	s.Waiting.print(w)
	printPairs(w, "source", s.Sources, 24)
	printPairs(w, "ready", s.Readies, 12)
	printPairs(w, "preempt", s.Preempts, 12)
}

// printPairs lists what was taken for what, most frequent first.
func printPairs(w io.Writer, what string, m map[Pair]int64, limit int) {
	var wrong []Pair
	for p := range m {
		if p.Truth != p.Dump {
			wrong = append(wrong, p)
		}
	}
	slices.SortFunc(wrong, func(a, b Pair) int {
		return cmp.Or(cmp.Compare(m[b], m[a]), strings.Compare(a.Truth+a.Dump, b.Truth+b.Dump))
	})
	if len(wrong) == 0 {
		return
	}
	fmt.Fprintf(w, "  %s, truth → dump:\n", what)
	for _, p := range wrong[:min(limit, len(wrong))] {
		total := int64(0)
		for q, n := range m {
			if q.Truth == p.Truth {
				total += n
			}
		}
		d := p.Dump
		if d == "" {
			d = "(none)"
		}
		fmt.Fprintf(w, "    %8d  %-14s → %-14s  %6.2f %% of its %d\n", m[p], p.Truth, d, 100*float64(m[p])/float64(total), total)
	}
}
