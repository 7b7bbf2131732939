// Package stoptheworldcalls is the detector stop-the-world-calls: does the program
// stop the world by itself, again and again? doc.md explains it.
package stoptheworldcalls

import (
	"github.com/gmpscope/gmpscope/analyze/findings"
	gcdisplacement "github.com/gmpscope/gmpscope/analyze/findings/gc-displacement"
	runnextmonopoly "github.com/gmpscope/gmpscope/analyze/findings/runnext-monopoly"
	slowrestart "github.com/gmpscope/gmpscope/analyze/findings/slow-restart"
	"github.com/gmpscope/gmpscope/analyze/findings/starvation"
	timerlateness "github.com/gmpscope/gmpscope/analyze/findings/timer-lateness"
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

// maxSites bounds memory; what comes later is not told.
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
