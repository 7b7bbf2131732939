// Host-agent samples the sizes of watched files every 10 ms, keeps a sliding
// average of each, and every 100 ms hands a summary to its uplink.
package main

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"time"

	"github.com/gmpscope/gmpscope/internal/testkit/rec"
)

const (
	period  = 10 * time.Millisecond
	samples = 80
	watched = 12
)

type agent struct {
	files    []string
	averages map[string]float64
	uplink   chan map[string]float64
	delays   []time.Duration // from when a sample was due to its end
}

func main() {
	dir, err := os.MkdirTemp("", "agent")
	check(err)
	defer os.RemoveAll(dir)
	a := &agent{averages: make(map[string]float64), uplink: make(chan map[string]float64, 1)}
	for i := range watched {
		name := filepath.Join(dir, fmt.Sprintf("app-%d.log", i))
		check(os.WriteFile(name, make([]byte, 100*i), 0o600))
		a.files = append(a.files, name)
	}
	done := make(chan int)
	rec.Start()
	go sendSummaries(a.uplink, done)
	a.run()
	close(a.uplink)
	bytes := <-done
	rec.Stop()
	slices.Sort(a.delays)
	fmt.Fprintf(os.Stderr, "proof: %d samples done after they were due: p50 %v, p99 %v; %d bytes sent\n",
		len(a.delays), a.delays[len(a.delays)/2], a.delays[len(a.delays)*99/100], bytes)
}

func (a *agent) run() {
	ticker := time.NewTicker(period)
	defer ticker.Stop()
	for n := range samples {
		due := <-ticker.C
		a.sample()
		a.delays = append(a.delays, time.Since(due))
		if n%10 == 9 {
			summary := make(map[string]float64, len(a.averages))
			for name, size := range a.averages {
				summary[name] = size
			}
			a.uplink <- summary
		}
	}
}

func (a *agent) sample() {
	for _, name := range a.files {
		info, err := os.Stat(name)
		check(err)
		a.averages[name] = 0.9*a.averages[name] + 0.1*float64(info.Size())
	}
}

func sendSummaries(summaries <-chan map[string]float64, done chan<- int) {
	bytes := 0
	for s := range summaries {
		b, err := json.Marshal(s)
		check(err)
		bytes += len(b)
	}
	done <- bytes
}

func check(err error) {
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}
