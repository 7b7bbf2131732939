// The program locality-loss/trigger has eight workers, each with data of its
// own, that hand two tokens to one another at random: whoever gets one runs
// where the last worker ran, and its data is in the other P's cache
// (golang/go#20307 and #65694 are about such moves).
//
// Near-miss has steps so long that what a move costs does not show.
//
//gmpscope:case procs=2 go=go1.26.8 want=locality-loss:warning may=p-thrash
//gmpscope:case case=near-miss procs=2 go=go1.26.8 want=
package main

import (
	"sync"

	"github.com/gmpscope/gmpscope/internal/testkit/rec"
)

const (
	workers = 8
	tokens  = 2
	size    = 128 << 10
)

// steps is how often a token is handed on, passes how often a worker goes through
// its data for one.
var steps, passes = 13000, 3

// work adds to its own data whenever it is given a token, and hands that to
// another worker.
func work(id int, in [workers]chan int, wg *sync.WaitGroup) {
	data := make([]byte, size)
	random := uint32(id + 1)
	for left := range in[id] {
		for range passes {
			for i := 0; i < size; i += 64 {
				data[i]++
			}
		}
		if left == 0 {
			wg.Done()
			continue
		}
		random ^= random << 13
		random ^= random >> 17
		random ^= random << 5
		in[random%workers] <- left - 1
	}
}

func main() {
	if rec.Case() == "near-miss" {
		steps, passes = 2000, 40
	}
	var in [workers]chan int
	for i := range in {
		in[i] = make(chan int, tokens)
	}
	var wg sync.WaitGroup
	wg.Add(tokens)
	rec.Start()
	for i := range workers {
		go work(i, in, &wg)
	}
	for t := range tokens {
		in[t] <- steps / tokens
	}
	wg.Wait()
	rec.Stop()
}
