package blockedfinalizer

import (
	"cmp"
	"slices"
	"strings"

	"github.com/gmpscope/gmpscope/analyze/findings"
)

// finalizer is the places where one function was blocked that finalizers call.
type finalizer struct {
	site            // the sums, and the longest of all
	function, place string
	runner          string // of the runtime, that called it
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
func runner(frames []string) string {
	if len(frames) == 0 {
		return ""
	}
	function, _, _ := strings.Cut(frames[len(frames)-1], " ")
	switch function {
	case "runtime.runfinq", "runtime.runFinalizers", runCleanups:
		return function
	}
	return ""
}

const runCleanups = "runtime.runCleanups"

func (w *watcher) finding(f *findings.Facts, x *finalizer) []findings.Finding {
	var s findings.Severity
	switch share := f.Share(x.ns); {
	case x.ns < w.t.MinNs || share < w.t.NoteShare:
		return nil
	case share >= w.t.CriticalShare:
		s = findings.Critical
	case share >= w.t.WarningShare:
		s = findings.Warning
	default:
		s = findings.Note
	}
	a := f.Class(findings.Cause, x.class)
	a.G, a.Stack = x.g, f.Frames(x.stack)
	y := findings.Finding{
		ID: ID, Severity: s, CostNs: x.ns, FromNs: x.from, ToNs: x.to, Basis: findings.Certain, Actors: []findings.Actor{a},
	}
	w.phrase(f, &y, x)
	f.SoftenIfBrief(&y)
	return []findings.Finding{y}
}
