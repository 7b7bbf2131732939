// Retake-stall/near-miss makes the same calls, but nobody waits in the queue of
// the P meanwhile: the worker is woken when the call is over.
//
//gmpscope:case procs=1 go=go1.26.8 want=
package main

import (
	"syscall"
	"time"

	"github.com/gmpscope/gmpscope/internal/testkit/rec"
)

func main() {
	rec.Start()
	jobs, done := make(chan int, 1), make(chan bool, 1)
	go worker(jobs, done)
	<-done
	for i := range 14 {
		rec.Work(60_000)
		flush(15 * time.Millisecond)
		jobs <- i
		<-done
	}
	close(jobs)
	rec.Stop()
}

func worker(jobs <-chan int, done chan<- bool) {
	done <- true
	for range jobs {
		rec.Work(200)
		done <- true
	}
}

// flush stands for a write that waits for its device: it holds the thread, and
// the runtime cannot know how long.
func flush(d time.Duration) {
	t := syscall.NsecToTimespec(int64(d))
	_ = syscall.Nanosleep(&t, nil) // cut short by a signal: no harm
}
