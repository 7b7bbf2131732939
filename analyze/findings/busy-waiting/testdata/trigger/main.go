// Trigger polls a channel in a loop around a select with a default case, while
// handlers come in bursts of four every 2 ms.
//
//gmpscope:case procs=2 go=go1.26.8 want=busy-waiting:warning may=serialization,convoy,starvation,os-preemption,work-conservation,late-preemption,timer-lateness,runnable-burst,runnext-monopoly
package main

import (
	"time"

	"github.com/gmpscope/gmpscope/internal/testkit/rec"
)

const lasting = 300 * time.Millisecond

var looked int

func main() {
	rec.Start()
	go poll(make(chan bool))
	for range 2 {
		go accept()
	}
	time.Sleep(lasting)
	rec.Stop()
}

func poll(stop chan bool) {
	for {
		select {
		case <-stop:
			return
		default:
			looked++
		}
	}
}

func accept() {
	for {
		time.Sleep(2 * time.Millisecond)
		for range 4 {
			go handle()
		}
	}
}

func handle() { rec.Work(100) }
