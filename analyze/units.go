package analyze

import (
	"github.com/gmpscope/gmpscope/analyze/events"
	"github.com/gmpscope/gmpscope/analyze/work"
)

// units is how units of work are found.
func (a *analysis) units() work.Options {
	return work.Options{
		Frames: func(stack int32) []work.Frame { return workFrames(a.viewed.Frames(events.Handle(stack))) },
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
	a.work.Add(&b.Block)
}

func workFrames(stack []*events.Frame) []work.Frame {
	out := make([]work.Frame, len(stack))
	for i, f := range stack {
		out[i] = work.Frame{Function: f.Func, File: f.File, Line: f.Line}
	}
	return out
}
