// Queue-bounded has requests arrive in bursts, each a goroutine of its own that
// sends its answer to one collector: all wake up at once and wait for a P in a
// crowd. After the change two workers serve them from a buffered channel, in
// the order in which they came.
package main

import (
	"os"
	"sync"
	"time"

	"github.com/gmpscope/gmpscope/internal/testkit/rec"
)

const (
	bursts = 20
	burst  = 40
)

func main() {
	fifo := os.Getenv("SIDE") == "after"
	results := make(chan int)
	requests := make(chan int, burst)
	var collected sync.WaitGroup
	collected.Add(1)
	rec.Start()
	go collector(results, &collected)
	var workers sync.WaitGroup
	if fifo {
		for range 2 {
			workers.Add(1)
			go worker(requests, results, &workers)
		}
	}
	for b := range bursts {
		for i := range burst {
			if fifo {
				requests <- b*burst + i
			} else {
				workers.Add(1)
				go handler(b*burst+i, results, &workers)
			}
		}
		time.Sleep(5 * time.Millisecond)
	}
	close(requests)
	workers.Wait()
	close(results)
	collected.Wait()
	rec.Stop()
}

func handler(i int, results chan<- int, wg *sync.WaitGroup) {
	defer wg.Done()
	rec.Work(100)
	results <- i
}

func worker(requests <-chan int, results chan<- int, wg *sync.WaitGroup) {
	defer wg.Done()
	for i := range requests {
		rec.Work(100)
		results <- i
	}
}

func collector(results <-chan int, wg *sync.WaitGroup) {
	defer wg.Done()
	for range results {
		rec.Work(5)
	}
}
