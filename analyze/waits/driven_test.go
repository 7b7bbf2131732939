package waits

import (
	"github.com/gmpscope/gmpscope/analyze/ledger"
	"github.com/gmpscope/gmpscope/reference"
)

// driven is an Accumulator that takes decisions one by one, with a ledger in front.
type driven struct {
	*Accumulator
	feed *ledger.Feed
}

func drive(a *Accumulator) driven {
	return driven{a, ledger.NewFeed(func(b *ledger.Block) { a.Add(b) })}
}

func (x driven) Add(d *reference.Decision) { x.feed.Add(d) }

func (x driven) Finish(end int64, names func(class int32) (name, creator string)) Result {
	return x.Accumulator.Finish(end, x.feed.Live(), names)
}
