// The program steal-storm/near-miss hands out pieces like steal-storm/trigger,
// but of 100 µs: what is stolen is worth the way.
//
//gmpscope:case procs=2 go=go1.26.8 want=
package main

import "github.com/gmpscope/gmpscope/internal/rec"

const (
	workers = 8
	pieces  = 1200
)

func work(in chan int) {
	for range in {
		rec.Work(100)
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
		rec.Work(110)
	}
	rec.Stop()
}
