// The program p-thrash/near-miss sends its server as much work as
// p-thrash/trigger, in batches that are worth a thread.
//
//gmpscope:case procs=2 go=go1.26.8 want=
package main

import "github.com/gmpscope/gmpscope/internal/testkit/rec"

const (
	questions = 8000
	batch     = 100
)

func serve(ask, answer chan int) {
	for n := range ask {
		rec.Work(15 * n)
		answer <- n
	}
}

func main() {
	ask, answer := make(chan int), make(chan int)
	rec.Start()
	go serve(ask, answer)
	for range questions / batch {
		ask <- batch
		rec.Work(15 * batch)
		<-answer
	}
	rec.Stop()
}
