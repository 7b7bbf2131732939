// Locked-thread-penalty/near-miss has a server that is locked to its thread as
// well, but asks it for a whole batch at once: some milliseconds of work for
// each switch of threads.
//
//gmpscope:case procs=1 go=go1.26.8 want=
//gmpscope:case procs=2 go=go1.26.8 want=
package main

import (
	"runtime"

	"github.com/gmpscope/gmpscope/internal/rec"
)

func main() {
	rec.Start()
	requests, answers := make(chan int, 1), make(chan int, 1)
	go server(requests, answers)
	client(requests, answers)
	rec.Stop()
}

func server(requests <-chan int, answers chan<- int) {
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	for r := range requests {
		rec.Work(25_000)
		answers <- r
	}
}

func client(requests chan<- int, answers <-chan int) {
	for i := range 20 {
		rec.Work(10)
		requests <- i
		<-answers
	}
	close(requests)
}
