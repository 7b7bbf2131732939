// Locked-thread-penalty/trigger asks a server that is locked to its thread for
// something small, over channels, again and again, after golang/go#18023 and
// #21827: each request and each answer makes the operating system switch
// threads, where it would be a switch of goroutines otherwise.
//
//gmpscope:case procs=1 go=go1.26.8 want=locked-thread-penalty:warning
//gmpscope:case procs=1 go=go1.22.12 want=locked-thread-penalty:warning
//gmpscope:case procs=2 go=go1.26.8 want=locked-thread-penalty:warning
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
		rec.Work(10)
		answers <- r
	}
}

func client(requests chan<- int, answers <-chan int) {
	for i := range 3_000 {
		rec.Work(10)
		requests <- i
		<-answers
	}
	close(requests)
}
