// Overflow creates 300 goroutines on the only P before any of them can run, so
// that the ring of 256 overflows once. Needs GOMAXPROCS=1.
//
// Counting the goroutines of class main.worker from 1 in order of creation:
// each goes to runnext and displaces its predecessor to the ring. The 258th
// displaces the 257th, for which there is no room: numbers 1 to 128, and then
// 257, 129 in all, go to the global queue. Number 300 stays in runnext, and
// numbers 129 to 256 and 258 to 299 in the ring.
//
// So the trace must show: all 300 are created before one of them starts; the
// first to start is number 300 (runnext); then those of the ring start in order
// of creation, and after the last of them those of the global queue, in the
// order 1 to 128, 257, in batches of up to 128. One exception: at each 61st
// tick the next one of the global queue comes out of turn, so that among the
// 171 local starts there are two or three such picks, 61 starts apart.
package main

import (
	"sync"

	"github.com/gmpscope/gmpscope/internal/testkit/rec"
)

func main() {
	rec.Start()
	var wg sync.WaitGroup
	wg.Add(300)
	for i := 0; i < 300; i++ {
		go worker(&wg)
	}
	wg.Wait()
	rec.Stop()
}

func worker(wg *sync.WaitGroup) {
	rec.Work(5)
	wg.Done()
}
