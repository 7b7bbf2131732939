// Script-sandbox checks the scripts that come with advertisements. Each runs
// with the privileges of its thread dropped, and since these cannot be had
// back, the thread is not used again.
package main

import (
	"fmt"
	"os"
	"runtime"
	"sync"
	"sync/atomic"
	"time"

	"github.com/gmpscope/gmpscope/internal/testkit/rec"
)

const (
	checkers = 4
	scripts  = 8000
)

type verdict struct {
	script int
	clean  bool
}

type sandbox struct {
	dropped atomic.Int64
	spent   atomic.Int64
}

func main() {
	start := time.Now()
	for script := range scripts {
		inspect(script)
	}
	alone := time.Since(start)
	var box sandbox
	rec.Start()
	start = time.Now()
	clean := checkAll(&box)
	took := time.Since(start)
	rec.Stop()
	fmt.Fprintf(os.Stderr, "proof: %d scripts (%d clean) took %v on 2 Ps with a thread for each, %v on one P without; the checkers waited %v for verdicts\n",
		scripts, clean, took, alone, time.Duration(box.spent.Load()))
}

func checkAll(box *sandbox) int {
	todo := make(chan int, checkers)
	var clean atomic.Int64
	var open sync.WaitGroup
	for range checkers {
		open.Go(func() {
			for script := range todo {
				if box.run(script).clean {
					clean.Add(1)
				}
			}
		})
	}
	for script := range scripts {
		todo <- script
	}
	close(todo)
	open.Wait()
	return int(clean.Load())
}

// run inspects a script without privileges.
func (b *sandbox) run(script int) verdict {
	start := time.Now()
	result := make(chan verdict, 1)
	go b.runUnprivileged(script, result)
	v := <-result
	b.spent.Add(int64(time.Since(start)))
	return v
}

func (b *sandbox) runUnprivileged(script int, result chan<- verdict) {
	runtime.LockOSThread() // and never unlocked: the thread ends with us
	b.dropPrivileges()
	result <- inspect(script)
}

func (b *sandbox) dropPrivileges() { b.dropped.Add(1) }

func inspect(script int) verdict {
	return verdict{script, rec.Work(25)%64 != uint64(script)%64}
}
