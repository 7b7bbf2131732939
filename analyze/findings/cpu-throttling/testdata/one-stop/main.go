// One-stop is a server whose process is stopped once, for 300 ms, as by a debugger
// or a virtual machine that is moved. That is no CPU quota.
//
//gmpscope:case procs=2 go=go1.26.8 want=process-stopped:warning may=starvation,convoy,late-preemption,runnext-monopoly,global-queue-neglect,os-preemption
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
	before  = 300 * time.Millisecond
	stopped = 300 * time.Millisecond
	serving = time.Second
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

// stop stops the process pid once.
func stop(pid int) {
	time.Sleep(before)
	if syscall.Kill(pid, syscall.SIGSTOP) != nil {
		return
	}
	time.Sleep(stopped)
	syscall.Kill(pid, syscall.SIGCONT)
}
