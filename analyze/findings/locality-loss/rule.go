// Package localityloss is the detector locality-loss: did goroutines change
// their P so often that their runs got longer? doc.md explains it.
package localityloss

import (
	"cmp"
	"fmt"
	"slices"

	"github.com/gmpscope/gmpscope/analyze/findings"
	"github.com/gmpscope/gmpscope/internal/quantity"
	"github.com/gmpscope/gmpscope/reference"
)

// ID names the detector in findings, in configuration files and for "gmpscope explain".
const ID = "locality-loss"

// Thresholds decide when the detector reports goroutines that changed their P often and ran
// longer for it. Fields whose names end in Ns are in nanoseconds; shares are fractions from 0
// to 1. A class of goroutines is judged as one.
type Thresholds struct {
	// Chance is how large the share of a class's starts must be that are on another P
	// than the goroutine's last, as a part of what picking a P at random would give,
	// (GOMAXPROCS-1)/GOMAXPROCS.
	Chance float64 `json:"chance"`
	RunNs  int64   `json:"run_ns"` // the mean run interval of the class must be shorter: a move matters little to longer ones
	Rate   float64 `json:"rate"`   // least number of moves in a second
	// Slower is how many times longer the median run interval after a move must
	// be than without one, from MinCount of each.
	// More than TooSlow times longer is no matter of caches, but other work.
	Slower   float64 `json:"slower"`
	TooSlow  float64 `json:"too_slow"`
	MinCount int64   `json:"min_count"`
	// NoteRate is how many moves in a second are worth a note although the run
	// intervals after them are not longer.
	NoteRate float64        `json:"note_rate"`
	Grade    findings.Grade `json:"grade"` // severities, by how much longer goroutines ran because they moved
}

// Default returns the thresholds that apply unless a configuration sets others. All are
// guesses, checked on traces: two thirds of chance is a half with four Ps; a cache is filled
// in some 10 to 100 µs.
func Default() Thresholds {
	return Thresholds{Chance: 2. / 3, RunNs: 100_000, Rate: 1000, Slower: 1.2, TooSlow: 4, MinCount: 100, NoteRate: 10_000, Grade: findings.DefaultGrade()}
}

// New returns the detector that reports goroutines that changed their P often and ran longer
// for it, with thresholds t.
func New(t Thresholds) findings.Detector {
	return findings.Detector{
		ID: ID, Kind: findings.KindCause, CostOf: findings.OfPTime,
		Remedy: findings.Remedy{Why: "the model has no caches"},
		New: func(view *findings.View) findings.Watcher {
			w := &watcher{t: t, view: view}
			w.classes.Table = findings.NewTable(findings.MaxKept, func(id int32) class { return class{id: id, worst: findings.Cell{Class: id}} })
			view.Runs(findings.RunFilter{Moved: true}, w.move)
			view.Decisions(findings.DecisionFilter{Kinds: []reference.Kind{reference.KindGCBegin, reference.KindGCEnd}}, w.gc)
			return w
		},
	}
}

type watcher struct {
	t       Thresholds
	view    *findings.View
	marking bool
	classes findings.CachedTable[int32, class]
}

type class struct {
	id      int32
	runNs   int64            // after moves
	moved   findings.Lengths // after moves, run intervals that the goroutine ended itself
	how     [ways]int64
	marking int64 // of the moves, while the garbage collector marked
	worst   findings.Cell
	// The rest is known at the end.
	stayed findings.Lengths // as moved, of those without a move
	starts int64            // but first ones
	lost   int64            // ns: how much longer they ran because they moved
}

// How a goroutine came to another P.
const (
	stolen = iota
	global // by way of the global queue
	woken  // into the queue of the P where its waker ran, or by the network poller
	ways
)

func (w *watcher) gc(d *reference.Decision) { w.marking = d.Kind == reference.KindGCBegin }

func (w *watcher) move(s *findings.Run) {
	if s.Open {
		return
	}
	if g := w.view.Goroutine(); g != nil && g.Locked && g.ID == s.G {
		return // it goes where its thread gets a P: that is locked-thread-penalty's
	}
	c := w.classes.AtHash(s.Class, uint32(s.Class))
	if c == nil {
		return
	}
	c.runNs += s.Ns()
	switch s.Src {
	case reference.SrcSteal, reference.SrcStealRunnext:
		c.how[stolen]++
	case reference.SrcGlobal, reference.SrcGlobalTick:
		c.how[global]++
	default:
		c.how[woken]++
	}
	if w.marking {
		c.marking++
	}
	if s.Why == reference.WhyBlock || s.Why == reference.WhyExit || s.Why == reference.WhyGosched {
		c.moved.Add(s.Ns())
		if s.Ns() > c.worst.Ns && s.Ns() < w.t.RunNs {
			c.worst = findings.Cell{Class: s.Class, Ns: s.Ns(), From: s.From, To: s.To, G: s.G, P: s.P, Stack: s.Stack}
		}
	}
}

func (c *class) moves() int64 { return c.how[stolen] + c.how[global] + c.how[woken] }

// often reports whether the goroutines of the class change their P so often, and
// run so shortly, that it could matter.
func (w *watcher) often(c *class, f *findings.Facts) bool {
	return c.moved.N >= w.t.MinCount && c.stayed.N >= w.t.MinCount &&
		float64(c.moves()) > w.limit(f)*float64(c.starts) &&
		float64(c.moves()) >= w.t.Rate*float64(f.RecordedNs())/1e9 && c.runNs < w.t.RunNs*c.starts &&
		float64(c.moved.Median()) <= w.t.TooSlow*float64(c.stayed.Median())
}

// limit is the share of moves that is too much.
func (w *watcher) limit(f *findings.Facts) float64 {
	procs := float64(max(1, f.GOMAXPROCS))
	return w.t.Chance * (procs - 1) / procs
}

// extraNs is how much longer the class ran because it moved, ns.
func (w *watcher) extraNs(c *class) int64 {
	m, s := c.moved.Median(), c.stayed.Median()
	if float64(m) < w.t.Slower*float64(s) {
		return 0
	}
	return c.moved.N * (m - s)
}

func (w *watcher) Finish(f *findings.Facts) []findings.Finding {
	hits, all := w.count(f)
	if len(hits) == 0 {
		return nil
	}
	s, ok := w.t.Grade.Severity(all.lost, f.RecordedNs())
	switch {
	case !ok:
		// Next to nothing is lost: it is about the one that moves most.
		slices.SortStableFunc(hits, func(x, y *class) int { return cmp.Compare(y.moves(), x.moves()) })
		if float64(hits[0].moves()) < w.t.NoteRate*float64(f.RecordedNs())/1e9 {
			return nil
		}
		s = findings.Note
	case s == findings.Critical:
		s = findings.Warning // it is slower work, not a standstill
	}
	top := hits[0]
	x := findings.Finding{
		Severity: s, CostNs: all.lost, FromNs: top.worst.From, ToNs: top.worst.To, Basis: findings.Suspected, Feigned: findings.ByStall,
	}
	for _, h := range hits[:min(3, len(hits))] {
		x.Actors = append(x.Actors, h.worst.Actor(f, findings.Victim))
	}
	name := f.Name(top.id)
	how := "which took them no longer than on the last one"
	if top.lost > 0 {
		how = fmt.Sprintf("and ran for %s instead of %s (medians)", quantity.Duration(top.moved.Median()), quantity.Duration(top.stayed.Median()))
	}
	moved := quantity.Percent(float64(top.moves()) / float64(top.starts))
	x.Headline = findings.Say("%s moves to another P at %s of its starts", findings.Short(name), moved)
	x.Title = findings.Say("%s of the starts of %s were on another P than the last, %s", moved, name, how)
	x.Measured("starts on another P than the last", findings.Share(float64(all.moves())/float64(all.starts)), findings.Share(w.limit(f)))
	x.Measured("moves in a second", findings.Count(int64(float64(all.moves())/float64(max(1, f.RecordedNs()))*1e9)), findings.Count(int64(w.t.Rate)))
	x.MeasuredOf(findings.Say("mean run interval of %s", name), findings.Time(top.runNs/top.starts), findings.Time(w.t.RunNs))
	x.Measured("its median run interval after a move, by that without", findings.Times(float64(top.moved.Median())/float64(top.stayed.Median())), findings.Times(w.t.Slower))
	x.Measured("moves by a steal", findings.PartOf(all.how[stolen], all.moves()))
	x.Measured("moves by way of the global queue", findings.PartOf(all.how[global], all.moves()))
	x.Measured("moves because the waker ran elsewhere, or by the network poller", findings.PartOf(all.how[woken], all.moves()))
	if all.marking > 0 {
		x.Measured("moves while the garbage collector marked", findings.PartOf(all.marking, all.moves()))
	}
	switch {
	case 2*all.how[stolen] > all.moves():
		x.Advise("Most moves are steals: larger pieces of work, or fewer Ps, leave less to steal.")
	case 2*all.how[global] > all.moves():
		x.Advise("Most moves lead through the global queue: avoid runtime.Gosched, and bursts of more than 256 goroutines on one P.")
	default:
		x.Advise("Most moves follow the waker: a goroutine that is woken goes to the P where its waker runs. Keep those together that share data, by a queue for each group instead of one for all.")
	}
	x.Advise("Let %s do several steps at a time, so that the data it has loaded serves more of them.", name)
	return []findings.Finding{x}
}

// count gathers the classes whose moves matter, the costliest first, and the sum of these.
func (w *watcher) count(f *findings.Facts) (hits []*class, all class) {
	for _, c := range w.classes.List {
		known := w.view.ClassStat(c.id)
		c.stayed, c.starts = known.Kept(), c.moves()+known.Again
		c.runNs += known.AgainNs
		if !w.often(c, f) {
			continue
		}
		c.lost = w.extraNs(c)
		if c.lost == 0 && float64(c.moves()) < w.t.NoteRate*float64(f.RecordedNs())/1e9 {
			continue
		}
		hits = append(hits, c)
		all.lost += c.lost
		all.starts += c.starts
		all.marking += c.marking
		for k, m := range c.how {
			all.how[k] += m
		}
	}
	slices.SortStableFunc(hits, func(x, y *class) int {
		return cmp.Or(cmp.Compare(y.lost, x.lost), cmp.Compare(y.moves(), x.moves()))
	})
	return hits, all
}
