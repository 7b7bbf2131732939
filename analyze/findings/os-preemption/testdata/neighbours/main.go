// Neighbours has as many Ps as the machine has cores, but two other processes
// compute on the same cores.
//
//gmpscope:case procs=2 go=go1.26.8 want=os-preemption may=starvation,convoy,late-preemption,runnext-monopoly,global-queue-neglect
package main

import (
	"os"
	"os/exec"
	"sync"
	"time"

	"github.com/gmpscope/gmpscope/internal/testkit/rec"
)

const (
	workers = 4
	clients = 6
	others  = 2
	working = time.Second
)

// neighbour says that the process is one of the others.
const neighbour = "GMPSCOPE_NEIGHBOUR"

func main() {
	if os.Getenv(neighbour) != "" {
		for {
			rec.Work(1000)
		}
	}
	for range others {
		other := exec.Command("/proc/self/exe")
		other.Env = append(os.Environ(), neighbour+"=1", "GOMAXPROCS=1")
		if err := other.Start(); err != nil {
			panic(err)
		}
		defer other.Wait()
		defer other.Process.Kill()
	}
	rec.Start()
	requests := make(chan chan uint64)
	for range workers {
		go worker(requests)
	}
	var done sync.WaitGroup
	end := time.Now().Add(working)
	for range clients {
		done.Add(1)
		go func() {
			defer done.Done()
			client(requests, end)
		}()
	}
	done.Wait()
	rec.Stop()
}

func worker(requests chan chan uint64) {
	for answer := range requests {
		answer <- rec.Work(300)
	}
}

func client(requests chan chan uint64, end time.Time) {
	answer := make(chan uint64)
	for time.Now().Before(end) {
		requests <- answer
		<-answer
	}
}
