// Package runnextmonopoly is the detector runnext-monopoly: did a few
// goroutines that wake one another keep a P from all others? doc.md explains it.
package runnextmonopoly

import (
	"cmp"
	"slices"

	"github.com/gmpscope/gmpscope/analyze/findings"
	"github.com/gmpscope/gmpscope/analyze/waits"
	"github.com/gmpscope/gmpscope/internal/quantity"
)

// ID names the detector in findings, in configuration files and for "gmpscope explain".
const ID = "runnext-monopoly"

// Thresholds decide when the detector reports goroutines that kept a P by waking one another
// through runnext. Fields whose names end in Ns are in nanoseconds; shares are fractions from
// 0 to 1.
type Thresholds struct {
	Hops    int32 `json:"hops"`    // least number of run intervals in one time slice
	Parties int8  `json:"parties"` // largest number of goroutines that take part in it; at most 4
	// Relay is the share of a slice's run intervals that are the first ones of
	// goroutines just created, from which on it counts whoever takes part; and
	// Creator the share if the slice is of SevereNs or more: nearly half where
	// each comes after one of the goroutine that creates them all.
	Relay   float64 `json:"relay"`
	Creator float64 `json:"creator"`
	WaitNs  int64   `json:"wait_ns"` // for how long a goroutine must have waited meanwhile
	// SevereNs and SevereShare: a slice so long, or this share of the duration in
	// such slices, is more than a note and may be critical.
	SevereNs    int64          `json:"severe_ns"`
	SevereShare float64        `json:"severe_share"`
	Grade       findings.Grade `json:"grade"` // severities, by the time that goroutines waited behind those in runnext
}

// Default returns the thresholds that apply unless a configuration sets others.
func Default() Thresholds {
	return Thresholds{Hops: 20, Parties: 3, Relay: 0.9, Creator: 0.4, WaitNs: 1_000_000, SevereNs: 10_000_000, SevereShare: 0.5, Grade: findings.DefaultGrade()}
}

// New returns the detector that reports goroutines that kept a P by waking one another through
// runnext, with thresholds t.
func New(t Thresholds) findings.Detector {
	return findings.Detector{
		ID: ID, AnyLength: true, Kind: findings.KindCause, NeedsQueues: true, Delays: true,
		InLine: append(findings.Queued(), waits.CauseOvertaken),
		Remedy: findings.Remedy{Policy: "no-runnext", Why: "nobody overtakes by runnext, as if the parties did not talk at each step: the most that this advice can give"},
		New: func(view *findings.View) findings.Watcher {
			w := &watcher{t: t, view: view, cells: findings.NewTable(findings.MaxKept, newCell)}
			view.Slices(findings.SliceFilter{MinNs: t.WaitNs}, w.slice)
			return w
		},
	}
}

type watcher struct {
	t     Thresholds
	view  *findings.View
	cells findings.Table[parties, cell]
}

// parties are the classes that take part, sorted; of a relay only the most
// frequent of those that the slice names.
type parties struct {
	classes [4]int32
	relay   bool
}

// cell is the slices of the same parties.
type cell struct {
	parties
	n       int // classes in it
	slices  int64
	hops    int64
	created int64 // of the hops, first ones of goroutines just created
	timers  int64 // of the hops, those of goroutines that timers woke
	ns      int64
	longest findings.Slice
	woke    [4]int32 // where the goroutines of the longest had woken another of them last; 0: not known
	victims findings.Tally
	yielded int64 // victims that had yielded
}

func newCell(of parties) cell { return cell{parties: of} }

func (w *watcher) slice(s *findings.Slice) {
	ns := s.To - s.From
	if s.Runs < w.t.Hops || s.System {
		return
	}
	share := float64(s.Created) / float64(s.Runs)
	relay := share >= w.t.Relay || share >= w.t.Creator && ns >= w.t.SevereNs
	if s.N > w.t.Parties && !relay || int(s.N) > len(s.Gs) && !relay {
		return
	}
	gs := s.Gs[:min(int(s.N), len(s.Gs))]
	var found []findings.Cell
	yielded := int64(0)
	for g, victim := range w.view.Behind(s.P, s.From, s.To) {
		if victim.To-victim.From < w.t.WaitNs || slices.Contains(gs, g.ID) {
			continue
		}
		found = append(found, victim)
		if g.Self {
			yielded++
		}
	}
	if len(found) == 0 {
		return
	}
	of, n := partiesOf(s, relay)
	c := w.cells.At(of)
	if c == nil {
		return
	}
	if c.slices == 0 {
		c.n = n
	}
	c.slices++
	c.hops += int64(s.Runs)
	c.created += int64(s.Created)
	c.timers += int64(s.Timers)
	c.ns += ns
	c.yielded += yielded
	if ns > c.longest.To-c.longest.From {
		c.longest = *s
		c.woke = [4]int32{}
		for _, id := range gs {
			if g := w.view.ByID(id); g != nil {
				if i := slices.Index(s.Gs[:], g.Waker); i >= 0 {
					c.woke[i] = g.WakeStack
				}
			}
		}
	}
	for i := range found {
		c.victims.Add(&found[i])
	}
}

// partiesOf returns those of a slice, and how many classes they are.
func partiesOf(s *findings.Slice, relay bool) (of parties, n int) {
	n = int(s.N)
	if relay {
		return parties{[4]int32{frequent(s.Classes[:min(n, len(s.Classes))])}, true}, 1
	}
	copy(of.classes[:n], s.Classes[:])
	slices.Sort(of.classes[:n])
	return of, n
}

// frequent returns the class that is there most often, the last of these.
func frequent(classes []int32) int32 {
	best, most := int32(0), 0
	for _, c := range classes {
		n := 0
		for _, d := range classes {
			if c == d {
				n++
			}
		}
		if n >= most {
			best, most = c, n
		}
	}
	return best
}

func (w *watcher) Finish(f *findings.Facts) []findings.Finding {
	return findings.Each(f, w.cells.List, w.finding)
}

func (w *watcher) finding(f *findings.Facts, c *cell) []findings.Finding {
	total, longest := c.victims.Total, c.longest.To-c.longest.From
	s, ok := w.t.Grade.Severity(total.Ns, f.RecordedNs())
	if !ok {
		return nil
	}
	severe := longest >= w.t.SevereNs || f.Share(c.ns) > w.t.SevereShare
	if s == findings.Critical && (!severe || total.Ns < f.Waits.User.TotalNs/20) { // or it explains little
		s = findings.Warning
	}
	causes := c.causes(f)
	x := findings.Finding{
		Severity: s, CostNs: total.Ns, FromNs: c.longest.From, ToNs: c.longest.To, Basis: findings.Inferred,
		Actors:    append(c.victims.Actors(f, findings.Victim, 3), causes...),
		OutOfTurn: !w.newestFirst(c),
	}
	x.Measured("run intervals in the longest slice", findings.Count(int64(c.longest.Runs)), findings.Count(int64(w.t.Hops)))
	x.Measured("its length", findings.Time(longest), findings.Time(w.t.SevereNs))
	x.Measured("such slices", findings.Count(c.slices))
	x.Measured("Ps that they kept, on average", findings.Number(f.Share(c.ns)).Of(c.ns), findings.Number(w.t.SevereShare))
	x.Measured("passes of the P", findings.Said("%s", rate(c.hops, c.ns)))
	x.Measured("times a goroutine was kept waiting", findings.Count(total.N), findings.Time(w.t.WaitNs).With(" each"))
	x.Measured("longest that one was kept by one slice", findings.Time(total.Worst))
	if c.timers > 0 {
		x.Measured("of the passes, to goroutines that a timer woke", findings.Share(float64(c.timers)/float64(c.hops)))
	}
	if c.yielded > 0 {
		x.Measured("of those kept waiting, had yielded", findings.Count(c.yielded))
	}
	var names findings.Text
	for i, a := range causes {
		if i == 0 {
			names = a.Work()
		} else if name := a.Work(); !slices.ContainsFunc(causes[:i], func(b findings.Actor) bool { return slices.Equal(b.Work(), name) }) {
			names = findings.Say("%s and %s", names, name)
		}
	}
	short := findings.ShortOf(causes)
	switch {
	case w.newestFirst(c):
		x.Headline = findings.Say("New goroutines of %s run before older ones, for up to %s", short, quantity.Duration(longest))
		x.Title = findings.Say("Goroutines of %s, each run as soon as it was created, kept a P for up to %s while older ones waited", names, quantity.Duration(longest))
		x.Advise("Bound how many are under way at once, and let a fixed number of workers take the work from a channel, which keeps its order: what is created runs next, within the same time slice, so the newest is served first.")
	case c.relay:
		x.Headline = findings.Say("%s: each goroutine creates the next, and a P is theirs for up to %s", short, quantity.Duration(longest))
		x.Title = findings.Say("Goroutines of %s that each create the next kept a P for up to %s while others waited", names, quantity.Duration(longest))
		x.Advise("Create the next goroutine before the work, or loop in one goroutine: what is created runs next, within the same time slice, so nobody else gets in.")
	case 2*c.timers > c.hops:
		x.Headline = findings.Say("Timers wake %s so often that a P is theirs for up to %s", short, quantity.Duration(longest))
		x.Title = findings.Say("Timers woke %s up to %s in a row on one P, which they kept for %s while others waited",
			names, quantity.Plural(int64(c.longest.Runs), "time", "times"), quantity.Duration(longest))
		x.Advise("Whoever a timer wakes runs next, within the time slice of the one before, so goroutines of %s that sleep briefly take turns ahead of the queue: let one goroutine with one ticker do their work, or sleep longer and do more at a time.", names)
		x.Advise("Or have fewer goroutines that need a P at the same time: where a P is free, nobody waits behind them.")
	default:
		slices.SortFunc(causes, func(a, b findings.Actor) int { return cmp.Compare(a.Short(), b.Short()) }) // in each recording the same
		short = findings.ShortOf(causes)
		x.Headline = findings.Say("%s wake each other and keep a P for up to %s", short, quantity.Duration(longest))
		x.Title = findings.Say("%s woke each other up to %s in a row and kept a P for %s while others waited",
			names, quantity.Plural(int64(c.longest.Runs), "time", "times"), quantity.Duration(longest))
		x.Advise("Exchange more at a time: batch messages, or give the channel a buffer, so that a party goes on working instead of waking its partner for each item.")
		x.Advise("Or let one goroutine do both parts: a hand-over after each step gains nothing if the partner only waits.")
	}
	return []findings.Finding{x}
}

// causes are the parties.
func (c *cell) causes(f *findings.Facts) (actors []findings.Actor) {
	for k, class := range c.classes[:c.n] {
		if k > 0 && class == c.classes[k-1] {
			continue
		}
		a := f.Class(findings.Cause, class)
		for j, id := range c.longest.Classes {
			if id == class && j < int(c.longest.N) {
				a.G, a.Stack = c.longest.Gs[j], f.Frames(c.woke[j])
				break
			}
		}
		a.P = findings.OnP(c.longest.P)
		actors = append(actors, a)
	}
	if len(actors) > 0 { // where the last of the chain stopped
		last := f.Frames(c.longest.Stack)
		i := max(0, slices.IndexFunc(actors, func(a findings.Actor) bool { return a.Runs(last) }))
		if len(actors[i].Stack) == 0 {
			actors[i].Stack = last
		}
	}
	return actors
}

// newestFirst reports whether the goroutines that kept a P are parts of work that one goroutine hands
// out: in which order they run matters to any goroutine that waits for one of them.
func (w *watcher) newestFirst(c *cell) bool {
	return c.relay && float64(c.created) < w.t.Relay*float64(c.hops)
}

func rate(n, ns int64) string {
	if ns <= 0 {
		return quantity.Count(n)
	}
	return quantity.Count(int64(float64(n)/float64(ns)*1e9)) + " per second of it"
}
