// Gc is a program with 4 MB on the heap, and a function that has all of it
// collected and given back every 12 ms.
//
//gmpscope:case procs=2 go=go1.26.8 want=stop-the-world-calls:warning may=starvation,work-conservation,slow-restart,stw-stop-latency,gc-displacement,convoy,os-preemption,serialization
package main

import (
	"runtime"
	"runtime/debug"
	"time"

	"github.com/gmpscope/gmpscope/internal/testkit/rec"
)

const serving = 150 * time.Millisecond

func main() {
	var cache [][]byte
	for range 400 {
		cache = append(cache, make([]byte, 10_000))
	}
	rec.Start()
	go trim()
	for range 2 {
		go handle()
	}
	time.Sleep(serving)
	rec.Stop()
	runtime.KeepAlive(cache)
}

func trim() {
	for {
		debug.FreeOSMemory()
		time.Sleep(12 * time.Millisecond)
	}
}

func handle() {
	for {
		rec.Work(200)
		time.Sleep(time.Millisecond)
	}
}
