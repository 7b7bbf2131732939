package analyze

import (
	"github.com/gmpscope/gmpscope/analyze/focus"
	"github.com/gmpscope/gmpscope/analyze/ledger"
	"github.com/gmpscope/gmpscope/analyze/stacks"
	"github.com/gmpscope/gmpscope/analyze/waits"
)

// Observer receives the decisions, their notes and the waits of an analysis in progress,
// for exports of each of them, where a [Result] has sums.
type Observer interface {
	// Begin is called once, before the first block.
	Begin(Lookup)
	// Observe is called with each block of decisions, in order, and the waits that ended in it
	// and count: [ledger.Block.Stack] has where their goroutines had stopped. It is called from
	// a goroutine of its own; its last call is over when Run returns. Blocks are those of the
	// whole trace, waits those of Options.Focus. Both are valid during the call only. A last
	// block has no decisions, but the intervals that are open at the end of the trace. An error
	// ends the analysis.
	Observe(b *ledger.Block, ended []waits.EndedWait) error
}

// Lookup resolves handles for an [Observer]: the small numbers in a [reference.Decision] that stand for a
// class or a stack.
type Lookup struct {
	// Class returns the name of the class with a handle, the Class of a decision: mostly its
	// start function; empty if it is not known.
	Class func(class int32) string
	// Frames returns the stack with a handle, the Stack of a decision, innermost frame first. It
	// is to be called after Run only.
	Frames func(stack int32) []stacks.Frame
	// Chosen reports whether Options.Focus is about the goroutine with ID g, of the class with a
	// handle. It is to be called in Observe only.
	Chosen func(g int64, class int32) bool
	// Focus is Options.Focus.
	Focus focus.Focus
	// Reduced reports whether the trace is an old one, of which queues are not rebuilt.
	Reduced bool
}

// lookup is what the Observer may ask.
func (a *analysis) lookup() Lookup {
	part := a.part()
	return Lookup{
		Class:  func(class int32) string { return a.className(class).shown },
		Frames: a.places, Chosen: part.Has, Focus: a.Focus, Reduced: a.src.Header().V1,
	}
}

// observe hands the Observer a block, unless something has failed before.
func (a *analysis) observe(b *block) {
	if a.failed.err.Load() != nil {
		return
	}
	if err := a.Observer.Observe(&b.Block, b.waited); err != nil {
		a.failed.fail(err)
	}
}
