// Near-miss works for 25 ms in every 100 ms, on one P, in a goroutine that needs
// little at a time otherwise: nothing else happens meanwhile, but nobody stopped the
// process.
//
//gmpscope:case procs=2 go=go1.26.8 want=
package main

import (
	"time"

	"github.com/gmpscope/gmpscope/internal/testkit/rec"
)

const (
	period = 100 * time.Millisecond
	rounds = 15
	pieces = 20
)

func main() {
	rec.Start()
	go answer()
	ticker := time.NewTicker(period)
	for range rounds {
		<-ticker.C
		for range pieces {
			questions <- 10
			<-answers
		}
		rec.Work(25_000)
	}
	rec.Stop()
}

var (
	questions = make(chan int)
	answers   = make(chan uint64)
)

func answer() {
	for n := range questions {
		answers <- rec.Work(n)
	}
}
