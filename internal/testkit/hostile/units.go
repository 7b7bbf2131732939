package hostile

import (
	"fmt"
	"math"

	"github.com/gmpscope/gmpscope/analyze/wire"
)

// unitInputs are hard for who finds units of work.
func unitInputs() []Input {
	return []Input{
		{"unit-kinds", "units of as many kinds, with names that are not to be printed", func(w *writer) {
			w.generations(60_000, func(i int) {
				name := w.string(fmt.Sprintf("\x1b[2J<b>%d for @\n\u202e%d", i, w.gen))
				w.event(wire.UserRegionBegin, 1, 0, name, 0)
				w.event(wire.UserRegionEnd, 1, 0, name, 0)
			})
		}},
		{"unit-open", "goroutines that come back to wait, all with a unit under way", unitsOpen},
		{"unit-ring", "goroutines that wake each other in a ring, and units that last for rounds of it", func(w *writer) { w.ring(50, 20) }},
		{"unit-whole", "a unit that lasts as long as the trace", func(w *writer) { w.ring(2, math.MaxInt) }},
	}
}

// unitsOpen is goroutines that are made runnable where they wait for something to do, and do it for
// good.
func unitsOpen(w *writer) {
	for next := uint64(2); !w.full(); {
		w.begin()
		w.running()
		worker, main := w.string("main.worker"), w.string("main.main")
		home, at := w.stack(frame{1, worker, worker, 1}), w.stack(frame{2, main, main, 1})
		why := w.string("chan receive")
		for range 60_000 {
			if w.full() {
				break
			}
			w.event(wire.GoCreate, 1, next, home, 0)
			w.event(wire.GoBlock, 1, why, at)
			for seq := uint64(1); seq < 8; seq += 2 {
				w.event(wire.GoStart, 1, next, seq)
				w.event(wire.GoUnblock, 1, 1, seq, 0)
				w.event(wire.GoBlock, 1, why, home)
				w.event(wire.GoStart, 1, 1, seq+1)
				w.event(wire.GoUnblock, 1, next, seq+1, 0)
				w.event(wire.GoBlock, 1, why, at)
			}
			w.event(wire.GoStart, 1, next, 9)
			w.event(wire.GoUnblock, 1, 1, 9, 0)
			w.event(wire.GoBlock, 1, why, at)
			w.event(wire.GoStart, 1, 1, 10)
			w.event(wire.GoStatus, 1, 1, 1, goRunning) // numbers begin again
			next++
		}
		w.end()
	}
}

// ring is n goroutines, each of which wakes the next one and waits for the one before it. Each is
// in a region, for so many rounds.
func (w *writer) ring(n uint64, rounds int) {
	for begun := false; !w.full(); {
		w.begin()
		w.running()
		name, why := w.string("main.turn"), w.string("chan receive")
		at := w.stack(frame{1, name, name, 1})
		seq := make([]uint64, n+1)
		for g := uint64(2); g <= n; g++ {
			w.event(wire.GoStatus, 0, g, math.MaxUint64, goWaiting)
		}
		for round := 0; round < 1<<16 && !w.full(); round++ {
			for g := uint64(1); g <= n; g++ {
				if begun && round%rounds == 0 && rounds < math.MaxInt {
					w.event(wire.UserRegionEnd, 1, 0, name, 0)
				}
				if !begun || round%rounds == 0 && rounds < math.MaxInt {
					w.event(wire.UserRegionBegin, 1, 0, name, 0)
				}
				next := g%n + 1
				w.event(wire.GoUnblock, 1, next, seq[next]+1, at)
				w.event(wire.GoBlock, 1, why, at)
				w.event(wire.GoStart, 1, next, seq[next]+2)
				seq[next] += 2
			}
			begun = true
		}
		if w.full() {
			w.event(wire.UserRegionEnd, 1, 0, name, 0)
		}
		w.end()
	}
}
