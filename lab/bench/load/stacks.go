package main

import (
	"math/rand/v2"
	"sync"
)

// stacks is a compiler or language server: workers walk size syntax trees by
// recursion, and tell one collector what they find. The way down is another each
// time, so the trace consists mostly of stacks.
func stacks(size int) { walk(size, 8) }

// deepStacks is the same with stacks as deep as a trace holds.
func deepStacks(size int) { walk(size, 120) }

func walk(size, depth int) {
	const workers = 8
	var walkers, collector sync.WaitGroup
	found := make(chan int)
	collector.Go(func() {
		for range found {
		}
	})
	for worker := range workers {
		walkers.Go(func() {
			w := &walker{found: found, ways: rand.New(rand.NewPCG(uint64(worker), 0))}
			for i := range size / workers {
				w.declaration(depth + i%8)
			}
		})
	}
	walkers.Wait()
	close(found)
	collector.Wait()
}

// A walker goes down through a syntax tree that nobody has written: what a node
// is below another is left to chance.
type walker struct {
	found chan<- int
	ways  *rand.Rand
}

//go:noinline
func (w *walker) declaration(depth int) {
	switch w.ways.IntN(2) {
	case 0:
		w.statement(depth - 1)
	case 1:
		w.expression(depth - 1)
	}
}

//go:noinline
func (w *walker) statement(depth int) {
	switch w.ways.IntN(4) {
	case 0:
		w.statement(depth - 1)
	case 1:
		w.expression(depth - 1)
	case 2:
		w.call(depth - 1)
	case 3:
		w.declaration(depth - 1)
	}
}

//go:noinline
func (w *walker) expression(depth int) {
	if depth <= 0 {
		w.identifier()
		return
	}
	switch w.ways.IntN(3) {
	case 0:
		w.expression(depth - 1)
	case 1:
		w.call(depth - 1)
	case 2:
		w.expression(depth - 2)
	}
}

//go:noinline
func (w *walker) call(depth int) {
	switch w.ways.IntN(3) {
	case 0:
		w.expression(depth - 1)
	case 1:
		w.expression(depth - 3)
	case 2:
		w.statement(depth - 1)
	}
}

// identifier records what it found.
//
//go:noinline
func (w *walker) identifier() {
	for kind := range 3 {
		w.found <- kind
	}
}
