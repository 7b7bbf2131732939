// Package latepreemption is the detector late-preemption: did goroutines keep a
// P far beyond their time slice? doc.md explains it.
package latepreemption

import (
	"strings"

	"github.com/gmpscope/gmpscope/analyze/findings"
	"github.com/gmpscope/gmpscope/internal/quantity"
	"github.com/gmpscope/gmpscope/reference"
)

// ID of the detector.
const ID = "late-preemption"

// Thresholds of the detector.
type Thresholds struct {
	// SliceNs is the length from which on the end of a slice is late: the 10 ms
	// after which sysmon asks, and two of its sleeps of up to 10 ms.
	SliceNs int64 `json:"slice_ns"`
	// AskedNs is when it should have been asked.
	AskedNs int64 `json:"asked_ns"`
	// LostNs is the length from which on it is late whatever ended it: a stop by
	// the goroutine itself excuses only a request that was still on its way.
	LostNs int64 `json:"lost_ns"`
	// Share is the share of late ones among the class's slices that a preemption
	// ended, below which it may as well be a thread that had no CPU: code that
	// cannot be interrupted is late as a rule.
	Share float64 `json:"share"`
	// NoteCount and NoteNs: with nobody waiting, so many such slices, or one so
	// long, are worth a note.
	NoteCount int64          `json:"note_count"`
	NoteNs    int64          `json:"note_ns"`
	Grade     findings.Grade `json:"grade"`
}

// Default returns the default thresholds.
func Default() Thresholds {
	return Thresholds{SliceNs: 30_000_000, AskedNs: 10_000_000, LostNs: 60_000_000, Share: 0.5, NoteCount: 5, NoteNs: 100_000_000, Grade: findings.DefaultGrade()}
}

// New returns the detector with thresholds t.
func New(t Thresholds) findings.Detector {
	return findings.Detector{
		ID: ID, Kind: findings.KindCause,
		LongRuns: true,
		Delays:   true,
		Remedy:   findings.Remedy{Why: "the model preempts in time: the gain is in the split's excess"},
		New: func(view *findings.View) findings.Watcher {
			w := &watcher{t: t, view: view, at: map[int32]int{}}
			view.SliceParts(t.AskedNs, w.over)
			return w
		},
	}
}

type watcher struct {
	t     Thresholds
	view  *findings.View
	cells []cell
	at    map[int32]int
}

// cell is the late slices of one class, that of the goroutine which ran longest.
type cell struct {
	class     int32
	preempted int64 // slices that a preemption ended, late or not
	n         int64
	ns        int64 // beyond AskedNs
	longest   longest
	by        [4]int64        // how they ended: preempted, stopped itself, world stopped, open
	stacks    map[int32]int64 // of those that were preempted, by where
	victims   findings.Tally
}

// longest is the slice part that was longest.
type longest struct {
	from, to, ns int64
	g            int64
	p, stack     int32
	runs         int32
}

const (
	maxCells   = 1024
	maxVictims = 256
	maxStacks  = 1024
)

// over judges a slice part.
func (w *watcher) over(p *findings.SlicePart) {
	ns := p.Ns()
	if p.System {
		return
	}
	end := 0
	switch p.Why {
	case reference.WhyBlock, reference.WhyExit, reference.WhyGosched, reference.WhyGoyield, reference.WhyCoroutine, reference.WhyLocked:
		end = 1
	case reference.WhySTW, reference.WhyGC, reference.WhyGeneration, reference.WhySuspend:
		end = 2
	case reference.WhyRetakeSlow, reference.WhyRetakeReturn, reference.WhySyscall:
		return // it was in a system call, which is no running
	}
	if p.Open {
		end = 3
	}
	if end != 0 && ns < w.t.LostNs {
		return // if not late, not known to have been asked either
	}
	i, ok := w.at[p.Class]
	if !ok {
		if len(w.cells) >= maxCells {
			return
		}
		i = len(w.cells)
		w.cells = append(w.cells, cell{class: p.Class, stacks: map[int32]int64{}})
		w.at[p.Class] = i
	}
	c := &w.cells[i]
	if end == 0 {
		c.preempted++
	}
	if ns <= w.t.SliceNs {
		return
	}
	c.n++
	c.ns += ns - w.t.AskedNs
	c.by[end]++
	if _, known := c.stacks[p.Stack]; end == 0 && (known || len(c.stacks) < maxStacks) {
		c.stacks[p.Stack]++
	}
	if ns > c.longest.ns {
		c.longest = longest{from: p.From, to: p.To, ns: ns, g: p.G, p: p.P, stack: p.Stack, runs: p.Runs}
	}
	late := p.From + w.t.AskedNs
	look := func(q int32, by int64) {
		seen := 0
		w.view.Waiting(q, func(g *findings.Goroutine) bool {
			seen++
			if over := (p.To - max(w.view.QueuedAt(g), late)) / by; over > 0 && !g.Self {
				c.victims.Add(&findings.Cell{Class: g.Class, Ns: over, From: max(w.view.QueuedAt(g), late), To: p.To, G: g.ID, P: g.P, Stack: g.Stack})
			}
			return seen < maxVictims
		})
	}
	look(p.P, 1)
	look(reference.NoP, w.view.Procs())
}

func (w *watcher) Finish(f *findings.Facts) []findings.Finding {
	var out []findings.Finding
	for i := range w.cells {
		if x, ok := w.finding(f, &w.cells[i]); ok {
			out = append(out, x)
		}
	}
	return out
}

// finding is about one class.
func (w *watcher) finding(f *findings.Facts, c *cell) (findings.Finding, bool) {
	cost := c.victims.Total.Ns
	s, ok := w.t.Grade.Severity(cost, f.RecordedNs())
	if !ok {
		if c.n < w.t.NoteCount && c.longest.ns < w.t.NoteNs {
			return findings.Finding{}, false
		}
		s = findings.Note
	}
	if c.n == 0 || c.n == 1 && c.longest.ns < w.t.LostNs {
		return findings.Finding{}, false
	}
	x := findings.Finding{
		Severity: s, CostNs: cost, FromNs: c.longest.from, ToNs: c.longest.to, Basis: findings.Inferred,
		Actors: c.victims.Actors(f, findings.Victim, 3),
	}
	a := f.Class(findings.Cause, c.class)
	a.G, a.P, a.Stack = c.longest.g, findings.OnP(c.longest.p), f.Frames(c.longest.stack)
	x.Actors = append(x.Actors, a)
	records := f.Records() != nil // then time off the CPUs is left out
	anywhere := !records && c.anywhere(f)
	if !records && (anywhere || c.n == 1 || float64(c.by[0]) < w.t.Share*float64(c.preempted)) {
		x.Severity, x.Basis = findings.Note, findings.Suspected
	}
	name, longest := f.Name(c.class), c.longest.ns
	x.Headline = findings.Say("%s runs on for up to %s, past the end of its time slice", findings.Short(name), quantity.Duration(longest))
	x.Title = findings.Say("%s kept a P for up to %s at a stretch, past the end of the time slice, %s",
		name, quantity.Duration(longest), quantity.Plural(c.n, "time", "times"))
	x.Measured("late slices", findings.Count(c.n), findings.Time(w.t.SliceNs).With(" each"))
	x.Measured("the longest", findings.Time(longest), findings.Time(w.t.SliceNs))
	x.Measured("run intervals in it", findings.Count(int64(c.longest.runs)))
	x.Measured("its time after the request was due", findings.Time(longest-w.t.AskedNs))
	x.Measured("ended by a preemption", findings.Count(c.by[0]).With(" of %s that ended so, late or not", quantity.Count(c.preempted)))
	x.Measured("ended by the goroutine itself", findings.Count(c.by[1]), findings.Time(w.t.LostNs).With(" each"))
	x.Measured("ended by a stop for the runtime", findings.Count(c.by[2]), findings.Time(w.t.LostNs).With(" each"))
	x.Advise("Look at the stack for what cannot be interrupted: assembly, a large copy or clear, code of the runtime; or a program built or run with asynchronous preemption off (GODEBUG=asyncpreemptoff=1), where a loop without calls never yields.")
	x.Advise("Split such work, or call runtime.Gosched in the loop.")
	switch {
	case anywhere:
		x.AdviseOnly("Record again on a quiet machine: this code can be interrupted at many places, so its thread, or the runtime's watcher (sysmon), had no CPU for a while. Look for %s.", f.TakesCPUs())
	case f.Records() == nil:
		x.Advise("If the stack is ordinary code, its thread, or the runtime's watcher (sysmon), had no CPU for a while: a CPU quota or too many threads for the machine. Compare with fewer Ps.")
	default:
		x.Measured("time without a CPU in it, by the kernel's records", findings.Said("left out"))
	}
	if c.by[3] > 0 {
		x.Measured("cut off by the end of the trace", findings.Count(c.by[3]))
	}
	if !records {
		x.Feigned = findings.ByStall
	}
	return x, true
}

// anywhere reports whether late slices ended at no one place for half of the times: at signals, or at
// calls here and there. Such code can be interrupted, so the request was late, or its thread had no CPU.
func (c *cell) anywhere(f *findings.Facts) bool {
	at := map[string]int64{}
	for stack, n := range c.stacks {
		if frames := f.Frames(stack); !findings.Signalled(frames) {
			at[strings.Join(frames[:min(1, len(frames))], "")] += n
		}
	}
	var most int64
	for _, n := range at {
		most = max(most, n)
	}
	return c.by[0] > 0 && 2*most < c.by[0]
}
