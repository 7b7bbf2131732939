// Package blockedfinalizer is the detector blocked-finalizer: do finalizers wait for
// something, and all others for them? doc.md explains it.
package blockedfinalizer

import (
	"cmp"
	"slices"
	"strings"

	"github.com/gmpscope/gmpscope/analyze/findings"
	"github.com/gmpscope/gmpscope/analyze/findings/serialization"
	slowstage "github.com/gmpscope/gmpscope/analyze/findings/slow-stage"
	"github.com/gmpscope/gmpscope/internal/quantity"
	"github.com/gmpscope/gmpscope/reference"
)

// ID of the detector.
const ID = "blocked-finalizer"

// Thresholds of the detector.
type Thresholds struct {
	// MinNs is how long finalizers must have been blocked, in all.
	MinNs int64 `json:"min_ns"`
	// Shares of the recording for which they were.
	NoteShare     float64 `json:"note_share"`
	WarningShare  float64 `json:"warning_share"`
	CriticalShare float64 `json:"critical_share"`
}

// Default returns the default thresholds. All are our own.
func Default() Thresholds {
	return Thresholds{MinNs: 10_000_000, NoteShare: 0.05, WarningShare: 0.25, CriticalShare: 0.75}
}

// New returns the detector with thresholds t.
func New(t Thresholds) findings.Detector {
	return findings.Detector{
		ID: ID, Kind: findings.KindCause, CostOf: findings.OfBlocked,
		Explains: []string{slowstage.ID, serialization.ID},
		Remedy:   findings.Remedy{Why: "the model wakes goroutines in the order of the recording"},
		New: func(view *findings.View) findings.Watcher {
			w := &watcher{t: t, view: view, at: map[int32]int{}}
			view.Decisions(findings.DecisionFilter{Kinds: []reference.Kind{reference.KindReady}, When: findings.OfRuntime}, w.woken)
			return w
		},
	}
}

type watcher struct {
	t    Thresholds
	view *findings.View

	sites []site
	at    map[int32]int // by stack
}

// maxSites bounds memory; what comes later is not shown.
const maxSites = 1024

// site is a place where a goroutine of the runtime was blocked.
type site struct {
	stack, class int32
	g            int64
	n, ns        int64
	longest      int64
	from, to     int64 // of that
}

func (w *watcher) woken(*reference.Decision) {
	if g := w.view.Goroutine(); g.BlockedNs > 0 {
		w.blocked(g, g.BlockedNs)
	}
}

// blocked adds that g, of the runtime, has been blocked for the last ns.
func (w *watcher) blocked(g *findings.Goroutine, ns int64) {
	if !forProgram(g.Reason) {
		return
	}
	i, ok := w.at[g.Stack]
	if !ok {
		if len(w.sites) == maxSites {
			return
		}
		i = len(w.sites)
		w.sites = append(w.sites, site{stack: g.Stack, class: g.Class, g: g.ID})
		w.at[g.Stack] = i
	}
	s := &w.sites[i]
	s.n++
	s.ns += ns
	if now := w.view.Now(); ns > s.longest {
		s.longest, s.from, s.to, s.g = ns, now-ns, now, g.ID
	}
}

// forProgram reports whether a reason to block is one that the code of a program has, not
// the runtime's.
func forProgram(r reference.Reason) bool {
	switch r {
	case reference.ReasonForever, reference.ReasonNetwork, reference.ReasonSelect, reference.ReasonCond, reference.ReasonSync,
		reference.ReasonChanSend, reference.ReasonChanReceive, reference.ReasonSleep:
		return true
	}
	return false
}

// finalizer is the places where one function was blocked that finalizers call.
type finalizer struct {
	site     // the sums, and the longest of all
	function findings.Name
	place    string
	runner   findings.Name // of the runtime, that called it
}

func (w *watcher) Finish(f *findings.Facts) []findings.Finding {
	w.view.Blocked(func(g *findings.Goroutine) {
		if g.System {
			w.blocked(g, w.view.Now()-g.BlockedAt)
		}
	})
	var list []*finalizer
	for i := range w.sites {
		s := &w.sites[i]
		frames := f.Frames(s.stack)
		function, place := f.ProgramsFunction(s.stack)
		r := runner(frames)
		if r == "" || function == "" || function == r {
			continue
		}
		k := slices.IndexFunc(list, func(x *finalizer) bool { return x.function == function })
		if k < 0 {
			k = len(list)
			list = append(list, &finalizer{function: function, place: place, runner: r})
		}
		list[k].add(s)
	}
	if len(list) == 0 {
		return nil
	}
	slices.SortStableFunc(list, func(x, y *finalizer) int { return cmp.Compare(y.ns, x.ns) })
	return w.finding(f, list[0])
}

func (x *finalizer) add(s *site) {
	x.n += s.n
	x.ns += s.ns
	if s.longest > x.longest {
		x.longest, x.from, x.to, x.g, x.stack, x.class = s.longest, s.from, s.to, s.g, s.stack, s.class
	}
}

// runner returns the function of the runtime that called a finalizer or a cleanup, "" if
// none did: runfinq (Go 1.22 to 1.24) or runFinalizers (1.25 on) in mfinal.go, or
// runCleanups (1.25 on; before, runfinq calls those, too) in mcleanup.go.
func runner(frames []string) findings.Name {
	if len(frames) == 0 {
		return ""
	}
	function, _, _ := strings.Cut(frames[len(frames)-1], " ")
	switch function {
	case "runtime.runfinq", "runtime.runFinalizers", runCleanups:
		return findings.Name(function)
	}
	return ""
}

const runCleanups = "runtime.runCleanups"

func (w *watcher) finding(f *findings.Facts, x *finalizer) []findings.Finding {
	s, ok := findings.ByShare(f.Share(x.ns), w.t.NoteShare, w.t.WarningShare, w.t.CriticalShare)
	if !ok || x.ns < w.t.MinNs {
		return nil
	}
	a := f.Class(findings.Cause, x.class)
	a.G, a.Stack = x.g, f.Frames(x.stack)
	y := findings.Finding{
		Severity: s, CostNs: x.ns, FromNs: x.from, ToNs: x.to, Basis: findings.Certain, Actors: []findings.Actor{a},
	}
	what, others := "finalizer", "all others wait until it is done"
	if x.runner == runCleanups {
		what, others = "cleanup", "others may have to wait until it is done"
	}
	share := quantity.Percent(f.Share(x.ns))
	y.Headline = findings.Say("%s blocks in a %s, for %s of the time: %s", x.function, what, share, others)
	y.Title = findings.Say("%s, called by a %s, was blocked %s, for %s in all (%s of the time) and up to %s at a time: %s",
		x.function, what, quantity.Plural(x.n, "time", "times"), quantity.Duration(x.ns), share, quantity.Duration(x.longest), others)
	y.MeasuredOf(findings.Say("blocked in %s%s, in all", x.function, findings.At(" (%s)", x.place)), findings.Time(x.ns), findings.Time(w.t.MinNs))
	y.Measured("of the recording", findings.Share(f.Share(x.ns)).Of(x.ns), findings.Share(w.t.WarningShare))
	y.Measured("times", findings.Count(x.n))
	y.Measured("the longest", findings.Time(x.longest))
	y.Measured("called by", findings.Said("%s", x.runner))
	y.Advise("Release what %s releases with a call, such as Close, when it is not needed any more, and leave the %s for what was forgotten.", x.function, what)
	y.Advise("Let the %s only hand over, to a goroutine or a channel with room: what sleeps, locks or waits in it holds up everything that finalizers release, memory too.", what)
	return []findings.Finding{y}
}
