package analyze

import (
	"sync"
	"sync/atomic"

	"github.com/gmpscope/gmpscope/reference"
)

// ahead is how many blocks each step may be ahead of the next.
const ahead = 8

// block is a run of decisions that several accumulators read.
type block struct {
	decisions []reference.Decision
	parts     []part // all decisions, in their order
	marked    []mark // by the chain that measures waits, for its later steps
	chains    atomic.Int32
}

// part is some consecutive decisions of a block. If calls is set, they are system
// calls that [reference.BriefCalls] found.
type part struct {
	from, to int32
	calls    bool
}

// of returns the decisions of a part.
func (b *block) of(p part) []reference.Decision { return b.decisions[p.from:p.to] }

// split finds the parts of b, once for all accumulators.
func (b *block) split() {
	b.parts = b.parts[:0]
	ds, from := b.decisions, 0
	for i := 0; i < len(ds); i++ {
		for i < len(ds)-1 && ds[i].Kind != reference.KindSyscall {
			i++
		}
		if n := reference.BriefCalls(ds[i:]); n > 0 {
			b.add(from, i, false)
			b.add(i, i+n, true)
			from = i + n
			i = from - 1
		}
	}
	b.add(from, len(ds), false)
}

// add makes a part of some decisions, if there are any.
func (b *block) add(from, to int, calls bool) {
	if to > from {
		b.parts = append(b.parts, part{int32(from), int32(to), calls})
	}
}

// mark is a wait whose time the timeline keeps in detail. It ended with decision
// at of a block.
type mark struct {
	at          int
	from, to, g int64
}

// chain is what is done with a block, one step after the other.
type chain []func(*block)

// fanout hands blocks of decisions to several chains, each step of which runs in
// a goroutine of its own. Each sees all decisions in their order, so it does not
// matter which of them is ahead. They must not keep a block or change decisions.
type fanout struct {
	to   []chan *block
	free chan *block // a sync.Pool would lose them at each garbage collection
	done sync.WaitGroup
	bug  atomic.Pointer[Bug] // of the first step that panicked
}

func newFanout(chains ...chain) *fanout {
	f := &fanout{free: make(chan *block, ahead+3)}
	for _, c := range chains {
		in := make(chan *block, ahead)
		f.to = append(f.to, in)
		for i, step := range c {
			var next chan *block
			if i < len(c)-1 {
				next = make(chan *block, ahead)
			}
			f.done.Add(1)
			go f.run(step, in, next)
			in = next
		}
	}
	return f
}

// run does one step of a chain, of which next is what follows, if any.
func (f *fanout) run(step func(*block), in <-chan *block, next chan<- *block) {
	defer f.done.Done()
	for b := range in {
		f.do(step, b)
		if next != nil {
			next <- b
		} else if b.chains.Add(-1) == 0 {
			f.put(b)
		}
	}
	if next != nil {
		close(next)
	}
}

// do does a step, unless one has panicked.
func (f *fanout) do(step func(*block), b *block) {
	defer func() {
		if v := recover(); v != nil {
			f.bug.CompareAndSwap(nil, Caught(v))
		}
	}()
	if f.bug.Load() == nil {
		step(b)
	}
}

func (f *fanout) get() *block {
	select {
	case b := <-f.free:
		return b
	default:
		return &block{}
	}
}

func (f *fanout) put(b *block) {
	b.decisions, b.marked = b.decisions[:0], b.marked[:0]
	select {
	case f.free <- b:
	default:
	}
}

// add hands on decisions, and returns room for others.
func (f *fanout) add(ds []reference.Decision) []reference.Decision {
	b := f.get()
	room := b.decisions
	b.decisions = ds
	if len(f.to) == 0 {
		f.put(b)
		return room
	}
	b.split()
	b.chains.Store(int32(len(f.to)))
	for _, c := range f.to {
		c <- b
	}
	return room
}

// wait returns when all chains have taken what was added. Nothing can be added
// afterwards.
func (f *fanout) wait() {
	for _, c := range f.to {
		close(c)
	}
	f.done.Wait()
	f.to = nil
}
