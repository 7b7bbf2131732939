// Opt-passes runs the passes of a small optimizing compiler over one function
// after the other, on one goroutine, since each pass needs what the last one
// left. Another shows how far it is.
package main

import (
	"fmt"
	"io"
	"os"
	"runtime"
	"runtime/debug"
	"time"

	"github.com/gmpscope/gmpscope/internal/testkit/rec"
)

const functions = 450

type value struct {
	op   int
	args []*value
	uses int
}

type compiler struct {
	progress chan int
	terminal io.Writer
	folded   int
}

func main() {
	c := &compiler{progress: make(chan int, 1), terminal: io.Discard}
	shown := make(chan time.Duration)
	// Once without a trace and without collections, for comparison.
	gcOff := compileAllWithoutGC()
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	rec.Start()
	go func() { shown <- c.showProgress() }()
	start := time.Now()
	c.compileAll()
	took := time.Since(start)
	close(c.progress)
	late := <-shown
	rec.Stop()
	runtime.ReadMemStats(&after)
	fmt.Fprintf(os.Stderr, "proof: %d functions took %v, in %d GC cycles; without collections %v; the progress came %v late at most; %d values folded\n",
		functions, took, after.NumGC-before.NumGC, gcOff, late, c.folded)
}

func (c *compiler) compileAll() {
	for n := range functions {
		f := buildSSA(n)
		c.fold(f)
		countUses(f)
		schedule(f)
		if n%50 == 0 {
			select {
			case c.progress <- n:
			default:
			}
		}
	}
}

// showProgress shows the progress ten times a second, and returns how late it
// was at most.
func (c *compiler) showProgress() (late time.Duration) {
	ticker := time.NewTicker(100 * time.Millisecond)
	defer ticker.Stop()
	done := 0
	for {
		select {
		case n, ok := <-c.progress:
			if !ok {
				return late
			}
			done = n
		case due := <-ticker.C:
			late = max(late, time.Since(due))
			fmt.Fprintf(c.terminal, "\r%d/%d", done, functions)
		}
	}
}

func buildSSA(n int) []*value {
	var f []*value
	for i := range 900 {
		v := &value{op: (i*n + i) % 11}
		if i > 1 {
			v.args = []*value{f[i/2], f[i-1]}
		}
		f = append(f, v)
	}
	return f
}

// fold replaces values by equal ones.
func (c *compiler) fold(f []*value) {
	known := make(map[[2]int]*value)
	for i, v := range f {
		key := [2]int{v.op, i % 37}
		if known[key] != nil {
			c.folded++
		}
		known[key] = v
	}
}

func countUses(f []*value) {
	for _, v := range f {
		for _, arg := range v.args {
			arg.uses++
		}
	}
}

// schedule orders the values of a function.
func schedule(f []*value) uint64 { return rec.Work(len(f)) }

func compileAllWithoutGC() time.Duration {
	defer debug.SetGCPercent(debug.SetGCPercent(-1))
	c := &compiler{progress: make(chan int, 1)}
	start := time.Now()
	c.compileAll()
	return time.Since(start)
}
