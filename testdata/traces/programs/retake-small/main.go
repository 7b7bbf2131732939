// Retake-small shows one retake of a P that can be checked by hand. Needs
// GOMAXPROCS=2; call the Ps A (reader's) and B (spinner's).
//
// spinner keeps P B busy to the end. On P A, reader creates three goroutines,
// each a class of its own (first, second, third), and then blocks in a system
// call: it reads from a pipe that stays empty until the three are done. A's
// local run queue has work (third in runnext; first, second in the ring), and
// nobody comes to steal it. So sysmon must retake A and hand it off to another
// thread, where the three run.
//
// So the trace must show: main.first, main.second and main.third are created on
// P A; then main.reader goes Running→Syscall on A; then sysmon takes A: P:Run→
// Idle of A with neither P nor goroutine in the event's context; then P:Idle→
// Run of A on another thread than reader's, and on P A start third, first,
// second, in this order, all while reader is still in its system call.
// It is the first retake of the trace; when spinner and reader come back from
// their system calls, Ps may be taken again.
package main

import (
	"log"
	"sync"
	"sync/atomic"
	"syscall"

	"github.com/gmpscope/gmpscope/internal/testkit/rec"
)

var (
	pipe          [2]int
	spinning, ran atomic.Int32
	all           sync.WaitGroup
)

func main() {
	if err := syscall.Pipe(pipe[:]); err != nil {
		log.Fatal(err)
	}
	rec.Start()
	all.Add(2)
	go spinner()
	for spinning.Load() == 0 {
	}
	go reader()
	all.Wait()
	rec.Stop()
}

// spinner keeps its P busy until the three goroutines have run, and then lets
// reader's system call return.
func spinner() {
	spinning.Store(1)
	for ran.Load() < 3 {
	}
	if _, err := syscall.Write(pipe[1], []byte{1}); err != nil {
		log.Fatal(err)
	}
	all.Done()
}

func reader() {
	go first()
	go second()
	go third()
	var b [1]byte
	if _, err := syscall.Read(pipe[0], b[:]); err != nil {
		log.Fatal(err)
	}
	all.Done()
}

func first() {
	rec.Work(100)
	ran.Add(1)
}

func second() {
	rec.Work(100)
	ran.Add(1)
}

func third() {
	rec.Work(100)
	ran.Add(1)
}
