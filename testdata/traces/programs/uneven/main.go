// Uneven has one spawner feed all work: in each of four rounds it creates 200
// workers and waits until they are done. One P has all the work; the others
// must steal.
//
// The trace must show 800 goroutines of class main.worker, all created by the
// one goroutine of class main.spawner, those of a round on one P. 200 fit into
// a local run queue of 256, so that nothing overflows to the global queue, and
// a worker neither blocks nor yields. So each worker that starts on another P
// than the one it was created on was stolen: at least a quarter of them.
package main

import (
	"sync"

	"github.com/gmpscope/gmpscope/internal/testkit/rec"
)

const (
	rounds  = 4
	workers = 200
)

func main() {
	rec.Start()
	var done sync.WaitGroup
	done.Add(1)
	go spawner(&done)
	done.Wait()
	rec.Stop()
}

func spawner(done *sync.WaitGroup) {
	for round := 0; round < rounds; round++ {
		var wg sync.WaitGroup
		wg.Add(workers)
		for i := 0; i < workers; i++ {
			go worker(&wg)
		}
		wg.Wait()
	}
	done.Done()
}

func worker(wg *sync.WaitGroup) {
	rec.Work(50)
	wg.Done()
}
