// Near-miss is a light service with an agent that reads the memory statistics every
// 250 ms.
//
//gmpscope:case procs=2 go=go1.26.8 want=
package main

import (
	"runtime"
	"time"

	"github.com/gmpscope/gmpscope/internal/testkit/rec"
)

const serving = 300 * time.Millisecond

func main() {
	rec.Start()
	go agent()
	for range 2 {
		go handle()
	}
	time.Sleep(serving)
	rec.Stop()
}

func agent() {
	var m runtime.MemStats
	for {
		runtime.ReadMemStats(&m)
		time.Sleep(250 * time.Millisecond)
	}
}

func handle() {
	for {
		rec.Work(200)
		time.Sleep(time.Millisecond)
	}
}
