// Trigger is a light service, most of whose time is idle. A helper process stops it
// at random distances for 20 to 60 ms, as a virtual machine is that others crowd out:
// timers that are due meanwhile fire afterwards.
//
//gmpscope:case procs=2 go=go1.26.8 want=process-stopped:warning may=starvation,work-conservation,os-preemption,timer-lateness,convoy
package main

import (
	"math/rand/v2"
	"os"
	"os/exec"
	"strconv"
	"syscall"
	"time"

	"github.com/gmpscope/gmpscope/internal/testkit/rec"
)

const (
	serving  = 700 * time.Millisecond
	handlers = 4
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
	requests := make(chan int)
	for range handlers {
		go handle(requests)
	}
	for end := time.Now().Add(serving); time.Now().Before(end); {
		requests <- 1
		time.Sleep(time.Millisecond)
	}
	helper.Process.Kill()
	helper.Wait()
	rec.Stop()
}

func handle(requests chan int) {
	for range requests {
		rec.Work(300)
	}
}

// stop stops the process pid now and then, until it is killed.
func stop(pid int) {
	for {
		time.Sleep(50*time.Millisecond + rand.N(70*time.Millisecond))
		if syscall.Kill(pid, syscall.SIGSTOP) != nil {
			return
		}
		time.Sleep(20*time.Millisecond + rand.N(40*time.Millisecond))
		if syscall.Kill(pid, syscall.SIGCONT) != nil {
			return
		}
	}
}
