package analyze

import (
	"github.com/gmpscope/gmpscope/analyze/events"
	"github.com/gmpscope/gmpscope/analyze/work"
)

// units is how units of work are found.
func (a *analysis) units() work.Options {
	return work.Options{
		Frames: func(stack int32) []work.Frame { return a.workFrames(a.viewed.Frames(events.Handle(stack))) },
		Start: func(class int32) (start, does string) {
			n := a.className(class)
			return n.start, n.does
		},
		Label:  func(label int32) string { return a.viewed.Name(events.Handle(label)) },
		From:   a.Focus.From,
		To:     a.Focus.To,
		OnUnit: a.OnUnit,
	}
}

// addWork has the units of work take a block.
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
	return a.work.Finish(end, recorded, work.Names{Function: a.Anonymize.Function, Label: a.annotation})
}

// workFrames returns the frames of a stack, valid until it is called again.
func (a *analysis) workFrames(stack []*events.Frame) []work.Frame {
	a.framed = a.framed[:0]
	for _, f := range stack {
		a.framed = append(a.framed, work.Frame{Function: f.Func, File: f.File, Line: f.Line})
	}
	return a.framed
}
