// Each request passes through four goroutines, and the next one begins when the
// last has answered: four stages, of which one works at a time.
//
//gmpscope:case procs=2 go=go1.26.8 want=serialization:warning
package main

import "github.com/gmpscope/gmpscope/internal/testkit/rec"

const requests = 250

func main() {
	rec.Start()
	parse, plan, run, answer := make(chan int), make(chan int), make(chan int), make(chan int)
	go stage(parse, plan)
	go stage(plan, run)
	go stage(run, answer)
	for i := range requests {
		parse <- i
		<-answer
		rec.Work(150)
	}
	rec.Stop()
}

func stage(in <-chan int, out chan<- int) {
	for i := range in {
		rec.Work(150)
		out <- i
	}
}
