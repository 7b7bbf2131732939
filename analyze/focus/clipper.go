package focus

import (
	"math"

	"github.com/gmpscope/gmpscope/analyze/ledger"
	"github.com/gmpscope/gmpscope/reference"
)

// Clipper cuts a stream of decisions to a window. Times are unchanged; what comes before
// the window is a gap in it, as if it was lost, and what there is at its beginning is
// emitted there ([Snapshot]). At its end all that run or are runnable are stopped because
// of [reference.WhyLost], and a stop of the world or a mark phase ends.
type Clipper struct {
	from, to int64 // ns
	ledger   ledger.Ledger
	past     *Snapshot // until the end
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

// NewClipper returns a Clipper to [from, to), in ns; to of 0 means the end of the stream.
func NewClipper(from, to int64) *Clipper {
	if to <= 0 {
		to = math.MaxInt64
	}
	return &Clipper{from: from, to: to, ledger: *ledger.New(), past: NewSnapshot()}
}

// Clip fills dst with the part of src, the next block of the stream, that lies in the
// window. The first synthetic decisions of dst describe the state at the window's
// beginning; next is the index in src of the decision after them.
func (c *Clipper) Clip(src, dst *ledger.Block) (synthetic, next int) {
	c.out = dst.Decisions[:0]
	for i := range src.Decisions {
		d := &src.Decisions[i]
		if c.state == before && d.Time >= c.from {
			c.begin()
			synthetic, next = len(c.out), i
		}
		if c.state == within && d.Time >= c.to {
			c.state = after
			c.past.End(c.to, c.emit)
		}
		if c.state != after {
			c.past.Follow(d, &src.Notes[i])
		}
		if c.state == within {
			c.out = append(c.out, *d)
		}
	}
	dst.Decisions, dst.Synthetic = c.out, synthetic
	c.ledger.Annotate(dst)
	return synthetic, next
}

// Finish fills dst with the last block of the window, which ends at end, in ns: the state, if
// the window lies behind the last decision, and the ends of open intervals.
func (c *Clipper) Finish(dst *ledger.Block, end int64) {
	c.out = dst.Decisions[:0]
	if c.state == before {
		c.begin()
	}
	dst.Decisions, dst.Synthetic = c.out, len(c.out)
	c.ledger.Close(dst, end)
}

func (c *Clipper) emit(d *reference.Decision) { c.out = append(c.out, *d) }

// begin records what there is at the beginning of the window.
func (c *Clipper) begin() {
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
	c.past.Emit(c.from, c.emit)
}

// Live returns the goroutines that are alive at the end of the window, for the accumulators
// that take [ledger.Ledger.Live].
func (c *Clipper) Live() []ledger.Live { return c.ledger.Live() }
