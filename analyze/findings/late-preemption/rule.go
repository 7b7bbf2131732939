// Package latepreemption is the detector late-preemption: did goroutines keep a
// P far beyond their time slice? doc.md explains it.
package latepreemption

import (
	"strings"

	"github.com/gmpscope/gmpscope/analyze/findings"
	"github.com/gmpscope/gmpscope/internal/quantity"
	"github.com/gmpscope/gmpscope/reference"
)

// ID names the detector in findings, in configuration files and for "gmpscope explain".
const ID = "late-preemption"

// Thresholds decide when the detector reports goroutines that kept a P far beyond their time
// slice. Fields whose names end in Ns are in nanoseconds; shares are fractions from 0 to 1.
type Thresholds struct {
	// SliceNs is the length from which on the end of a slice is late: the 10 ms
	// after which sysmon asks, and two of its sleeps of up to 10 ms.
	SliceNs int64 `json:"slice_ns"`
	// AskedNs is how long after the beginning of a slice the goroutine should have been asked to yield.
	AskedNs int64 `json:"asked_ns"`
	// LostNs is the length from which on it is late whatever ended it: a stop by
	// the goroutine itself excuses only a request that was still on its way.
	LostNs int64 `json:"lost_ns"`
	// Share is the share of late slices among the slices of a class that a preemption
	// ended, below which it may as well be a thread that had no CPU: code that
	// cannot be interrupted is late as a rule.
	Share float64 `json:"share"`
	// NoteCount and NoteNs: with nobody waiting, so many such slices, or one so
	// long, are worth a note.
	NoteCount int64          `json:"note_count"`
	NoteNs    int64          `json:"note_ns"`
	Grade     findings.Grade `json:"grade"` // severities, by the time that goroutines waited behind the late slices
}

// Default returns the thresholds that apply unless a configuration sets others.
func Default() Thresholds {
	return Thresholds{SliceNs: 30_000_000, AskedNs: 10_000_000, LostNs: 60_000_000, Share: 0.5, NoteCount: 5, NoteNs: 100_000_000, Grade: findings.DefaultGrade()}
}

// New returns the detector that reports goroutines that kept a P far beyond their time slice,
// with thresholds t.
func New(t Thresholds) findings.Detector {
	return findings.Detector{
		ID: ID, Kind: findings.KindCause, LongRuns: true, Delays: true,
		Remedy: findings.Remedy{Why: "the model preempts in time: the gain is in the split's excess"},
		New: func(view *findings.View) findings.Watcher {
			w := &watcher{t: t, view: view, classes: findings.NewTable(findings.MaxKept, newClass)}
			view.SliceParts(t.AskedNs, w.over)
			return w
		},
	}
}

type watcher struct {
	t       Thresholds
	view    *findings.View
	classes findings.Table[int32, class]
}

// class is that of the goroutine which ran longest in a slice.
type class struct {
	late      findings.Cell   // slices; the worst is the longest
	runs      int32           // in that
	preempted int64           // slices that a preemption ended, late or not
	by        [4]int64        // how they ended: preempted, stopped itself, world stopped, open
	stacks    map[int32]int64 // of those that were preempted, by where
	victims   findings.Tally
}

func newClass(id int32) class {
	return class{late: findings.Cell{Class: id}, stacks: map[int32]int64{}}
}

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
	c := w.classes.At(p.Class)
	if c == nil {
		return
	}
	if end == 0 {
		c.preempted++
	}
	if ns <= w.t.SliceNs {
		return
	}
	c.by[end]++
	if end == 0 {
		findings.CountIn(c.stacks, p.Stack, findings.MaxKept)
	}
	if ns > c.late.Worst {
		c.runs = p.Runs
	}
	c.late.Add(&findings.Cell{Ns: ns, From: p.From, To: p.To, G: p.G, P: p.P, Stack: p.Stack})
	for g, victim := range w.view.Behind(p.P, p.From+w.t.AskedNs, p.To) {
		if victim.Ns > 0 && !g.Self {
			c.victims.Add(&victim)
		}
	}
}

func (w *watcher) Finish(f *findings.Facts) []findings.Finding {
	return findings.Each(f, w.classes.List, w.finding)
}

// finding is about one class.
func (w *watcher) finding(f *findings.Facts, c *class) []findings.Finding {
	cost, n, longest := c.victims.Total.Ns, c.late.N, c.late.Worst
	s, ok := w.t.Grade.Severity(cost, f.RecordedNs())
	switch {
	case n == 0, n == 1 && longest < w.t.LostNs, !ok && n < w.t.NoteCount && longest < w.t.NoteNs:
		return nil
	case !ok:
		s = findings.Note
	}
	x := findings.Finding{
		Severity: s, CostNs: cost, FromNs: c.late.From, ToNs: c.late.To, Basis: findings.Inferred,
		Actors: append(c.victims.Actors(f, findings.Victim, 3), c.late.Actor(f, findings.Cause)),
	}
	records := f.Records() != nil // then time off the CPUs is left out
	anywhere := !records && c.anywhere(f)
	if !records && (anywhere || n == 1 || float64(c.by[0]) < w.t.Share*float64(c.preempted)) {
		x.Severity, x.Basis = findings.Note, findings.Suspected
	}
	name := f.Name(c.late.Class)
	x.Headline = findings.Say("%s runs on for up to %s, past the end of its time slice", findings.Short(name), quantity.Duration(longest))
	x.Title = findings.Say("%s kept a P for up to %s at a stretch, past the end of the time slice, %s",
		name, quantity.Duration(longest), quantity.Plural(n, "time", "times"))
	x.Measured("late slices", findings.Count(n), findings.Time(w.t.SliceNs).With(" each"))
	x.Measured("the longest", findings.Time(longest), findings.Time(w.t.SliceNs))
	x.Measured("run intervals in it", findings.Count(int64(c.runs)))
	x.Measured("its time after the request was due", findings.Time(longest-w.t.AskedNs))
	x.Measured("ended by a preemption", findings.Count(c.by[0]).With(" of %s that ended so, late or not", quantity.Count(c.preempted)))
	x.Measured("ended by the goroutine itself", findings.Count(c.by[1]), findings.Time(w.t.LostNs).With(" each"))
	x.Measured("ended by a stop for the runtime", findings.Count(c.by[2]), findings.Time(w.t.LostNs).With(" each"))
	x.Advise("Look at the stack for what cannot be interrupted: assembly, a large copy or clear, code of the runtime; or a program built or run with asynchronous preemption off (GODEBUG=asyncpreemptoff=1), where a loop without calls never yields.")
	x.Advise("Split such work, or call runtime.Gosched in the loop.")
	switch {
	case anywhere:
		x.AdviseOnly("Record again on a quiet machine: this code can be interrupted at many places, so its thread, or the runtime's watcher (sysmon), had no CPU for a while. Look for %s.", f.TakesCPUs())
	case !records:
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
	return []findings.Finding{x}
}

// anywhere reports whether late slices ended at no one place for half of the times: at signals, or at
// calls here and there. Such code can be interrupted, so the request was late, or its thread had no CPU.
func (c *class) anywhere(f *findings.Facts) bool {
	at := map[string]int64{}
	var most int64
	for stack, n := range c.stacks {
		if frames := f.Frames(stack); !findings.Signalled(frames) {
			frame := strings.Join(frames[:min(1, len(frames))], "")
			at[frame] += n
			most = max(most, at[frame])
		}
	}
	return c.by[0] > 0 && 2*most < c.by[0]
}
