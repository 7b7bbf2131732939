package ledger

import (
	"slices"

	"github.com/gmpscope/gmpscope/reference"
)

// Feed groups decisions into blocks of at most 4,096, has a [Ledger] annotate them, and hands them to
// readers such as accumulators.
type Feed struct {
	Ledger
	readers []func(*Block)
	block   Block
	one     [1]reference.Decision
}

// NewFeed returns a Feed that calls the readers, in order, with each block. They must not retain it.
func NewFeed(readers ...func(*Block)) *Feed { return &Feed{Ledger: *New(), readers: readers} }

// Add processes the next decision, as a block of its own. It does not retain d.
func (f *Feed) Add(d *reference.Decision) {
	f.one[0] = *d
	f.AddAll(f.one[:])
}

// AddAll processes the next decisions of the stream. The readers are called before it returns.
func (f *Feed) AddAll(ds []reference.Decision) {
	for f.block.Decisions = range slices.Chunk(ds, blockLen) {
		f.Annotate(&f.block)
		for _, read := range f.readers {
			read(&f.block)
		}
	}
}

// Close ends the stream at end, ns, with one more block, which has no decisions.
func (f *Feed) Close(end int64) {
	f.block.Decisions = nil
	f.Ledger.Close(&f.block, end)
	for _, read := range f.readers {
		read(&f.block)
	}
}

// blockLen is how many decisions a Feed's block has at most.
const blockLen = 4096
