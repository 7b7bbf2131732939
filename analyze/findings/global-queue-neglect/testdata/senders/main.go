// Senders has six hundred clients ask one dispatcher over a channel without
// buffer, each again and again, as in php/frankenphp#2016: while the dispatcher
// is away for some milliseconds they block, one behind the other; then it takes
// all that is there in one go, and so readies them all. That is more than a local
// queue holds, and the oldest half of it goes to the global queue.
//
// There they stand, while those that blocked last are served, ask again, and fill
// the local queue anew: last in, first out. Each of them starves.
//
//gmpscope:case procs=1 go=go1.26.8 want=global-queue-neglect:warning,starvation:warning may=runnable-burst,thundering-herd
package main

import (
	"sync"
	"sync/atomic"
	"time"

	"github.com/gmpscope/gmpscope/internal/testkit/rec"
)

func main() {
	rec.Start()
	requests := make(chan int)
	var over atomic.Bool
	var wg sync.WaitGroup
	for i := 0; i < 600; i++ {
		wg.Add(1)
		go client(i, requests, &over, &wg)
	}
	go dispatch(requests)
	time.Sleep(300 * time.Millisecond)
	over.Store(true)
	wg.Wait()
	rec.Stop()
}

func dispatch(requests <-chan int) {
	for {
		<-requests
		for empty := false; !empty; {
			select {
			case <-requests:
			default:
				empty = true
			}
		}
		time.Sleep(5 * time.Millisecond)
	}
}

func client(i int, requests chan<- int, over *atomic.Bool, wg *sync.WaitGroup) {
	for !over.Load() {
		requests <- i
		rec.Work(50)
	}
	wg.Done()
}
