package analyze

import (
	"github.com/gmpscope/gmpscope/analyze/events"
	"github.com/gmpscope/gmpscope/analyze/ledger"
	"github.com/gmpscope/gmpscope/analyze/stacks"
	"github.com/gmpscope/gmpscope/analyze/waits"
)

// stacksOf finishes the account of the stacks for the classes of the waits.
func (a *analysis) stacksOf(end int64, open []ledger.Live, classes []waits.Class) stacks.Result {
	known := map[int32]bool{}
	for i := range classes {
		known[classes[i].ID] = true
	}
	return a.stacks.Finish(end, open, stacks.Resolver{
		Frames: a.places,
		Class: func(handle int32) int32 {
			if known[handle] {
				return handle
			}
			return waits.ClassOthers
		},
	})
}

// places are the frames of a stack, innermost first.
func (a *analysis) places(h int32) []stacks.Frame {
	var out []stacks.Frame
	for _, f := range a.stream.Tables.Frames(events.Handle(h)) {
		out = append(out, stacks.Frame{Function: a.Anonymize.Function(f.Func), File: a.Anonymize.file(f), Line: int64(f.Line)})
	}
	return out
}
