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

// part is some consecutive decisions of a block: so many, and after them so many
// that are system calls, as [reference.BriefCalls] finds them.
type part struct{ others, calls int32 }

// of splits a part from decisions that begin with it.
func (p part) of(ds []reference.Decision) (others, calls, rest []reference.Decision) {
	others, rest = ds[:p.others], ds[p.others:]
	return others, rest[:p.calls], rest[p.calls:]
}

// split finds the parts of b, once for all accumulators.
func (b *block) split() {
	b.parts = b.parts[:0]
	rest, others := b.decisions, 0
	for {
		others += nextCall(rest[others:])
		if others == len(rest) {
			break
		}
		calls := reference.BriefCalls(rest[others:])
		if calls == 0 {
			others++
			continue
		}
		b.parts = append(b.parts, part{int32(others), int32(calls)})
		rest, others = rest[others+calls:], 0
	}
	b.parts = append(b.parts, part{others: int32(others)})
}

// nextCall returns how many decisions come before the next KindSyscall.
func nextCall(ds []reference.Decision) int {
	for i := range ds {
		if ds[i].Kind == reference.KindSyscall {
			return i
		}
	}
	return len(ds)
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
