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

// ID names the detector in findings, in configuration files and for "gmpscope explain".
const ID = "stop-the-world-calls"

// Thresholds decide when the detector reports functions of the program that stop the world
// again and again. Times in Grade are in nanoseconds; shares are fractions from 0 to 1.
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
	Grade        findings.Grade `json:"grade"` // severities, by the P-time that the stops of one function took
}

// Default returns the thresholds that apply unless a configuration sets others. All are our
// own: a metrics agent asks every ten seconds.
func Default() Thresholds {
	return Thresholds{MinCount: 5, PerSecond: 5, Often: 20, WarningShare: 0.01, Grade: findings.DefaultGrade()}
}

// New returns the detector that reports functions of the program that stop the world again and
// again, with thresholds t.
func New(t Thresholds) findings.Detector {
	return findings.Detector{
		ID: ID, Kind: findings.KindCause, Counted: true, CostOf: findings.OfPTime,
		Explains: []string{starvation.ID, timerlateness.ID, slowrestart.ID, gcdisplacement.ID, runnextmonopoly.ID},
		Remedy:   findings.Remedy{Why: "the model stops a world when the recording did"},
		New: func(view *findings.View) findings.Watcher {
			w := &watcher{t: t, view: view, begun: reference.NoG, by: reference.NoG}
			w.sites = findings.NewTable(findings.MaxKept, w.newSite)
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
	last    *site         // where
	// changer is the site that set GOMAXPROCS last, nil if none did, and taken is
	// View.TakenNs at that time.
	changer *site
	taken   int64
	sites   findings.Table[int32, site] // by stack
}

// site is the stops that were asked for at one stack.
type site struct {
	findings.Cell
	pNs     int64 // P-time: Ns times GOMAXPROCS
	cycles  int64 // of the collector that began in them
	callNs  int64 // for which the caller ran on from a stop
	takenNs int64 // View.TakenNs, of when GOMAXPROCS was as it had set it
}

func (w *watcher) newSite(stack int32) (s site) {
	s.Stack = stack
	if g := w.view.ByID(w.request.G); g != nil {
		s.Class = g.Class
	}
	return s
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

func (w *watcher) end(d *reference.Decision) {
	if !w.open {
		return
	}
	w.open, w.ended = false, d.Time
	s := w.sites.At(w.request.Stack)
	if s == nil {
		return
	}
	ns := d.Time - w.request.Time
	if w.cycle {
		s.cycles++
	}
	s.pNs += ns * w.view.Procs()
	s.Add(&findings.Cell{Ns: ns, From: w.request.Time, To: d.Time, G: w.request.G, P: reference.NoP, Stack: s.Stack})
	if g := w.view.ByID(w.request.G); g != nil && w.by != g.ID {
		w.since, w.by, w.last = d.Time, g.ID, s
		w.view.Mark(g.Slot(), w.caller)
	}
}

// changed notes who changed GOMAXPROCS, which comes with the end of a stop.
func (w *watcher) changed(d *reference.Decision) {
	w.bookTaken()
	w.changer = nil
	if d.Time == w.ended {
		w.changer = w.sites.Find(w.request.Stack)
	}
}

// bookTaken books the P-time that was missing to who set GOMAXPROCS last.
func (w *watcher) bookTaken() {
	now := w.view.TakenNs()
	if w.changer != nil {
		w.changer.takenNs += now - w.taken
	}
	w.taken = now
}

// stopped is for the end of what the last caller ran.
func (w *watcher) stopped(d *reference.Decision) {
	if d.G != w.by {
		return
	}
	w.last.callNs += min(d.Time-w.since, maxCallNs)
	w.by = reference.NoG
	w.view.Unmark(w.view.Slot(), w.caller)
}

// maxCallNs is the most that counts of one.
const maxCallNs = 20_000_000

// caller is one function that asks for stops, by calling one of the library.
type caller struct {
	call
	site      // summed
	place     string
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
	byCall := findings.NewTable(findings.MaxKept, func(of call) caller { return caller{call: of} })
	for _, s := range w.sites.List {
		what, ok := requestedBy(f.Frames(s.Stack))
		if !ok || s.N == 0 {
			continue
		}
		if f.Part(s.Stack) == findings.Harness {
			f.LeftOut.Collections += s.cycles
			if what == "runtime.ReadMemStats" {
				f.LeftOut.Statistics += s.N
			}
			continue
		}
		function, place := f.ProgramsFunction(s.Stack)
		c := byCall.At(call{function, what})
		if c.N == 0 {
			c.place = place
		}
		c.Include(&s.Cell)
		c.pNs += s.pNs
		c.cycles += s.cycles
		c.callNs += s.callNs
		c.takenNs += s.takenNs
	}
	callers := byCall.List
	var marked int64 // P-time of the collector's mark workers
	for i := range f.Procs.Ps {
		marked += f.Procs.Ps[i].GCNs
	}
	for _, c := range callers {
		c.markNs = int64(float64(marked) * float64(c.cycles) / float64(max(1, w.cycles)))
		c.cost = c.pNs + c.markNs + c.callNs + c.takenNs
		c.perSecond = float64(c.N) / (float64(f.RecordedNs()) / 1e9)
	}
	slices.SortStableFunc(callers, func(x, y *caller) int {
		return cmp.Or(cmp.Compare(y.cost, x.cost), cmp.Compare(x.function, y.function), cmp.Compare(x.what, y.what))
	})
	return findings.Each(f, callers[:min(maxCallers, len(callers))], w.finding)
}

// maxCallers is how many are reported, the costliest ones.
const maxCallers = 2

// requestedBy reports whether a program asked for a stop by calling a function of the library,
// and which, though other packages of that may call it: not the collector, because it was time or because somebody allocated, nor
// who records this trace.
func requestedBy(frames []string) (what string, ok bool) {
	for _, fr := range frames {
		name := findings.FunctionOf(fr)
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
	return c.N >= 3 && c.Ns >= longStop*c.N && c.cycles == 0 && c.takenNs == 0
}

// finding is about one caller.
func (w *watcher) finding(f *findings.Facts, c *caller) []findings.Finding {
	few := c.N < w.t.MinCount || c.perSecond < w.t.PerSecond
	s, ok := w.t.Grade.Severity(c.cost, f.RecordedNs())
	if !ok || few && !c.long() {
		return nil
	}
	switch {
	case c.perSecond >= w.t.Often:
		if s == findings.Note {
			s = findings.Warning
		}
	case f.Share(c.cost) < w.t.WarningShare*float64(max(1, f.GOMAXPROCS)):
		s = findings.Note
	}
	x := findings.Finding{
		Severity: s, CostNs: c.cost, FromNs: c.From, ToNs: c.To, Basis: findings.Certain,
		Actors: []findings.Actor{c.Actor(f, findings.Cause)},
	}
	rate := quantity.Number(c.perSecond)
	x.Headline = findings.Say("%s stops the world %s times a second (%s)", c.function, rate, c.what)
	if few {
		x.Headline = findings.Say("%s stops the world for up to %s at a time (%s)", c.function, quantity.Duration(c.Worst), c.what)
	}
	x.Title = findings.Say("%s stops the world by calling %s: %s, %s a second, for up to %s",
		c.function, c.what, quantity.Plural(c.N, "time", "times"), rate, quantity.Duration(c.Worst))
	x.MeasuredOf(findings.Say("stops that %s asked for%s", c.function, findings.At(" (%s)", c.place)), findings.Count(c.N), findings.Count(w.t.MinCount))
	x.Measured("a second", findings.Rate(c.perSecond), findings.Rate(w.t.PerSecond))
	x.Measured("the world stood still for them", findings.Time(c.Ns).With(" (%s of the recording)", quantity.Percent(f.Share(c.Ns))))
	x.Measured("the longest", findings.Time(c.Worst))
	if c.callNs > 0 {
		x.Measured("its goroutine then ran on, summed", findings.Time(c.callNs))
	}
	switch {
	case c.takenNs > c.cost/2:
		taken := quantity.Duration(c.takenNs)
		x.Headline = findings.Say("%s changes GOMAXPROCS: %s of P-time taken from who waits", c.function, taken)
		x.Title = findings.Say("%s changes GOMAXPROCS, %s, %s a second; while it was lower than before goroutines waited for the Ps that were missing: %s of P-time",
			c.function, quantity.Plural(c.N, "time", "times"), rate, taken)
		x.Measured("P-time that was missing while goroutines waited", findings.Said("%s", taken).Of(c.takenNs))
		x.Advise("Leave GOMAXPROCS alone: take the call out of %s, or see what it decides by. An idle P costs next to nothing, and each change stops the world.", c.function)
	case c.cycles > 0:
		x.Measured("garbage collections that it began, and the P-time of their mark workers", findings.Count(c.cycles).With(", %s", quantity.Duration(c.markNs)).Of(c.markNs))
		x.Advise("Let the runtime decide when to collect: take the call out of %s; where memory must stay small, set GOMEMLIMIT (debug.SetMemoryLimit) or GOGC.", c.function)
	case c.what == "runtime.Stack":
		x.Advise("Have %s take a goroutine profile (runtime/pprof), which stops the world for a moment only, in place of runtime.Stack of all goroutines, or call that seldom.", c.function)
	default:
		x.Advise("Call %s seldom, or not at all: %s can read runtime/metrics, which stops nothing, for the size of the heap, the number of goroutines, pauses and latencies.", c.what, c.function)
	}
	x.Advise("What stops the world: runtime.ReadMemStats, runtime.GC and debug.FreeOSMemory, runtime.GOMAXPROCS with a number, profiles of goroutines, runtime.Stack of all of them. All goroutines wait until each P has stopped, and again until the Ps are back.")
	return []findings.Finding{x}
}
