//go:build unix

// Stopped-server has three workers serve requests of 0.8 ms while its process gets no CPU
// for 45 ms of every 100 ms, as under a CPU quota of the Linux control group that is used up
// early in each period (golang/go#33803). In place of the quota, a helper process stops it
// with SIGSTOP and lets it go on with SIGCONT. After the change nobody stops it.
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
	stopped  = 45 * time.Millisecond
	period   = 100 * time.Millisecond
	requests = 600
	workers  = 3
)

// stopPID tells the helper process whom to stop.
const stopPID = "GMPSCOPE_STOP_PID"

func main() {
	if pid, err := strconv.Atoi(os.Getenv(stopPID)); err == nil {
		stop(pid)
		return
	}
	var helper *exec.Cmd
	if os.Getenv("SIDE") != "after" {
		helper = exec.Command("/proc/self/exe")
		helper.Env = append(os.Environ(), stopPID+"="+strconv.Itoa(os.Getpid()))
		if err := helper.Start(); err != nil {
			panic(err)
		}
	}
	rec.Start()
	queue := make(chan int, workers)
	var done sync.WaitGroup
	for range workers {
		done.Add(1)
		go worker(queue, &done)
	}
	ticker := time.NewTicker(time.Millisecond)
	for i := range requests {
		<-ticker.C
		queue <- i
	}
	close(queue)
	done.Wait()
	if helper != nil {
		helper.Process.Kill()
		helper.Wait()
	}
	rec.Stop()
}

func worker(queue <-chan int, done *sync.WaitGroup) {
	defer done.Done()
	for range queue {
		serve()
	}
}

func serve() { rec.Work(800) }

// stop has a process stand still for a part of each period, while it lives.
func stop(pid int) {
	for {
		if syscall.Kill(pid, syscall.SIGSTOP) != nil {
			return
		}
		time.Sleep(stopped)
		if syscall.Kill(pid, syscall.SIGCONT) != nil {
			return
		}
		time.Sleep(period - stopped)
	}
}
