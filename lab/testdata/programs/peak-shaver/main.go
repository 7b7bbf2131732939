// Peak-shaver charges and discharges batteries of a building through one
// inverter, while it samples the meters.
package main

import (
	"fmt"
	"os"
	"slices"
	"sync"
	"syscall"
	"time"

	"github.com/gmpscope/gmpscope/internal/testkit/rec"
	"github.com/gmpscope/gmpscope/lab/testdata/programs/peak-shaver/spin"
)

const phase = 500 * time.Millisecond

type inverter struct {
	bus      spin.Mutex
	commands int
}

// setPower writes a register over the bus and waits for its answer.
func (i *inverter) setPower(battery int) {
	i.bus.Lock()
	defer i.bus.Unlock()
	i.commands++
	time.Sleep(3 * time.Millisecond)
}

func controlBattery(i *inverter, battery int, end time.Time) {
	for time.Now().Before(end) {
		i.setPower(battery)
		time.Sleep(8 * time.Millisecond)
	}
}

func sampleMeter(begin, end time.Time) (late []time.Duration) {
	for due := begin; due.Before(end); due = due.Add(2 * time.Millisecond) {
		time.Sleep(time.Until(due))
		late = append(late, time.Since(due))
	}
	return late
}

func cpuTime() time.Duration {
	var usage syscall.Rusage
	syscall.Getrusage(syscall.RUSAGE_SELF, &usage)
	return time.Duration(usage.Utime.Nano() + usage.Stime.Nano())
}

func main() {
	var i inverter
	late := make([][]time.Duration, 3)
	rec.Start()
	cpu, begin := cpuTime(), time.Now()
	end := begin.Add(phase)
	var open sync.WaitGroup
	for battery := range 6 {
		open.Go(func() { controlBattery(&i, battery, end) })
	}
	for id := range late {
		open.Go(func() { late[id] = sampleMeter(begin, end) })
	}
	open.Wait()
	cpu = cpuTime() - cpu
	rec.Stop()
	all := slices.Concat(late...)
	slices.Sort(all)
	fmt.Fprintf(os.Stderr, "proof: %d commands with %d tries for the bus, %v of CPU in %v; samples late by p50 %v, p99 %v\n",
		i.commands, i.bus.Spins.Load(), cpu.Round(time.Millisecond), phase, all[len(all)/2], all[len(all)*99/100])
}
