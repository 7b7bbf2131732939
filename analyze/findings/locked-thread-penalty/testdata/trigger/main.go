// Locked-thread-penalty/trigger asks a server that is locked to its thread for
// something small, over channels, again and again, after golang/go#18023 and
// #21827: each request and each answer makes the operating system switch
// threads, where it would be a switch of goroutines otherwise.
//
// Near-miss asks for a whole batch at once: some milliseconds of work for each switch
// of threads.
//
//gmpscope:case procs=1 go=go1.26.8 want=locked-thread-penalty:warning
//gmpscope:case procs=1 go=go1.22.12 want=locked-thread-penalty:warning
//gmpscope:case procs=2 go=go1.26.8 want=locked-thread-penalty:warning may=p-thrash
//gmpscope:case case=near-miss procs=1 go=go1.26.8 want=
//gmpscope:case case=near-miss procs=2 go=go1.26.8 want=
package main

import (
	"runtime"

	"github.com/gmpscope/gmpscope/internal/testkit/rec"
)

// requested are answers of size µs.
var requested, size = 3_000, 10

func main() {
	if rec.Case() == "near-miss" {
		requested, size = 20, 25_000
	}
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
		rec.Work(size)
		answers <- r
	}
}

func client(requests chan<- int, answers <-chan int) {
	for i := range requested {
		rec.Work(10)
		requests <- i
		<-answers
	}
	close(requests)
}
