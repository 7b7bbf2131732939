package timeline

import (
	"github.com/gmpscope/gmpscope/analyze/ledger"
	"github.com/gmpscope/gmpscope/analyze/stacks"
	"github.com/gmpscope/gmpscope/reference"
)

// driven is an Accumulator that takes decisions one by one, with a ledger in front.
type driven struct {
	*Accumulator
	feed *ledger.Feed
}

func drive(a *Accumulator) driven {
	return driven{a, ledger.NewFeed(func(b *ledger.Block) { a.Add(b, nil, 0) })}
}

func (x driven) Add(d *reference.Decision) { x.feed.Add(d) }

// noStacks is of a trace without stacks.
var noNames = Names{Frames: func(int32) []stacks.Frame { return nil }}
