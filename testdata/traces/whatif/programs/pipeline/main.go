// Pipeline hands items through three stages, linked by channels with some room.
// The second stage has more than half of the work, so that with two Ps it is the
// limit.
package main

import (
	"github.com/gmpscope/gmpscope/internal/testkit/rec"
)

const (
	items = 400
	room  = 8
)

func main() {
	rec.Start()
	first, second, done := make(chan int, room), make(chan int, room), make(chan bool)
	go stage(first, second, 160)
	go last(second, done, 50)
	for i := range items {
		rec.Work(70)
		first <- i
	}
	close(first)
	<-done
	rec.Stop()
}

func stage(in <-chan int, out chan<- int, units int) {
	for i := range in {
		rec.Work(units)
		out <- i
	}
	close(out)
}

func last(in <-chan int, done chan<- bool, units int) {
	for range in {
		rec.Work(units)
	}
	done <- true
}
