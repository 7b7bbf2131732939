// Ticket-desk handles tickets, one every 2 ms.
package main

import (
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"slices"
	"sync"
	"syscall"
	"time"

	"github.com/gmpscope/gmpscope/internal/testkit/rec"
)

const pauses = 7

func main() {
	if os.Getenv("DESK_ROLE") == "operator" {
		operate(os.Getppid())
		return
	}
	took := make([]time.Duration, 300)
	operator := exec.Command(os.Args[0])
	operator.Env = append(os.Environ(), "DESK_ROLE=operator")
	rec.Start()
	if err := operator.Start(); err != nil {
		panic(err)
	}
	stood := serve(took)
	operator.Wait()
	rec.Stop()
	slices.Sort(took)
	fmt.Fprintf(os.Stderr, "proof: ticks came more than 15 ms late %d times, by %v in sum; tickets of 0.2 ms took p50 %v, max %v\n",
		stood.n, stood.sum, took[150], took[299])
}

type gaps struct {
	n   int
	sum time.Duration
}

func serve(took []time.Duration) (g gaps) {
	var tickets sync.WaitGroup
	last := time.Now()
	for i := range took {
		time.Sleep(2 * time.Millisecond)
		came := last.Add(2 * time.Millisecond)
		last = time.Now()
		if late := last.Sub(came); late > 15*time.Millisecond {
			g.n++
			g.sum += late
		}
		tickets.Go(func() {
			handleTicket()
			took[i] = time.Since(came)
		})
	}
	tickets.Wait()
	return g
}

func handleTicket() { rec.Work(200) }

// operate stops and continues the process.
func operate(desk int) {
	for range pauses {
		time.Sleep(time.Duration(30+rand.IntN(50)) * time.Millisecond)
		if os.Getppid() != desk {
			return
		}
		syscall.Kill(desk, syscall.SIGSTOP)
		time.Sleep(time.Duration(20+rand.IntN(41)) * time.Millisecond)
		syscall.Kill(desk, syscall.SIGCONT)
	}
}
