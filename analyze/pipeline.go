package analyze

import (
	"context"
	"sync"
	"sync/atomic"

	"github.com/gmpscope/gmpscope/analyze/events"
	"github.com/gmpscope/gmpscope/analyze/ledger"
	"github.com/gmpscope/gmpscope/analyze/timeline"
	"github.com/gmpscope/gmpscope/analyze/waits"
	"github.com/gmpscope/gmpscope/analyze/work"
	"github.com/gmpscope/gmpscope/reference"
)

// queueDepth is how many blocks each step may be ahead of the next.
const queueDepth = 3

// block is a row of decisions, and what a step has to tell later ones about them.
type block struct {
	ledger.Block
	view   events.View   // of the tables, with the stacks of the decisions
	inside *ledger.Block // what lies in the window; the block itself if there is none
	part   ledger.Block
	marked []timeline.Marked
	waited []waits.EndedWait
	shift  int            // number of a decision inside, less that in the block
	swept  []work.Stretch // ended since the block before
}

// pipeline hands blocks of decisions to steps, one after the other. Each step runs in
// a goroutine of its own and sees all blocks in their order, until the context is done. It
// must not keep a block or change decisions.
type pipeline struct {
	swept []work.Stretch // for the next block
	ctx   context.Context
	in    chan *block // nil: there are no steps
	free  chan *block // a sync.Pool would lose them at each garbage collection
	done  sync.WaitGroup
	ps    int                 // the most that there were
	bug   atomic.Pointer[Bug] // of the first step that panicked
}

func newPipeline(ctx context.Context, steps ...func(*block)) *pipeline {
	p := &pipeline{ctx: ctx, free: make(chan *block, len(steps)*(queueDepth+1)+1)} // so many can be under way
	for out, i := p.free, len(steps)-1; i >= 0; i-- {
		in, last := make(chan *block, queueDepth), i == len(steps)-1
		p.done.Add(1)
		go p.run(steps[i], in, out, last)
		out, p.in = in, in
	}
	return p
}

// run does a step. What comes out of the last one is free.
func (p *pipeline) run(step func(*block), in <-chan *block, out chan<- *block, last bool) {
	defer p.done.Done()
	for b := range in {
		p.do(step, b)
		out <- b
	}
	if !last {
		close(out)
	}
}

// do does a step, unless one has panicked or the context is done.
func (p *pipeline) do(step func(*block), b *block) {
	defer func() {
		if v := recover(); v != nil {
			p.bug.CompareAndSwap(nil, Caught(v))
		}
	}()
	if p.bug.Load() == nil && p.ctx.Err() == nil {
		step(b)
	}
}

// add hands on decisions with a view of the tables, and returns room for others.
func (p *pipeline) add(ds []reference.Decision, v events.View) []reference.Decision {
	if p.in == nil {
		return ds[:0]
	}
	rest := ds
	for {
		n := p.splitWide(rest)
		if n == len(rest) {
			break
		}
		p.copy(rest[:n], v)
		rest = rest[n:]
	}
	if len(rest) < len(ds) {
		p.copy(rest, v)
		return ds[:0]
	}
	b := p.block()
	room := b.Decisions[:0]
	b.Decisions, b.view = ds, v
	p.in <- b
	return room
}

// maxChanges is how many changes of a P's state a block may have, about: a note has each
// of them.
const maxChanges = 1 << 14

// splitWide returns how many decisions a block may begin with: some change the states of
// all Ps, of which there can be thousands.
func (p *pipeline) splitWide(ds []reference.Decision) int {
	changes := 0
	for i := range ds {
		switch ds[i].Kind {
		case reference.KindProcs:
			p.ps = max(p.ps, int(ds[i].Batch))
		case reference.KindSTWBegin, reference.KindSTWEnd, reference.KindLost:
		default:
			continue
		}
		if changes += p.ps; changes > maxChanges && i > 0 {
			return i
		}
	}
	return len(ds)
}

// copy hands on copies of decisions.
func (p *pipeline) copy(ds []reference.Decision, v events.View) {
	b := p.block()
	b.Decisions, b.view = append(b.Decisions[:0], ds...), v
	p.in <- b
}

// block returns one that is free.
func (p *pipeline) block() *block {
	var b *block
	select {
	case b = <-p.free:
	default:
		b = &block{}
	}
	b.swept, p.swept = p.swept, b.swept[:0]
	return b
}

// wait returns when all steps have taken what was added. Nothing can be added
// afterwards.
func (p *pipeline) wait() {
	if p.in != nil {
		close(p.in)
		p.in = nil
	}
	p.done.Wait()
}
