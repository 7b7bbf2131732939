// The program p-thrash/gosched yields in a loop while the other P has nothing
// to do: each yield wakes it for nothing (golang/go#13527).
//
//gmpscope:case procs=2 go=go1.26.8 want=p-thrash:warning may=yield-spinning
package main

import (
	"runtime"

	"github.com/gmpscope/gmpscope/internal/testkit/rec"
)

func main() {
	rec.Start()
	for range 5000 {
		rec.Work(15)
		runtime.Gosched()
	}
	rec.Stop()
}
