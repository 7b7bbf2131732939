// Tram-board computes when the next trams come, for the displays at the stops.
// A child of its is the operator's debugger, that halts it now and then.
package main

import (
	"fmt"
	"hash/crc32"
	"os"
	"os/exec"
	"slices"
	"strconv"
	"sync"
	"syscall"
	"time"

	"github.com/gmpscope/gmpscope/internal/testkit/rec"
)

const phase = 900 * time.Millisecond

type departures struct {
	mu    sync.RWMutex
	table []byte
	sum   uint32
}

// recompute works out the table of departures.
func (d *departures) recompute(n int) {
	table := make([]byte, 0, 32<<10)
	for stop := range 600 {
		table = fmt.Appendf(table, "stop %d: line %d in %d min\n", stop, n%12, (stop+n)%17)
	}
	d.mu.Lock()
	d.table, d.sum = table, crc32.ChecksumIEEE(table)
	d.mu.Unlock()
}

func (d *departures) refresh(end time.Time) {
	for n := 0; time.Now().Before(end); n++ {
		d.recompute(n)
		time.Sleep(4 * time.Millisecond)
	}
}

// showStop shows the table at a stop every 2 ms, and notes how late.
func (d *departures) showStop(begin, end time.Time) (late []time.Duration) {
	for due := begin; due.Before(end); due = due.Add(2 * time.Millisecond) {
		time.Sleep(time.Until(due))
		late = append(late, time.Since(due))
		d.mu.RLock()
		_ = d.table
		d.mu.RUnlock()
	}
	return late
}

// halt stops the parent for 60 ms out of 180, until it is gone.
func halt(parent int) {
	for range 20 {
		time.Sleep(120 * time.Millisecond)
		if os.Getppid() != parent || syscall.Kill(parent, syscall.SIGSTOP) != nil {
			return
		}
		time.Sleep(60 * time.Millisecond)
		syscall.Kill(parent, syscall.SIGCONT)
	}
}

func main() {
	if parent, err := strconv.Atoi(os.Getenv("TRAM_BOARD_PARENT")); err == nil {
		halt(parent)
		return
	}
	var d departures
	late := make([][]time.Duration, 5)
	debugger := exec.Command(os.Args[0])
	debugger.Env = append(os.Environ(), fmt.Sprint("TRAM_BOARD_PARENT=", os.Getpid()))
	if err := debugger.Start(); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	rec.Start()
	begin := time.Now()
	end := begin.Add(phase)
	var open sync.WaitGroup
	open.Go(func() { d.refresh(end) })
	for id := range late {
		open.Go(func() { late[id] = d.showStop(begin, end) })
	}
	open.Wait()
	rec.Stop()
	debugger.Process.Kill()
	debugger.Wait()
	all := slices.Concat(late...)
	slices.Sort(all)
	halts := 0
	for i, l := range late[0] {
		if l > 40*time.Millisecond && late[0][i-1] < 40*time.Millisecond {
			halts++
		}
	}
	fmt.Fprintf(os.Stderr, "proof: halted %d times; displays late by p50 %v, p90 %v, max %v\n",
		halts, all[len(all)/2], all[len(all)*9/10].Round(time.Millisecond), all[len(all)-1].Round(time.Millisecond))
}
