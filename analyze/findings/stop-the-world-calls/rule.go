// Package stoptheworldcalls is the detector stop-the-world-calls: does the program
// stop the world by itself, again and again? doc.md explains it.
package stoptheworldcalls

import (
	"cmp"
	"slices"
	"strings"

	"github.com/gmpscope/gmpscope/analyze/findings"
	gcdisplacement "github.com/gmpscope/gmpscope/analyze/findings/gc-displacement"
	runnextmonopoly "github.com/gmpscope/gmpscope/analyze/findings/runnext-monopoly"
	slowrestart "github.com/gmpscope/gmpscope/analyze/findings/slow-restart"
	"github.com/gmpscope/gmpscope/analyze/findings/starvation"
	timerlateness "github.com/gmpscope/gmpscope/analyze/findings/timer-lateness"
	"github.com/gmpscope/gmpscope/internal/quantity"
	"github.com/gmpscope/gmpscope/internal/std"
	"github.com/gmpscope/gmpscope/reference"
)

// ID of the detector.
const ID = "stop-the-world-calls"

// Thresholds of the detector.
type Thresholds struct {
	// MinCount is how many stops one function must have asked for, and PerSecond how
	// many a second.
	MinCount  int64   `json:"min_count"`
	PerSecond float64 `json:"per_second"`
	// Often is how many a second make it more than a note whatever they cost: what is
	// collected in such a call, the stacks of all goroutines for one, takes longer than
	// the stop.
	Often float64 `json:"often"`
	// WarningShare is the share of the duration, the marking of collections that were
	// asked for included, from which on it is more than a note.
	WarningShare float64        `json:"warning_share"`
	Grade        findings.Grade `json:"grade"`
}

// Default returns the default thresholds. All are our own: a metrics agent asks every
// ten seconds.
func Default() Thresholds {
	return Thresholds{MinCount: 5, PerSecond: 5, Often: 20, WarningShare: 0.01, Grade: findings.DefaultGrade()}
}

// New returns the detector with thresholds t.
func New(t Thresholds) findings.Detector {
	return findings.Detector{
		ID: ID, Kind: findings.KindCause, Counted: true, CostOf: findings.OfPTime,
		Explains: []string{starvation.ID, timerlateness.ID, slowrestart.ID, gcdisplacement.ID, runnextmonopoly.ID},
		Remedy:   findings.Remedy{Why: "the model stops a world when the recording did"},
		New: func(view *findings.View) findings.Watcher {
			w := &watcher{t: t, view: view, at: map[int32]int{}, begun: reference.NoG, by: reference.NoG, changer: -1}
			view.Decisions(findings.DecisionFilter{Kinds: []reference.Kind{reference.KindSTWBegin}}, w.begin)
			view.Decisions(findings.DecisionFilter{Kinds: []reference.Kind{reference.KindSTWEnd}}, w.end)
			view.Decisions(findings.DecisionFilter{Kinds: []reference.Kind{reference.KindGCBegin}}, w.mark)
			view.Decisions(findings.DecisionFilter{Kinds: []reference.Kind{reference.KindProcs}}, w.changed)
			w.caller = view.NewMark()
			view.Decisions(findings.DecisionFilter{Kinds: []reference.Kind{reference.KindStop}, Mark: w.caller}, w.stopped)
			return w
		},
	}
}

type watcher struct {
	t    Thresholds
	view *findings.View

	open    bool
	ended   int64              // when the last stop did
	request reference.Decision // that began the stop under way
	cycle   bool               // of the collector, begins in it
	begun   int64              // who began the last cycle, just before the stop for it; NoG: the stop has come
	cycles  int64
	caller  findings.Mark // of who asked last
	since   int64         // when it did; what it runs up to its next stop is taken for the call's work
	by      int64         // who it is; NoG: nobody, or it has stopped since
	last    int           // its site
	// changer is the site that set GOMAXPROCS last, -1 if none did, and taken is
	// View.TakenNs at that time.
	changer int
	taken   int64
	sites   []site
	at      map[int32]int // by stack
}

// maxSites bounds memory; what comes later is not shown.
const maxSites = 1024

// site is the stops that were asked for at one stack.
type site struct {
	stack, class int32
	n, ns        int64
	pNs          int64 // P-time: ns times GOMAXPROCS
	cycles       int64 // of the collector that began in them
	callNs       int64 // for which the caller ran on from a stop
	takenNs      int64 // View.TakenNs, of when GOMAXPROCS was as it had set it
	longest      int64
	from, to     int64 // of that
	g            int64
}

// mark notes a cycle of the collector: its goroutine stops the world next.
func (w *watcher) mark(d *reference.Decision) {
	w.cycles++
	w.begun = d.G
}

func (w *watcher) begin(d *reference.Decision) {
	w.open, w.request, w.cycle = true, *d, d.G >= 0 && d.G == w.begun
	w.begun = reference.NoG
}

func (w *watcher) site() *site {
	i, ok := w.at[w.request.Stack]
	if !ok {
		if len(w.sites) == maxSites {
			return nil
		}
		i = len(w.sites)
		w.sites = append(w.sites, site{stack: w.request.Stack})
		w.at[w.request.Stack] = i
		if g := w.view.ByID(w.request.G); g != nil {
			w.sites[i].class = g.Class
		}
	}
	return &w.sites[i]
}

func (w *watcher) end(d *reference.Decision) {
	if !w.open {
		return
	}
	w.open, w.ended = false, d.Time
	s := w.site()
	if s == nil {
		return
	}
	ns := d.Time - w.request.Time
	s.n++
	if w.cycle {
		s.cycles++
	}
	s.ns += ns
	s.pNs += ns * w.view.Procs()
	if ns > s.longest {
		s.longest, s.from, s.to, s.g = ns, w.request.Time, d.Time, w.request.G
	}
	if g := w.view.ByID(w.request.G); g != nil && w.by != g.ID {
		w.since, w.by, w.last = d.Time, g.ID, w.at[w.request.Stack]
		w.view.Mark(g.Slot(), w.caller)
	}
}

// changed notes who changed GOMAXPROCS, which comes with the end of a stop.
func (w *watcher) changed(d *reference.Decision) {
	w.bookTaken()
	w.changer = -1
	if i, ok := w.at[w.request.Stack]; ok && d.Time == w.ended {
		w.changer = i
	}
}

// bookTaken books the P-time that was missing to who set GOMAXPROCS last.
func (w *watcher) bookTaken() {
	now := w.view.TakenNs()
	if w.changer >= 0 {
		w.sites[w.changer].takenNs += now - w.taken
	}
	w.taken = now
}

// stopped is for the end of what the last caller ran.
func (w *watcher) stopped(d *reference.Decision) {
	if d.G != w.by {
		return
	}
	w.sites[w.last].callNs += min(d.Time-w.since, maxCallNs)
	w.by = reference.NoG
	w.view.Unmark(w.view.Slot(), w.caller)
}

// maxCallNs is the most that counts of one.
const maxCallNs = 20_000_000

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
type call struct {
	function findings.Name
	what     string
}

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
	t := &c.site
	rate := quantity.Number(c.perSecond)
	x.Headline = findings.Say("%s stops the world %s times a second (%s)", c.function, rate, c.what)
	if t.n < w.t.MinCount || c.perSecond < w.t.PerSecond {
		x.Headline = findings.Say("%s stops the world for up to %s at a time (%s)", c.function, quantity.Duration(t.longest), c.what)
	}
	x.Title = findings.Say("%s stops the world by calling %s: %s, %s a second, for up to %s",
		c.function, c.what, quantity.Plural(t.n, "time", "times"), rate, quantity.Duration(t.longest))
	x.MeasuredOf(findings.Say("stops that %s asked for%s", c.function, findings.At(" (%s)", c.place)), findings.Count(t.n), findings.Count(w.t.MinCount))
	x.Measured("a second", findings.Rate(c.perSecond), findings.Rate(w.t.PerSecond))
	x.Measured("the world stood still for them", findings.Time(t.ns).With(" (%s of the recording)", quantity.Percent(f.Share(t.ns))))
	x.Measured("the longest", findings.Time(t.longest))
	if t.callNs > 0 {
		x.Measured("its goroutine then ran on, summed", findings.Time(t.callNs))
	}
	switch {
	case t.takenNs > c.cost/2:
		taken := quantity.Duration(t.takenNs)
		x.Headline = findings.Say("%s changes GOMAXPROCS: %s of P-time taken from who waits", c.function, taken)
		x.Title = findings.Say("%s changes GOMAXPROCS, %s, %s a second; while it was lower than before goroutines waited for the Ps that were missing: %s of P-time",
			c.function, quantity.Plural(t.n, "time", "times"), rate, taken)
		x.Measured("P-time that was missing while goroutines waited", findings.Said("%s", taken).Of(t.takenNs))
		x.Advise("Leave GOMAXPROCS alone: take the call out of %s, or see what it decides by. An idle P costs next to nothing, and each change stops the world.", c.function)
	case t.cycles > 0:
		x.Measured("garbage collections that it began, and the P-time of their mark workers", findings.Count(t.cycles).With(", %s", quantity.Duration(c.markNs)).Of(c.markNs))
		x.Advise("Let the runtime decide when to collect: take the call out of %s; where memory must stay small, set GOMEMLIMIT (debug.SetMemoryLimit) or GOGC.", c.function)
	case c.what == "runtime.Stack":
		x.Advise("Have %s take a goroutine profile (runtime/pprof), which stops the world for a moment only, in place of runtime.Stack of all goroutines, or call that seldom.", c.function)
	default:
		x.Advise("Call %s seldom, or not at all: %s can read runtime/metrics, which stops nothing, for the size of the heap, the number of goroutines, pauses and latencies.", c.what, c.function)
	}
	x.Advise("What stops the world: runtime.ReadMemStats, runtime.GC and debug.FreeOSMemory, runtime.GOMAXPROCS with a number, profiles of goroutines, runtime.Stack of all of them. All goroutines wait until each P has stopped, and again until the Ps are back.")
	return x, true
}
