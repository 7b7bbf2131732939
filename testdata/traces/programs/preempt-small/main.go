// Preempt-small has three goroutines that compute for 100 ms each share the
// only P. Needs GOMAXPROCS=1.
//
// The three are each a class of their own: first, second, third. When main
// blocks, third is in runnext and first, second are in the ring. Each computes
// without a call, so that it leaves the P only when sysmon has it preempted
// after about 20 ms; and then it goes to the tail of the global queue.
//
// So the trace must show: the three start in the order third, first, second,
// and go on in turn like that until the first of them is done; each goes
// Running→Runnable "preempted" at least three times; and none of them ever
// blocks. (A 61st tick in between, which would let one of the global queue go
// out of turn, is possible; such a recording is thrown away.)
package main

import (
	"sync"

	"github.com/gmpscope/gmpscope/internal/testkit/rec"
)

var all sync.WaitGroup

func main() {
	rec.Start()
	all.Add(3)
	go first()
	go second()
	go third()
	all.Wait()
	rec.Stop()
}

func first() {
	rec.Work(100000)
	all.Done()
}

func second() {
	rec.Work(100000)
	all.Done()
}

func third() {
	rec.Work(100000)
	all.Done()
}
