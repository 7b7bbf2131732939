// Retake-stall/trigger wakes a worker and then makes a call that blocks, every
// 60 ms, on one P. The call holds the P, with the worker in its queue, until
// sysmon takes the P away. sysmon has seen nothing to do for a while then and
// looks only every 10 ms.
//
//gmpscope:case procs=1 go=go1.26.8 want=retake-stall:warning may=starvation
//gmpscope:case procs=1 go=go1.22.12 want=retake-stall:warning may=starvation
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
		jobs <- i
		flush(15 * time.Millisecond)
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
