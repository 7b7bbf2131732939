// Search-front ranks pages for queries on as many goroutines as there are
// Ps.
package main

import (
	"fmt"
	"os"
	"os/exec"
	"runtime"
	"sync"
	"syscall"
	"time"

	"github.com/gmpscope/gmpscope/internal/testkit/rec"
)

func main() {
	if os.Getenv("FRONT_SIDE") != "" {
		crawl(os.Getppid())
		return
	}
	alone := rankPages(100)
	var crawlers []*exec.Cmd
	for range 2 {
		c := exec.Command(os.Args[0])
		c.Env = append(os.Environ(), "FRONT_SIDE=1", "GOMAXPROCS=1")
		if err := c.Start(); err != nil {
			panic(err)
		}
		crawlers = append(crawlers, c)
	}
	time.Sleep(50 * time.Millisecond)
	rec.Start()
	start := cpuTime()
	took := rankPages(160)
	used := cpuTime() - start
	rec.Stop()
	for _, c := range crawlers {
		c.Process.Kill()
		c.Wait()
	}
	fmt.Fprintf(os.Stderr, "proof: a query took %v alone, %v beside two neighbours; two busy Ps got %v of CPU in %v\n",
		alone/100, took/160, used, took)
}

func rankPages(queries int) time.Duration {
	start := time.Now()
	for range queries {
		var shards sync.WaitGroup
		for range runtime.GOMAXPROCS(0) {
			shards.Go(scoreShard)
		}
		shards.Wait()
	}
	return time.Since(start)
}

func scoreShard() { rec.Work(1400) }

func cpuTime() time.Duration {
	var u syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &u); err != nil {
		panic(err)
	}
	return time.Duration(u.Utime.Nano() + u.Stime.Nano()).Round(time.Millisecond)
}

// crawl computes for at most five seconds.
func crawl(parent int) {
	end := time.Now().Add(5 * time.Second)
	for time.Now().Before(end) && os.Getppid() == parent {
		rec.Work(1000)
	}
}
