// Lighthouse-feed has thousands of ships connected, nearly all of which wait
// for news of their light.
package main

import (
	"fmt"
	"os"
	"runtime"
	"slices"
	"sync"
	"syscall"
	"time"

	"github.com/gmpscope/gmpscope/internal/testkit/rec"
	"github.com/gmpscope/gmpscope/lab/testdata/programs/lighthouse-feed/feed"
)

const (
	lights = 1000
	ships  = 4000
	phase  = 700 * time.Millisecond
)

var sentAt [lights]time.Time

type latencies struct {
	mu  sync.Mutex
	all []time.Duration
}

func followLight(notices <-chan feed.Notice, l *latencies) {
	for n := range notices {
		took := time.Since(sentAt[n.Light])
		l.mu.Lock()
		l.all = append(l.all, took)
		l.mu.Unlock()
	}
}

func cpuTime() time.Duration {
	var usage syscall.Rusage
	syscall.Getrusage(syscall.RUSAGE_SELF, &usage)
	return time.Duration(usage.Utime.Nano() + usage.Stime.Nano())
}

func main() {
	hub := feed.NewHub()
	var l latencies
	for ship := range ships {
		go followLight(hub.Follow(ship%lights), &l)
	}
	rec.Start()
	cpu, begin, told := cpuTime(), time.Now(), 0
	for n := 0; time.Since(begin) < phase; n++ {
		light := n * 37 % lights
		sentAt[light] = time.Now()
		told += hub.Report(feed.Notice{Light: light, State: n})
		time.Sleep(2 * time.Millisecond)
	}
	time.Sleep(5 * time.Millisecond)
	cpu = cpuTime() - cpu
	rec.Stop()
	l.mu.Lock()
	defer l.mu.Unlock()
	slices.Sort(l.all)
	fmt.Fprintf(os.Stderr, "proof: %d goroutines; %d notices sent, %d received after p50 %v, p99 %v; %v of CPU in %v\n",
		runtime.NumGoroutine(), told, len(l.all), l.all[len(l.all)/2], l.all[len(l.all)*99/100], cpu.Round(time.Millisecond), phase)
}
