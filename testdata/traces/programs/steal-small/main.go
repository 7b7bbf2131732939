// Steal-small shows three steals that can be checked by hand. Needs
// GOMAXPROCS=2; call the Ps A (main's) and B.
//
// main creates blocker and keeps its P busy, so that P B must steal blocker
// out of A's runnext. While blocker keeps B busy, main creates four goroutines,
// each a class of its own: first, second, third, fourth. Then A has fourth in
// runnext and first, second, third in its ring. Now blocker ends, but main
// keeps A busy until all is done, so that only B runs anything, all stolen:
//
//  1. a batch of two of the three in A's ring, first and second; the last of a
//     batch starts first: second starts, then first, from B's own ring;
//  2. a batch of one: third;
//  3. the ring being empty: fourth, out of A's runnext.
//
// So the trace must show: main.blocker, main.first, main.second, main.third
// and main.fourth are created on P A; all five start on P B, in the order
// blocker, second, first, third, fourth; thief B, victim A, steals of 1
// (runnext), 2, 1, 1 (runnext) goroutines; and main runs on A throughout.
package main

import (
	"sync/atomic"

	"github.com/gmpscope/gmpscope/internal/testkit/rec"
)

var started, release, done atomic.Int32

func main() {
	rec.Start()
	go blocker()
	for started.Load() == 0 {
	}
	go first()
	go second()
	go third()
	go fourth()
	release.Store(1)
	for done.Load() < 4 {
	}
	rec.Stop()
}

func blocker() {
	started.Store(1)
	for release.Load() == 0 {
	}
}

func first() {
	rec.Work(400)
	done.Add(1)
}

func second() {
	rec.Work(800)
	done.Add(1)
}

func third() {
	rec.Work(200)
	done.Add(1)
}

func fourth() {
	rec.Work(600)
	done.Add(1)
}
