// Handlers has short requests, of 100 µs each, come every millisecond beside four reports
// of 20 ms that are made again and again, after golang/go#51071: on two Ps a short request
// stands behind a report for as long as its time slice lasts. After the change reports are
// made one at a time, so that a P stays free for the short ones.
package main

import (
	"os"
	"sync"
	"time"

	"github.com/gmpscope/gmpscope/internal/testkit/rec"
)

const (
	requests = 200
	reports  = 4
)

func main() {
	atOnce := reports
	if os.Getenv("SIDE") == "after" {
		atOnce = 1
	}
	slots := make(chan struct{}, atOnce)
	stop := make(chan struct{})
	var short, long sync.WaitGroup
	rec.Start()
	for range reports {
		long.Add(1)
		go report(slots, stop, &long)
	}
	ticker := time.NewTicker(time.Millisecond)
	for range requests {
		<-ticker.C
		short.Add(1)
		go serve(&short)
	}
	short.Wait()
	rec.Stop()
}

func serve(done *sync.WaitGroup) {
	defer done.Done()
	rec.Work(100)
}

func report(slots chan struct{}, stop <-chan struct{}, done *sync.WaitGroup) {
	defer done.Done()
	for {
		select {
		case <-stop:
			return
		case slots <- struct{}{}:
		}
		makeReport()
		<-slots
	}
}

func makeReport() { rec.Work(20_000) }
