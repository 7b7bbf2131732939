// Package runnextmonopoly is the detector runnext-monopoly: did a few
// goroutines that wake one another keep a P from all others? doc.md explains it.
package runnextmonopoly

import (
	_ "embed"
	"slices"

	"github.com/gmpscope/gmpscope/analyze/findings"
	netpolldelay "github.com/gmpscope/gmpscope/analyze/findings/netpoll-delay"
	"github.com/gmpscope/gmpscope/analyze/findings/starvation"
	timerlateness "github.com/gmpscope/gmpscope/analyze/findings/timer-lateness"
	"github.com/gmpscope/gmpscope/analyze/waits"
	"github.com/gmpscope/gmpscope/reference"
)

//go:embed doc.md
var doc string

// ID of the detector.
const ID = "runnext-monopoly"

// Thresholds of the detector.
type Thresholds struct {
	Hops    int32 `json:"hops"`    // run intervals in one slice
	Parties int8  `json:"parties"` // by at most so many goroutines; at most 4
	// Relay is the share of a slice's run intervals that are the first ones of
	// goroutines just created, from which on it counts whoever takes part; and
	// Creator the share if the slice is of SevereNs or more: nearly half where
	// each comes after one of the goroutine that creates them all.
	Relay   float64 `json:"relay"`
	Creator float64 `json:"creator"`
	WaitNs  int64   `json:"wait_ns"` // somebody waited so long meanwhile
	// SevereNs and SevereShare: a slice so long, or this share of the duration in
	// such slices, is more than a note and may be critical.
	SevereNs    int64          `json:"severe_ns"`
	SevereShare float64        `json:"severe_share"`
	Grade       findings.Grade `json:"grade"`
}

// Default returns the default thresholds.
func Default() Thresholds {
	return Thresholds{Hops: 20, Parties: 3, Relay: 0.9, Creator: 0.4, WaitNs: 1_000_000, SevereNs: 10_000_000, SevereShare: 0.5, Grade: findings.DefaultGrade()}
}

// New returns the detector with thresholds t.
func New(t Thresholds) findings.Detector {
	return findings.Detector{
		ID: ID, Title: "few goroutines passing a P among themselves", Doc: doc,
		Kind: findings.KindCause, NeedsQueues: true, InLine: append(findings.Queued(), waits.CauseOvertaken),
		Explains: []string{starvation.ID, timerlateness.ID, netpolldelay.ID},
		Remedy:   findings.Remedy{Policy: "no-runnext", Why: "nobody overtakes by runnext, as if the parties did not talk at each step: the most that this advice can give"},
		New: func(view *findings.View) findings.Watcher {
			w := &watcher{t: t, view: view, at: map[parties]int{}}
			view.Slices(findings.SliceFilter{MinNs: t.WaitNs}, w.slice)
			return w
		},
	}
}

type watcher struct {
	t     Thresholds
	view  *findings.View
	cells []cell
	at    map[parties]int
}

// parties are the classes that take part, sorted; of a relay only the most
// frequent of those that the slice names.
type parties struct {
	classes [4]int32
	relay   bool
}

type cell struct {
	parties
	n       int64 // classes in it
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

const (
	maxCells = 1024
	// maxVictims is how many of a queue are looked at after one slice.
	maxVictims = 256
)

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
	var found [2 * maxVictims]findings.Cell
	n, yielded := 0, int64(0)
	look := func(p int32, by int64) {
		seen := 0
		w.view.Waiting(p, func(g *findings.Goroutine) bool {
			seen++
			over := s.To - max(w.view.QueuedAt(g), s.From)
			if over >= w.t.WaitNs && !slices.Contains(s.Gs[:min(int(s.N), len(s.Gs))], g.ID) {
				found[n] = findings.Cell{Class: g.Class, Ns: over / by, From: max(w.view.QueuedAt(g), s.From), To: s.To, G: g.ID, P: g.P, Stack: g.Stack}
				n++
				if g.Self {
					yielded++
				}
			}
			return seen < maxVictims
		})
	}
	look(s.P, 1)
	look(reference.NoP, w.view.Procs())
	if n == 0 {
		return
	}
	c := w.cell(s, relay)
	if c == nil {
		return
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
		for _, id := range s.Gs[:min(int(s.N), len(s.Gs))] {
			if g := w.view.ByID(id); g != nil {
				if i := slices.Index(s.Gs[:], g.Waker); i >= 0 {
					c.woke[i] = g.WakeStack
				}
			}
		}
	}
	for _, v := range found[:n] {
		c.victims.Add(&v)
	}
}

func (w *watcher) cell(s *findings.Slice, relay bool) *cell {
	k := parties{relay: relay}
	n := 1
	if !relay {
		n = int(s.N)
	}
	copy(k.classes[:n], s.Classes[:])
	slices.Sort(k.classes[:n])
	if relay {
		k.classes[0] = frequent(s.Classes[:min(int(s.N), len(s.Classes))])
	}
	i, ok := w.at[k]
	if !ok {
		if len(w.cells) >= maxCells {
			return nil
		}
		i = len(w.cells)
		w.cells = append(w.cells, cell{parties: k, n: int64(n)})
		w.at[k] = i
	}
	return &w.cells[i]
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
