// Meter-agent reads the counters of electricity meters every 15 ms, and raises an
// alarm when the load of one is above its limit for three readings.
package main

import (
	"fmt"
	"os"
	"slices"
	"time"

	"github.com/gmpscope/gmpscope/internal/testkit/rec"
)

const readings = 40

type meter struct {
	limit float64
	above int // readings in a row
}

type alarm struct {
	meter int
	load  float64
}

type agent struct {
	meters []meter
	alarms chan alarm
	took   []time.Duration
}

func main() {
	a := &agent{meters: make([]meter, 24), alarms: make(chan alarm, 64)}
	for i := range a.meters {
		a.meters[i].limit = float64(60 + 2*i)
	}
	raised := make(chan int)
	rec.Start()
	go countAlarms(a.alarms, raised)
	a.run()
	close(a.alarms)
	alarms := <-raised
	rec.Stop()
	slices.Sort(a.took)
	fmt.Fprintf(os.Stderr, "proof: %d readings of 24 meters were done after they were due: p50 %v, max %v; %d alarms\n",
		readings, a.took[readings/2], a.took[readings-1], alarms)
}

func (a *agent) run() {
	ticker := time.NewTicker(15 * time.Millisecond)
	defer ticker.Stop()
	for n := range readings {
		due := <-ticker.C
		for i := range a.meters {
			a.check(i, readLoad(i, n))
		}
		a.took = append(a.took, time.Since(due))
	}
}

func (a *agent) check(i int, load float64) {
	m := &a.meters[i]
	if load <= m.limit {
		m.above = 0
		return
	}
	if m.above++; m.above == 3 {
		a.alarms <- alarm{i, load}
	}
}

// readLoad stands for the reading of a register.
func readLoad(meter, n int) float64 {
	rec.Work(15)
	return float64((meter*37 + n/5*29) % 120)
}

func countAlarms(alarms <-chan alarm, raised chan<- int) {
	count := 0
	for range alarms {
		count++
	}
	raised <- count
}
