// The program steal-storm/trigger hands out pieces of 6 µs, one at a time, from
// one goroutine that never stops: whatever it wakes lies in its own P's queue,
// and the other P steals each piece singly (golang/go#28808).
//
//gmpscope:case procs=2 go=go1.26.8 want=steal-storm:warning may=convoy
package main

import "github.com/gmpscope/gmpscope/internal/rec"

const (
	workers = 8
	pieces  = 16000
)

func work(in chan int) {
	for range in {
		rec.Work(6)
	}
}

func main() {
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
		rec.Work(8)
	}
	rec.Stop()
}
