package analyze

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/gmpscope/gmpscope/analyze/events"
	"github.com/gmpscope/gmpscope/analyze/focus"
	"github.com/gmpscope/gmpscope/analyze/input"
	"github.com/gmpscope/gmpscope/analyze/work"
	"github.com/gmpscope/gmpscope/internal/funcname"
	"github.com/gmpscope/gmpscope/internal/names"
	"github.com/gmpscope/gmpscope/internal/quantity"
)

// units is how units of work are found.
func (a *analysis) units() work.Options {
	o := work.Options{
		Frames: func(stack int32) []*work.Frame { return a.workFrames(a.viewed.Frames(events.Handle(stack))) },
		Class: func(class int32) work.Class {
			n := a.className(class)
			return work.Class{Name: whatRuns(n.own), Start: n.start, Does: n.does, Creator: n.creator, Call: n.call}
		},
		Label:  func(label int32) string { return a.viewed.Name(events.Handle(label)) },
		Part:   a.part(),
		OnUnit: a.OnUnit,
		Limits: a.limits.work,
	}
	if len(a.Homes) > 0 {
		o.IsHome = a.isHome
	}
	return o
}

// whatRuns returns the function in the name of a class if that is known; else the name.
func whatRuns(class string) string {
	if what, _, _ := funcname.Cut(class); what != funcname.NotShown {
		return what
	}
	return class
}

// homeRule is one of Options.Homes.
type homeRule struct {
	class, function *focus.Selection
	used            bool
}

// isHome reports whether goroutines with a start function wait for something to do in a function,
// by Options.Homes.
func (a *analysis) isHome(start, function string) (is bool) {
	if a.homes == nil {
		for _, h := range a.Homes {
			class, function, _ := strings.Cut(h, "@")
			a.homes = append(a.homes, homeRule{class: focus.NewSelection(focus.Focus{Classes: []string{class}}, nil), function: focus.NewSelection(focus.Focus{Classes: []string{function}}, nil)})
		}
	}
	for i := range a.homes {
		if h := &a.homes[i]; h.class.Named(start) && h.function.Named(function) {
			h.used, is = true, true
		}
	}
	return is
}

// unusedHomes returns warnings of Options.Homes at which no goroutine waits.
func (a *analysis) unusedHomes() (out []string) {
	for i := range a.Homes { // they are not named: the output may be anonymous
		if i >= len(a.homes) || !a.homes[i].used {
			out = append(out, fmt.Sprintf("home number %d that was given: no goroutine of such a class waits in such a function", i+1))
		}
	}
	return out
}

func (a *analysis) addWork(b *block) {
	a.viewed = b.view
	a.work.Swept(b.swept)
	a.work.Add(&b.Block, b.waited)
}

// workOf ends the units of work at the end of the trace.
func (a *analysis) workOf(end, recorded int64) work.Units {
	if a.work == nil {
		return work.Units{Kinds: []work.UnitKind{}}
	}
	return a.work.Finish(end, recorded, work.Names{Function: a.Anonymize.Function, Class: func(id int32) string { name, _ := a.class(id); return whatRuns(name) }, Label: a.annotation, Log: a.logged})
}

// Unit returns u with its class and kind replaced as in a [Result], for Options.OnUnit, whose units
// have the names of the program.
func (n *Pseudonyms) Unit(u work.Unit) work.Unit {
	if u.How == 0 { // of many kinds together
		return u
	}
	u.Class = n.Function(u.Class)
	if u.How == work.Task || u.How == work.Region {
		u.Kind = n.Annotation(u.Kind)
		return u
	}
	kind, class, ok := strings.Cut(u.Kind, work.For)
	if u.Kind = n.Function(kind); ok {
		u.Kind += work.For + n.Function(class)
	}
	return u
}

// workFrames returns the frames of a stack, valid until it is called again.
func (a *analysis) workFrames(stack []*events.Frame) []*work.Frame {
	a.framed = a.framed[:0]
	for _, f := range stack {
		known := a.workFrame[f]
		if known == nil {
			known = &work.Frame{Function: f.Func, File: f.File, Line: f.Line}
			a.workFrame[f] = known
		}
		a.framed = append(a.framed, known)
	}
	return a.framed
}

// mostGoroutines is how many goroutines a focus on units may name.
const mostGoroutines = 1 << 16

// FocusOnUnits reads the trace that src gives, and returns the part of it that is about the
// units of work of some kinds, for Options.Focus: from the first beginning to the last end,
// and the goroutines that did them. kinds are patterns of names as in focus.Focus.Classes; it
// is an error if one matches none. src is read to its end; Run needs it anew.
func FocusOnUnits(ctx context.Context, src *input.Source, o Options, kinds []string) (focus.Focus, error) {
	w := wantedUnits{kinds: map[string]bool{}, goroutines: map[int64]bool{}}
	for _, pattern := range kinds {
		w.patterns = append(w.patterns, wantedKind{pattern: pattern, is: focus.NewSelection(focus.Focus{Classes: []string{pattern}}, nil)})
	}
	o.NoTimeline, o.OnUnit = true, w.add
	if _, err := Run(ctx, src, o); err != nil {
		return focus.Focus{}, err
	}
	return w.focus(src.Name())
}

// wantedUnits are units of work that are looked for.
type wantedUnits struct {
	patterns   []wantedKind
	kinds      map[string]bool // all, and whether they are wanted
	from, to   int64           // ns
	goroutines map[int64]bool
}

type wantedKind struct {
	pattern string
	is      *focus.Selection
	found   bool
}

func (w *wantedUnits) add(u work.Unit) {
	wanted, known := w.kinds[u.Kind]
	if !known {
		for i := range w.patterns {
			if p := &w.patterns[i]; p.is.Named(u.Kind) {
				p.found, wanted = true, true
			}
		}
		w.kinds[u.Kind] = wanted
	}
	if !wanted {
		return
	}
	if len(w.goroutines) == 0 || u.From < w.from {
		w.from = u.From
	}
	w.to = max(w.to, u.To)
	if len(w.goroutines) <= mostGoroutines {
		w.goroutines[u.G] = true
	}
}

// focus is the part of the trace that is about them.
func (w *wantedUnits) focus(trace string) (focus.Focus, error) {
	for _, p := range w.patterns {
		if !p.found {
			return focus.Focus{}, fmt.Errorf("reading %s: no units of work of a kind %q: %s", trace, p.pattern, names.Instead(p.pattern, slices.Sorted(maps.Keys(w.kinds))))
		}
	}
	if len(w.goroutines) > mostGoroutines {
		return focus.Focus{}, fmt.Errorf("reading %s: more than %s did those units: focus on a window, with --from and --to", trace, quantity.Plural(mostGoroutines, "goroutine", "goroutines"))
	}
	return focus.Focus{From: w.from, To: w.to, Goroutines: slices.Sorted(maps.Keys(w.goroutines))}, nil
}
