package stoptheworldcalls

import (
	"cmp"
	"slices"
	"strings"

	"github.com/gmpscope/gmpscope/analyze/findings"
	"github.com/gmpscope/gmpscope/internal/std"
)

// caller is one function that asks for stops, by calling one of the library.
type caller struct {
	call
	place     string
	site      site  // summed, with the longest stop
	markNs    int64 // P-time of the mark workers in the cycles that it began
	cost      int64 // P-time
	perSecond float64
}

// call is who calls what.
type call struct{ function, what string }

func (w *watcher) Finish(f *findings.Facts) []findings.Finding {
	w.bookTaken()
	var callers []*caller
	byCall := map[call]*caller{}
	for i := range w.sites {
		s := &w.sites[i]
		what, ok := requestedBy(f.Frames(s.stack))
		if !ok || s.n == 0 {
			continue
		}
		if f.Part(s.stack) == findings.Harness {
			f.LeftOut.Collections += s.cycles
			if what == "runtime.ReadMemStats" {
				f.LeftOut.Statistics += s.n
			}
			continue
		}
		function, place := f.ProgramsFunction(s.stack)
		k := call{function, what}
		c := byCall[k]
		if c == nil {
			c = &caller{call: k, place: place, site: site{class: s.class, stack: s.stack}}
			byCall[k] = c
			callers = append(callers, c)
		}
		c.add(s)
	}
	marked := w.marked(f)
	for _, c := range callers {
		c.markNs = int64(float64(marked) * float64(c.site.cycles) / float64(max(1, w.cycles)))
		c.cost = c.site.pNs + c.markNs + c.site.callNs + c.site.takenNs
		c.perSecond = float64(c.site.n) / (float64(f.RecordedNs()) / 1e9)
	}
	slices.SortStableFunc(callers, func(x, y *caller) int {
		return cmp.Or(cmp.Compare(y.cost, x.cost), cmp.Compare(x.function, y.function), cmp.Compare(x.what, y.what))
	})
	var out []findings.Finding
	for _, c := range callers[:min(maxCallers, len(callers))] {
		if x, ok := w.finding(f, c); ok {
			out = append(out, x)
		}
	}
	return out
}

// maxCallers is how many are reported, the costliest ones.
const maxCallers = 2

func (c *caller) add(s *site) {
	t := &c.site
	t.n += s.n
	t.ns += s.ns
	t.pNs += s.pNs
	t.cycles += s.cycles
	t.callNs += s.callNs
	t.takenNs += s.takenNs
	if s.longest > t.longest {
		t.longest, t.from, t.to, t.g, t.stack, t.class = s.longest, s.from, s.to, s.g, s.stack, s.class
	}
}

// marked is the P-time of the collector's mark workers.
func (w *watcher) marked(f *findings.Facts) (ns int64) {
	for i := range f.Procs.Ps {
		ns += f.Procs.Ps[i].GCNs
	}
	return ns
}

// requestedBy reports whether a program asked for a stop by calling a function of the library,
// and which, though other packages of that may call it: not the collector, because it was time or because somebody allocated, nor
// who records this trace.
func requestedBy(frames []string) (what string, ok bool) {
	for _, fr := range frames {
		name, _, _ := strings.Cut(fr, " ")
		switch {
		case name == "runtime.mallocgc", name == "runtime.forcegchelper", strings.HasPrefix(name, "runtime.gcBgMarkWorker"),
			strings.HasPrefix(name, "runtime/trace."), strings.HasPrefix(name, "runtime.StartTrace"), strings.HasPrefix(name, "runtime.StopTrace"),
			strings.HasPrefix(name, "runtime.traceAdvance"):
			return "", false
		}
		pkg, _ := std.Split(name)
		if !std.Has(pkg) || what != "" && pkg != "runtime" && !strings.HasPrefix(pkg, "runtime/") {
			break
		}
		what = name
	}
	return what, what != "" && what != "runtime.main"
}

// longStop is how long stops must be on average, ns, so that three are enough: whatever was due
// meanwhile came so much late.
const longStop = 10_000_000

// long reports whether there were such stops, and not for a collection, or to change GOMAXPROCS.
func (c *caller) long() bool {
	return c.site.n >= 3 && c.site.ns >= longStop*c.site.n && c.site.cycles == 0 && c.site.takenNs == 0
}

// finding is about one caller.
func (w *watcher) finding(f *findings.Facts, c *caller) (findings.Finding, bool) {
	if few := c.site.n < w.t.MinCount || c.perSecond < w.t.PerSecond; few && !c.long() {
		return findings.Finding{}, false
	}
	s, ok := w.t.Grade.Severity(c.cost, f.RecordedNs())
	if !ok {
		return findings.Finding{}, false
	}
	switch {
	case c.perSecond >= w.t.Often:
		if s == findings.Note {
			s = findings.Warning
		}
	case f.Share(c.cost) < w.t.WarningShare*float64(max(1, f.GOMAXPROCS)):
		s = findings.Note
	}
	a := f.Class(findings.Cause, c.site.class)
	a.G, a.Stack = c.site.g, f.Frames(c.site.stack)
	x := findings.Finding{
		Severity: s, CostNs: c.cost, FromNs: c.site.from, ToNs: c.site.to, Basis: findings.Certain, Actors: []findings.Actor{a},
	}
	w.phrase(f, &x, c)
	return x, true
}
