package analyze

import (
	"context"
	"fmt"
	"maps"
	"slices"

	"github.com/gmpscope/gmpscope/analyze/focus"
	"github.com/gmpscope/gmpscope/analyze/input"
	"github.com/gmpscope/gmpscope/analyze/sidecar"
	"github.com/gmpscope/gmpscope/internal/quantity"
	"github.com/gmpscope/gmpscope/reference"
)

// FocusOnTasks reads a trace and returns the part of it that is about the tasks
// (runtime/trace.NewTask) with the IDs in tasks, for Options.Focus: from the first beginning
// to the last end, and the goroutines that began them, were in regions of them, or logged
// for them. It is an error if one of them does not begin in the trace. src is read to its
// end; Run needs it anew.
func FocusOnTasks(ctx context.Context, src *input.Source, o Options, tasks []int64) (f focus.Focus, err error) {
	w := newWantedTasks()
	for _, id := range tasks {
		w.open[id] = false
	}
	return focusOn(ctx, src, o, w)
}

// FocusOnTraceID returns the part of a trace that is about the tasks with the ID of a distributed trace
// in Options.TraceID, as [FocusOnTasks] does for IDs of tasks. It is an error if the trace has none.
func FocusOnTraceID(ctx context.Context, src *input.Source, o Options) (focus.Focus, error) {
	w := newWantedTasks()
	w.message = traceIDMessage(o.TraceID)
	f, err := focusOn(ctx, src, o, w)
	if err == nil && w.began == 0 {
		return f, fmt.Errorf("reading %s: no task of that trace ID begins in it: it has %s", src.Name(), quantity.Plural(w.known, "task", "tasks"))
	}
	return f, err
}

func focusOn(ctx context.Context, src *input.Source, o Options, w *wantedTasks) (f focus.Focus, err error) {
	defer catch(src, &err)
	a := newAnalysis(ctx, src, Options{Workers: o.Workers, Rules: o.Rules, MaxMemory: o.MaxMemory, DecisionsOnly: true, OnEvents: o.OnEvents, TraceID: o.TraceID})
	a.task, w.text = w, a.label
	defer a.stream.Close()
	defer a.steps.wait()
	if err := a.read(ctx); err != nil {
		return f, err
	}
	if err := a.finish(); err != nil {
		return f, err
	}
	return a.task.focus(a.stream.Stats().End, src.Name())
}

// wantedTasks are tasks that are looked for.
type wantedTasks struct {
	open       map[int64]bool // by number: whether it is under way
	began      int            // how many of them
	from, to   int64          // ns; of those that began
	last       int64          // number of a task that the trace has
	known      int64          // how many it has
	goroutines map[int64]bool

	// Those with a message are wanted, if there is one: they begin before they are known.
	message string
	text    func(label int32) string
	under   map[int64]beginning // tasks that are under way, by number
}

// traceIDMessage is the message of a task with the ID of a distributed trace; "" for none.
func traceIDMessage(id string) string {
	if id == "" {
		return ""
	}
	return sidecar.TraceIDKey + ": " + id
}

// beginning is where a task begins.
type beginning struct{ at, g int64 }

func newWantedTasks() *wantedTasks {
	return &wantedTasks{open: map[int64]bool{}, goroutines: map[int64]bool{}, under: map[int64]beginning{}}
}

func (w *wantedTasks) follow(ds []reference.Decision) {
	for i := range ds {
		if d := &ds[i]; d.Kind.Annotates() {
			w.annotated(d)
		}
	}
}

func (w *wantedTasks) annotated(d *reference.Decision) {
	if d.Kind == reference.KindTaskBegin {
		w.known++
		w.last = d.By
	}
	if w.message != "" {
		w.look(d)
	}
	under, wanted := w.open[d.By]
	if !wanted || d.By == 0 {
		return
	}
	switch {
	case d.Kind == reference.KindTaskBegin:
		w.begin(d.By, d.Time)
	case d.Kind == reference.KindTaskEnd && under:
		w.open[d.By] = false
		w.to = max(w.to, d.Time)
		return
	}
	w.goroutines[d.G] = true
}

// begin processes the beginning of a task that is wanted.
func (w *wantedTasks) begin(task, at int64) {
	if w.began == 0 || at < w.from {
		w.from = at
	}
	w.began++
	w.open[task] = true
}

// look finds the tasks that have the message.
func (w *wantedTasks) look(d *reference.Decision) {
	switch d.Kind {
	case reference.KindTaskBegin:
		w.under[d.By] = beginning{d.Time, d.G}
	case reference.KindTaskEnd:
		delete(w.under, d.By)
	case reference.KindLog:
		if b, ok := w.under[d.By]; ok && w.text(d.Label) == w.message && !w.open[d.By] {
			w.begin(d.By, b.at)
			w.goroutines[b.g] = true
		}
	}
}

// focus is the part of the trace, which ends at end, that is about them.
func (w *wantedTasks) focus(end int64, trace string) (focus.Focus, error) {
	for id, under := range w.open {
		switch {
		case under:
			w.to = end
		case w.began < len(w.open) && w.known == 0:
			return focus.Focus{}, fmt.Errorf("reading %s: no task %d: the program marks none (runtime/trace.NewTask)", trace, id)
		case w.began < len(w.open):
			return focus.Focus{}, fmt.Errorf("reading %s: not all of those tasks begin in it: %s do, up to number %d; Work in gmpscope analyze names the slowest", trace, quantity.Plural(w.known, "task", "tasks"), w.last)
		}
	}
	return focus.Focus{From: w.from, To: max(w.to, w.from+1), Goroutines: slices.Sorted(maps.Keys(w.goroutines))}, nil
}
