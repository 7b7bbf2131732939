// Package blockedfinalizer is the detector blocked-finalizer: do finalizers wait for
// something, and all others for them? doc.md explains it.
package blockedfinalizer

import (
	"cmp"
	"slices"

	"github.com/gmpscope/gmpscope/analyze/findings"
	"github.com/gmpscope/gmpscope/analyze/findings/serialization"
	slowstage "github.com/gmpscope/gmpscope/analyze/findings/slow-stage"
	"github.com/gmpscope/gmpscope/internal/quantity"
	"github.com/gmpscope/gmpscope/reference"
)

// ID names the detector in findings, in configuration files and for "gmpscope explain".
const ID = "blocked-finalizer"

// Thresholds decide when the detector reports finalizers and cleanups that are blocked. Fields
// whose names end in Ns are in nanoseconds; shares are fractions from 0 to 1.
type Thresholds struct {
	// MinNs is how long finalizers must have been blocked, in all.
	MinNs int64 `json:"min_ns"`
	// Least shares of the recording in which finalizers were blocked.
	NoteShare     float64 `json:"note_share"`
	WarningShare  float64 `json:"warning_share"`
	CriticalShare float64 `json:"critical_share"`
}

// Default returns the thresholds that apply unless a configuration sets others. All are our
// own.
func Default() Thresholds {
	return Thresholds{MinNs: 10_000_000, NoteShare: 0.05, WarningShare: 0.25, CriticalShare: 0.75}
}

// New returns the detector that reports finalizers and cleanups that are blocked, with
// thresholds t.
func New(t Thresholds) findings.Detector {
	return findings.Detector{
		ID: ID, Kind: findings.KindCause, CostOf: findings.OfBlocked,
		Explains: []string{slowstage.ID, serialization.ID},
		Remedy:   findings.Remedy{Why: "the model wakes goroutines in the order of the recording"},
		New: func(view *findings.View) findings.Watcher {
			w := &watcher{t: t, view: view, sites: findings.NewTable(findings.MaxKept, newSite)}
			view.Decisions(findings.DecisionFilter{Kinds: []reference.Kind{reference.KindReady}, When: findings.OfRuntime}, w.woken)
			return w
		},
	}
}

type watcher struct {
	t    Thresholds
	view *findings.View

	sites findings.Table[int32, findings.Cell] // where goroutines of the runtime were blocked, by stack
}

func newSite(stack int32) findings.Cell { return findings.Cell{Stack: stack} }

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
	s := w.sites.At(g.Stack)
	if s == nil {
		return
	}
	if s.N == 0 {
		s.Class = g.Class
	}
	now := w.view.Now()
	s.Add(&findings.Cell{Ns: ns, From: now - ns, To: now, G: g.ID, P: reference.NoP, Stack: g.Stack})
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

// finalizer is a function that finalizers call and that was blocked.
type finalizer struct {
	findings.Cell
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
	list := findings.NewTable(findings.MaxKept, func(function findings.Name) finalizer { return finalizer{function: function} })
	for _, s := range w.sites.List {
		function, place := f.ProgramsFunction(s.Stack)
		r := runner(f.Frames(s.Stack))
		if r == "" || function == "" || function == r {
			continue
		}
		x := list.At(function)
		if x.N == 0 {
			x.place, x.runner = place, r
		}
		x.Include(s)
	}
	if len(list.List) == 0 {
		return nil
	}
	return w.finding(f, slices.MaxFunc(list.List, func(x, y *finalizer) int { return cmp.Compare(x.Ns, y.Ns) }))
}

// runner returns the function of the runtime that called a finalizer or a cleanup, "" if
// none did: runfinq (Go 1.22 to 1.24) or runFinalizers (1.25 on) in mfinal.go, or
// runCleanups (1.25 on; before, runfinq calls those, too) in mcleanup.go.
func runner(frames []string) findings.Name {
	if len(frames) == 0 {
		return ""
	}
	switch function := findings.FunctionOf(frames[len(frames)-1]); function {
	case "runtime.runfinq", "runtime.runFinalizers", runCleanups:
		return findings.Name(function)
	}
	return ""
}

const runCleanups = "runtime.runCleanups"

func (w *watcher) finding(f *findings.Facts, x *finalizer) []findings.Finding {
	s, ok := findings.ByShare(f.Share(x.Ns), w.t.NoteShare, w.t.WarningShare, w.t.CriticalShare)
	if !ok || x.Ns < w.t.MinNs {
		return nil
	}
	y := x.Finding(s, findings.Certain)
	y.Actors = []findings.Actor{x.Actor(f, findings.Cause)}
	what, others := "finalizer", "all others wait until it is done"
	if x.runner == runCleanups {
		what, others = "cleanup", "others may have to wait until it is done"
	}
	share := quantity.Percent(f.Share(x.Ns))
	y.Headline = findings.Say("%s blocks in a %s, for %s of the time: %s", x.function, what, share, others)
	y.Title = findings.Say("%s, called by a %s, was blocked %s, for %s in all (%s of the time) and up to %s at a time: %s",
		x.function, what, quantity.Plural(x.N, "time", "times"), quantity.Duration(x.Ns), share, quantity.Duration(x.Worst), others)
	y.MeasuredOf(findings.Say("blocked in %s%s, in all", x.function, findings.At(" (%s)", x.place)), findings.Time(x.Ns), findings.Time(w.t.MinNs))
	y.Measured("of the recording", findings.Share(f.Share(x.Ns)).Of(x.Ns), findings.Share(w.t.WarningShare))
	y.Measured("times", findings.Count(x.N))
	y.Measured("the longest", findings.Time(x.Worst))
	y.Measured("called by", findings.Said("%s", x.runner))
	y.Advise("Release what %s releases with a call, such as Close, when it is not needed any more, and leave the %s for what was forgotten.", x.function, what)
	y.Advise("Let the %s only hand over, to a goroutine or a channel with room: what sleeps, locks or waits in it holds up everything that finalizers release, memory too.", what)
	return []findings.Finding{y}
}
