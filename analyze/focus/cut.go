package focus

import (
	"math"

	"github.com/gmpscope/gmpscope/analyze/ledger"
	"github.com/gmpscope/gmpscope/reference"
)

// Cut makes of a stream of decisions one of a window of it. Times stay as they are;
// what comes before the window is a gap in it, as if it was lost, and what there is at
// its beginning is told there ([Present]). At its end all that run or are runnable are
// stopped because of [reference.WhyLost], and a stop of the world or a mark phase ends.
type Cut struct {
	from, to int64 // ns
	ledger   ledger.Ledger
	past     *Present // until the end
	state    state
	out      []reference.Decision // of the block
}

// state is how far the stream has come.
type state uint8

const (
	before state = iota
	within
	after
)

// NewCut returns a Cut of [from, to), ns; to of 0 is the end of the stream.
func NewCut(from, to int64) *Cut {
	if to <= 0 {
		to = math.MaxInt64
	}
	return &Cut{from: from, to: to, ledger: *ledger.New(), past: NewPresent()}
}

// Take makes in of what lies in the window of b, the next block of the stream, with
// notes of its own. told is how many of its decisions, at its beginning, are none of the
// stream: they tell what there is. at is which one of b follows them.
func (c *Cut) Take(b, in *ledger.Block) (told, at int) {
	c.out = in.Decisions[:0]
	for i := range b.Decisions {
		d := &b.Decisions[i]
		if c.state == before && d.Time >= c.from {
			c.begin()
			told, at = len(c.out), i
		}
		if c.state == within && d.Time >= c.to {
			c.end()
		}
		switch c.state {
		case before:
			c.past.Follow(d)
		case within:
			c.past.Follow(d)
			c.out = append(c.out, *d)
		}
	}
	in.Decisions, in.Told = c.out, told
	c.ledger.Annotate(in)
	return told, at
}

// Finish makes in of what is to be told at the end of the stream: what there is, if the
// window lies behind its last decision.
func (c *Cut) Finish(in *ledger.Block) {
	c.out = in.Decisions[:0]
	if c.state == before {
		c.begin()
	}
	in.Decisions, in.Told = c.out, len(c.out)
	c.ledger.Annotate(in)
}

// emit appends a decision.
func (c *Cut) emit(d *reference.Decision) { c.out = append(c.out, *d) }

// begin tells what there is at the beginning of the window.
func (c *Cut) begin() {
	c.state = within
	if c.from <= 0 {
		return
	}
	if c.past.procs.Kind != reference.KindNone {
		d := c.past.procs
		d.Time = 0
		c.emit(&d)
	}
	d := nobody()
	d.Kind, d.Wait = reference.KindLost, c.from
	c.emit(&d)
	c.past.Tell(c.from, c.emit)
}

// end ends all that is under way at the end of the window.
func (c *Cut) end() {
	c.state = after
	c.past.End(c.to, c.emit)
}

// Open returns the goroutines that have not ended in the window.
func (c *Cut) Open() []ledger.Open { return c.ledger.Open() }
