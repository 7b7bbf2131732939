// Newest-first serves requests that come somewhat faster than it can handle
// them. An acceptor wakes by a timer, as one does by the network, and creates a
// goroutine for each request. What a timer or a goroutine readies runs next, in
// the same time slice: so the acceptor and the newest request always come before
// the older ones, which stand in the local queue. Clients see it as requests
// served last in, first out, as reported in php/frankenphp#2016.
//
// All requests need the same, and yet some wait for a hundred times as long as
// others: the old ones starve.
//
//gmpscope:case procs=1 go=go1.26.8 want=starvation:warning,runnext-monopoly:warning may=global-queue-neglect,goroutine-churn,runnable-burst
package main

import (
	"sync"
	"time"

	"github.com/gmpscope/gmpscope/internal/testkit/rec"
)

const requests = 1200

func main() {
	rec.Start()
	var wg sync.WaitGroup
	wg.Add(1 + requests)
	go acceptor(&wg)
	wg.Wait()
	rec.Stop()
}

func acceptor(wg *sync.WaitGroup) {
	for i := 0; i < requests; i++ {
		time.Sleep(200 * time.Microsecond)
		go request(wg)
	}
	wg.Done()
}

func request(wg *sync.WaitGroup) {
	rec.Work(300)
	wg.Done()
}
