// Map-render renders map tiles on request, 200 requests a second.
package main

import (
	"fmt"
	"os"
	"os/exec"
	"slices"
	"sync"
	"time"

	"github.com/gmpscope/gmpscope/internal/testkit/rec"
)

func main() {
	if os.Getenv("MAP_SIDE") != "" {
		simulateTraffic(os.Getppid())
		return
	}
	alone := handleMaps(60)
	slices.Sort(alone)
	var others []*exec.Cmd
	for range 4 {
		c := exec.Command(os.Args[0])
		c.Env = append(os.Environ(), "MAP_SIDE=1", "GOMAXPROCS=1")
		if err := c.Start(); err != nil {
			panic(err)
		}
		others = append(others, c)
	}
	time.Sleep(50 * time.Millisecond)
	rec.Start()
	took := handleMaps(120)
	rec.Stop()
	for _, c := range others {
		c.Process.Kill()
		c.Wait()
	}
	slices.Sort(took)
	fmt.Fprintf(os.Stderr, "proof: tiles took p50 %v alone; beside four neighbours p50 %v, p99 %v\n", alone[30], took[60], took[118])
}

func handleMaps(n int) []time.Duration {
	took := make([]time.Duration, n)
	var open sync.WaitGroup
	for i := range n {
		came := time.Now()
		open.Go(func() { took[i] = handleMap(came) })
		time.Sleep(5 * time.Millisecond)
	}
	open.Wait()
	return took
}

func handleMap(came time.Time) time.Duration {
	renderTile()
	return time.Since(came)
}

func renderTile() { rec.Work(8000) }

// simulateTraffic computes for at most five seconds.
func simulateTraffic(parent int) {
	end := time.Now().Add(5 * time.Second)
	for time.Now().Before(end) && os.Getppid() == parent {
		rec.Work(1000)
	}
}
