// Locked-threads plays ping-pong between two goroutines that are each locked
// to a thread: 200 times there and back.
//
// The trace must show one goroutine of class main.ping and one of class
// main.pong, each of which only ever starts on one thread, not the same one.
// A locked goroutine that another thread's scheduler picked has the P handed
// to its own thread: P:Run→Idle on the one, without a start in between, then
// P:Idle→Run of the same P on the other. With one P each of the 400 hops is
// such a handoff.
package main

import (
	"runtime"
	"sync"

	"github.com/gmpscope/gmpscope/internal/testkit/rec"
)

const trips = 200

func main() {
	rec.Start()
	var wg sync.WaitGroup
	wg.Add(2)
	there, back := make(chan int), make(chan int)
	go ping(there, back, &wg)
	go pong(there, back, &wg)
	wg.Wait()
	rec.Stop()
}

func ping(there chan<- int, back <-chan int, wg *sync.WaitGroup) {
	runtime.LockOSThread()
	for i := 0; i < trips; i++ {
		there <- i
		<-back
	}
	wg.Done()
}

func pong(there <-chan int, back chan<- int, wg *sync.WaitGroup) {
	runtime.LockOSThread()
	for i := 0; i < trips; i++ {
		back <- <-there
	}
	wg.Done()
}
