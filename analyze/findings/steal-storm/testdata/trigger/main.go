// The program steal-storm/trigger hands out pieces of 6 µs, one at a time, from
// one goroutine that never stops: whatever it wakes lies in its own P's queue,
// and the other P steals each piece singly (golang/go#28808).
//
// Near-miss hands out pieces of 100 µs: what is stolen is worth the way.
//
//gmpscope:case procs=2 go=go1.26.8 want=steal-storm:warning may=convoy
//gmpscope:case case=near-miss procs=2 go=go1.26.8 want=
package main

import "github.com/gmpscope/gmpscope/internal/testkit/rec"

const workers = 8

// pieces of size µs are handed out, one every pause µs.
var pieces, size, pause = 16000, 6, 8

func work(in chan int) {
	for range in {
		rec.Work(size)
	}
}

func main() {
	if rec.Case() == "near-miss" {
		pieces, size, pause = 1200, 100, 110
	}
	var in [workers]chan int
	for i := range in {
		in[i] = make(chan int, 64)
	}
	rec.Start()
	for i := range in {
		go work(in[i])
	}
	for n := range pieces {
		in[n%workers] <- n
		rec.Work(pause)
	}
	rec.Stop()
}
