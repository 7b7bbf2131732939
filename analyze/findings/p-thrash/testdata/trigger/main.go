// The program p-thrash/trigger asks a server goroutine one small question after
// another, and waits for each answer. Each wake-up wakes an idle P too, which
// finds nothing worth a thread and parks again: the cost that golang/go#54622
// and #18237 describe.
//
//gmpscope:case procs=2 go=go1.26.8 want=p-thrash
package main

import "github.com/gmpscope/gmpscope/internal/testkit/rec"

const questions = 3000

func serve(ask, answer chan int) {
	for n := range ask {
		rec.Work(15)
		answer <- n + 1
	}
}

func main() {
	ask, answer := make(chan int), make(chan int)
	rec.Start()
	go serve(ask, answer)
	for n := range questions {
		ask <- n
		<-answer
		rec.Work(15)
	}
	rec.Stop()
}
