// CPU-bound computes on all Ps in a process that gets no CPU for 40 ms of every
// 100 ms, as under a CPU quota: the time slices, which last 20 ms otherwise, hold
// the stops. A helper process stands in for the quota, with SIGSTOP and SIGCONT.
//
//gmpscope:case procs=2 go=go1.26.8 want=cpu-throttling:warning may=late-preemption
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
	stopped   = 40 * time.Millisecond
	period    = 100 * time.Millisecond
	computing = 1000 * time.Millisecond
	loops     = 2
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
	var done sync.WaitGroup
	end := time.Now().Add(computing)
	for range loops {
		done.Add(1)
		go func() {
			defer done.Done()
			compute(end)
		}()
	}
	done.Wait()
	helper.Process.Kill()
	helper.Wait()
	rec.Stop()
}

func compute(end time.Time) {
	for time.Now().Before(end) {
		rec.Work(1000)
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
