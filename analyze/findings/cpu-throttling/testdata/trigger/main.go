// Trigger is a server whose process gets no CPU for 40 ms of every 100 ms, as
// under a CPU quota of the Linux control group that is used up early in each
// period (golang/go#33803). In place of the quota, a helper process stops it
// with SIGSTOP and lets it go on with SIGCONT.
//
//gmpscope:case procs=2 go=go1.26.8 want=cpu-throttling:warning may=starvation,convoy,late-preemption,os-preemption,runnext-monopoly,global-queue-neglect
//gmpscope:case procs=2 go=go1.23.12 want=cpu-throttling:warning may=starvation,convoy,late-preemption,os-preemption,runnext-monopoly,global-queue-neglect
package main

import (
	"os"
	"os/exec"
	"strconv"
	"sync"
	"syscall"
	"time"

	"github.com/gmpscope/gmpscope/internal/testkit/rec"
)

const (
	stopped = 40 * time.Millisecond
	period  = 100 * time.Millisecond
	serving = 1000 * time.Millisecond
	workers = 3
	clients = 8
)

// stopPID tells the helper process whom to stop.
const stopPID = "GMPSCOPE_STOP_PID"

func main() {
	if pid, err := strconv.Atoi(os.Getenv(stopPID)); err == nil {
		stop(pid)
		return
	}
	helper := exec.Command("/proc/self/exe")
	helper.Env = append(os.Environ(), stopPID+"="+strconv.Itoa(os.Getpid()))
	rec.Start()
	if err := helper.Start(); err != nil {
		panic(err)
	}
	requests := make(chan chan uint64)
	for range workers {
		go worker(requests)
	}
	var done sync.WaitGroup
	end := time.Now().Add(serving)
	for range clients {
		done.Add(1)
		go func() {
			defer done.Done()
			client(requests, end)
		}()
	}
	done.Wait()
	helper.Process.Kill()
	helper.Wait()
	rec.Stop()
}

func worker(requests chan chan uint64) {
	for answer := range requests {
		answer <- rec.Work(200)
	}
}

func client(requests chan chan uint64, end time.Time) {
	answer := make(chan uint64)
	for time.Now().Before(end) {
		requests <- answer
		<-answer
	}
}

// stop stops the process pid for a while in each period, until it is killed.
func stop(pid int) {
	for next := time.Now().Add(period); ; next = next.Add(period) {
		time.Sleep(time.Until(next) - stopped)
		if syscall.Kill(pid, syscall.SIGSTOP) != nil {
			return
		}
		time.Sleep(time.Until(next))
		if syscall.Kill(pid, syscall.SIGCONT) != nil {
			return
		}
	}
}
