// Package perfetto writes what the scheduler did as a trace for the Perfetto UI
// (ui.perfetto.dev) and its trace processor: docs/export.md has its tracks. It is one of the
// writers of [github.com/gmpscope/gmpscope/export].
//
// Times are those of dump: ns since the first event. Packets are not in the order of
// their times: a run interval is written when it is over.
package perfetto

import (
	"bufio"
	"fmt"
	"io"
	"math"

	"github.com/gmpscope/gmpscope/analyze/ledger"
	"github.com/gmpscope/gmpscope/analyze/waits"
	"github.com/gmpscope/gmpscope/export"
	"github.com/gmpscope/gmpscope/reference"
)

// Bounds against hostile input. Further threads and Ps have no track.
const (
	maxThreads = 1 << 14
	maxPs      = 1 << 13
)

// Writer writes the trace of an analysis, of which it is the [analyze.Observer]. Its
// memory depends on the number of goroutines alive at one time, of classes, Ps and threads.
type Writer struct {
	export.View
	out packets
	now int64

	tracks      uint64 // so many have a number
	ps, threads map[int64]*track
	global      gauge
	runnable    gauge
	left        int              // threads and Ps without a track
	classes     map[int32]uint64 // numbers of names of events
	annotations map[string]uint64
	lastFlow    uint64
	arrows      []arrows // by slot
}

type track struct {
	slices uint64
	queue  gauge // of a P
}

type gauge struct {
	name  string
	rank  int64  // among the others
	track uint64 // 0: none yet
	value int64  // that was written last
}

// arrows are the flows that end where a goroutine starts; 0 is none.
type arrows struct{ wake, steal uint64 }

// Numbers of the tracks that others are part of, and of those there is one of.
const (
	psTrack = iota + 1
	threadsTrack
	queuesTrack
	findingsTrack
	traceTrack
	lastFixed
)

// NewWriter returns a Writer to out.
func NewWriter(out io.Writer) *Writer {
	return &Writer{
		out: packets{w: bufio.NewWriterSize(out, 256<<10)},
		ps:  map[int64]*track{}, threads: map[int64]*track{}, tracks: lastFixed,
		global: gauge{name: "global run queue", rank: -1}, runnable: gauge{name: "runnable", rank: -2},
		classes: map[int32]uint64{}, annotations: map[string]uint64{},
	}
}

// Observe writes the decisions of a block. It implements [analyze.Observer].
func (w *Writer) Observe(b *ledger.Block, _ []waits.EndedWait) error {
	if !w.out.begun {
		w.describe()
	}
	if int(b.Slots) > len(w.arrows) {
		w.arrows = append(w.arrows, make([]arrows, int(b.Slots)-len(w.arrows))...)
	}
	runs := b.Runs
	for i := range b.Decisions {
		if b.Decisions[i].Kind.Annotates() {
			continue
		}
		w.now = max(w.now, b.Decisions[i].Time)
		for ; len(runs) > 0 && int(runs[0].At) == i; runs = runs[1:] {
			w.run(b, &runs[0])
		}
		if w.Has(w.now) {
			w.decision(b, i)
		}
	}
	for i := range runs { // at the end of the trace
		w.run(b, &runs[i])
	}
	_, err := w.out.w.Write(nil)
	return err
}

// describe writes the tracks that do not depend on the trace.
func (w *Writer) describe() {
	for _, d := range []descriptor{
		{uuid: traceTrack, name: "trace"},
		{uuid: findingsTrack, name: "findings"},
		{uuid: queuesTrack, name: "queues", ordered: true},
		{uuid: psTrack, name: "Ps", ordered: true},
		{uuid: threadsTrack, name: "threads", ordered: true},
	} {
		w.out.describe(&d)
	}
	for _, name := range []string{noteG, noteSource, noteWait, noteWhy, noteThief, noteBatch} {
		w.annotation(name)
	}
}

// The names of annotations that come often.
const (
	noteG      = "goroutine"
	noteSource = "source"
	noteWait   = "wait_ns"
	noteWhy    = "why"
	noteThief  = "thief"
	noteBatch  = "batch"
)

// decision writes the counters and the beginnings of arrows.
func (w *Writer) decision(b *ledger.Block, i int) {
	d, n := &b.Decisions[i], &b.Notes[i]
	if n.Changed&ledger.Turned != 0 {
		switch n.Now {
		case ledger.Runnable:
			w.wake(b, i)
		case ledger.Running:
			w.steal(d, n)
		}
	}
	if !w.Reduced {
		if p := w.p(d.P); p != nil {
			w.count(&p.queue, int64(d.Local))
		}
		w.count(&w.global, int64(d.Global))
	}
	w.count(&w.runnable, int64(n.Runnable))
}

// count writes the value of a counter if it is another than the last.
func (w *Writer) count(c *gauge, value int64) {
	switch {
	case c.track == 0:
		c.track = w.newTrack()
		w.out.describe(&descriptor{uuid: c.track, parent: queuesTrack, name: c.name, counts: true, rank: c.rank})
	case c.value == value:
		return
	}
	c.value = value
	w.out.add(&event{at: w.now, kind: counter, track: c.track, value: value})
}

// wake begins the arrow to a goroutine from the one that made it runnable.
func (w *Writer) wake(b *ledger.Block, i int) {
	d, n := &b.Decisions[i], &b.Notes[i]
	w.arrows[n.G].wake = 0
	on := b.WakerP(i)
	if on < 0 || !w.Chosen(d.G, d.Class) {
		return
	}
	if p := w.p(on); p != nil {
		w.arrows[n.G].wake = w.arrow(p, "wakes", d.G)
	}
}

// steal begins the arrow to a goroutine that starts from the P that it was stolen from.
func (w *Writer) steal(d *reference.Decision, n *ledger.Note) {
	if d.Src != reference.SrcSteal && d.Src != reference.SrcStealRunnext || !w.Chosen(d.G, d.Class) {
		return
	}
	if p := w.p(d.Victim); p != nil {
		w.noteInt(noteThief, int64(d.P))
		w.noteInt(noteBatch, int64(d.Batch))
		w.arrows[n.G].steal = w.arrow(p, "stolen", d.G)
	}
}

// arrow writes an instant on the track of a P, about goroutine g, from which an arrow
// begins, and returns the number of the arrow.
func (w *Writer) arrow(p *track, name string, g int64) uint64 {
	w.lastFlow++
	w.noteInt(noteG, g)
	w.out.add(&event{at: w.now, kind: instant, track: p.slices, name: name, flows: []uint64{w.lastFlow}})
	return w.lastFlow
}

// run writes a run interval, on the tracks of its P and its thread.
func (w *Writer) run(b *ledger.Block, r *ledger.Run) {
	a, class := w.arrows[r.Slot], b.Classes[r.Class]
	w.arrows[r.Slot] = arrows{}
	from, to, ok := w.Cut(r.From, r.To)
	if !ok || !w.Chosen(r.G, class) {
		return
	}
	name := w.class(class)
	if p := w.p(r.P); p != nil {
		begin := event{at: from, kind: sliceBegin, track: p.slices, nameIID: name}
		for _, id := range []uint64{a.wake, a.steal} {
			if id != 0 && from == r.From {
				begin.terminating = append(begin.terminating, id)
			}
		}
		w.note(r)
		w.slice(&begin, to)
	}
	if m := w.track(w.threads, r.M, maxThreads, threadsTrack, "thread"); m != nil {
		w.noteInt(noteG, r.G)
		w.slice(&event{at: from, kind: sliceBegin, track: m.slices, nameIID: name}, to)
	}
}

func (w *Writer) note(r *ledger.Run) {
	w.noteInt(noteG, r.G)
	if r.Started {
		w.noteText(noteSource, r.Src.String())
	}
	if r.Wait >= 0 {
		w.noteInt(noteWait, r.Wait)
	}
	if r.Why != reference.WhyUnknown {
		w.noteText(noteWhy, r.Why.String())
	}
}

// slice writes the beginning of a slice, and its end.
func (w *Writer) slice(begin *event, to int64) {
	w.out.add(begin)
	w.out.add(&event{at: to, kind: sliceEnd, track: begin.track})
}

// class returns the number of the name of a class.
func (w *Writer) class(class int32) uint64 {
	return intern(&w.out, w.classes, internedEventNames, class, func() string { return w.Class(class) })
}

// p returns the track of a P; nil if it has none.
func (w *Writer) p(p int32) *track { return w.track(w.ps, int64(p), maxPs, psTrack, "P") }

// track returns the track of a P or a thread, of which at most most have one; nil if it has none.
func (w *Writer) track(of map[int64]*track, id int64, most int, parent uint64, kind string) *track {
	if t := of[id]; t != nil || id < 0 {
		return t
	}
	if len(of) == most {
		w.left++
		return nil
	}
	name, rank := fmt.Sprintf("%s %d", kind, id), min(id, math.MaxInt32)
	t := &track{slices: w.newTrack(), queue: gauge{name: name + " run queue", rank: rank}}
	of[id] = t
	w.out.describe(&descriptor{uuid: t.slices, parent: parent, name: name, rank: rank})
	return t
}

func (w *Writer) newTrack() uint64 {
	w.tracks++
	return w.tracks
}
