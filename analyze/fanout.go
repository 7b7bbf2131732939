package analyze

import (
	"sync"
	"sync/atomic"

	"github.com/gmpscope/gmpscope/reference"
)

const (
	// blockLen is how many decisions are handed on at once: enough that handing
	// on costs nothing, few enough to stay in a core's cache.
	blockLen = 1024
	// ahead is how many blocks the reconstruction may be ahead of an accumulator.
	ahead = 8
)

// block is a run of decisions that several accumulators read.
type block struct {
	decisions []reference.Decision
	readers   atomic.Int32
}

// fanout hands blocks of decisions to several takers, each of which runs in a
// goroutine of its own. Each sees all decisions in their order, so it does not
// matter which of them is ahead. They must not keep or change a block.
type fanout struct {
	to   []chan *block
	cur  *block
	free chan *block // a sync.Pool would lose them at each garbage collection
	done sync.WaitGroup
}

func newFanout(accumulators ...func([]reference.Decision)) *fanout {
	f := &fanout{free: make(chan *block, ahead+3)}
	for _, add := range accumulators {
		c := make(chan *block, ahead)
		f.to = append(f.to, c)
		f.done.Add(1)
		go func() {
			defer f.done.Done()
			for b := range c {
				add(b.decisions)
				if b.readers.Add(-1) == 0 {
					f.put(b)
				}
			}
		}()
	}
	f.cur = f.get()
	return f
}

func (f *fanout) get() *block {
	select {
	case b := <-f.free:
		return b
	default:
		return &block{decisions: make([]reference.Decision, 0, blockLen)}
	}
}

func (f *fanout) put(b *block) {
	b.decisions = b.decisions[:0]
	select {
	case f.free <- b:
	default:
	}
}

// add hands on a decision. It does not keep d.
func (f *fanout) add(d *reference.Decision) {
	f.cur.decisions = append(f.cur.decisions, *d)
	if len(f.cur.decisions) == blockLen {
		f.flush()
		f.cur = f.get()
	}
}

func (f *fanout) flush() {
	if len(f.to) == 0 {
		f.put(f.cur)
	}
	f.cur.readers.Store(int32(len(f.to)))
	for _, c := range f.to {
		c <- f.cur
	}
	f.cur = nil
}

// wait hands on what is left, and returns when all accumulators have taken it.
// Nothing can be added afterwards.
func (f *fanout) wait() {
	if f.to == nil {
		return
	}
	f.flush()
	for _, c := range f.to {
		close(c)
	}
	f.done.Wait()
	f.to = nil
}
