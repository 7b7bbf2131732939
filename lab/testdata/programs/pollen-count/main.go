// Pollen-count counts grains in pictures from traps, and answers a monitor. It
// is allowed one CPU of the machine, and thinks that it has four.
package main

import (
	"fmt"
	"os"
	"runtime"
	"slices"
	"sync"
	"syscall"
	"time"
	"unsafe"

	"github.com/gmpscope/gmpscope/internal/testkit/rec"
)

const (
	side  = 640
	traps = 4
	each  = 24
)

type picture [side][side]byte

func takePicture(trap, n int) *picture {
	var p picture
	seed := uint32(trap*1000 + n)
	for y := range p {
		for x := range p[y] {
			seed = seed*1664525 + 1013904223
			p[y][x] = byte(seed >> 24)
		}
	}
	return &p
}

// countGrains counts the bright spots.
func (p *picture) countGrains() (grains int) {
	for y := 1; y < side-1; y++ {
		for x := 1; x < side-1; x++ {
			sum := 0
			for dy := -1; dy <= 1; dy++ {
				for dx := -1; dx <= 1; dx++ {
					sum += int(p[y+dy][x+dx])
				}
			}
			if sum > 1700 {
				grains++
			}
		}
	}
	return grains
}

func answerMonitor(over chan struct{}) (late []time.Duration) {
	tick := time.NewTicker(5 * time.Millisecond)
	defer tick.Stop()
	for {
		select {
		case due := <-tick.C:
			late = append(late, time.Since(due))
		case <-over:
			return late
		}
	}
}

// confine lets the process, started anew, run on its first CPU only, as the
// cpuset of a container does.
func confine() {
	if os.Getenv("POLLEN_COUNT_CONFINED") != "" {
		return
	}
	runtime.LockOSThread()
	var set [16]uint64
	_, _, e := syscall.RawSyscall(syscall.SYS_SCHED_GETAFFINITY, 0, unsafe.Sizeof(set), uintptr(unsafe.Pointer(&set)))
	for i, word := range set {
		if word != 0 {
			set = [16]uint64{}
			set[i] = word & -word
			break
		}
	}
	if e == 0 {
		_, _, e = syscall.RawSyscall(syscall.SYS_SCHED_SETAFFINITY, 0, unsafe.Sizeof(set), uintptr(unsafe.Pointer(&set)))
	}
	if e != 0 {
		fmt.Fprintln(os.Stderr, e)
		os.Exit(1)
	}
	fmt.Fprintln(os.Stderr, syscall.Exec("/proc/self/exe", os.Args, append(os.Environ(), "POLLEN_COUNT_CONFINED=1")))
	os.Exit(1)
}

func cpuTime() time.Duration {
	var usage syscall.Rusage
	syscall.Getrusage(syscall.RUSAGE_SELF, &usage)
	return time.Duration(usage.Utime.Nano() + usage.Stime.Nano())
}

func main() {
	confine()
	over := make(chan struct{})
	var late []time.Duration
	var grains [traps]int
	var spans [traps]time.Duration
	rec.Start()
	cpu, begin := cpuTime(), time.Now()
	var monitor, open sync.WaitGroup
	monitor.Go(func() { late = answerMonitor(over) })
	for trap := range traps {
		open.Go(func() {
			for n := range each {
				grains[trap] += takePicture(trap, n).countGrains()
			}
			spans[trap] = time.Since(begin)
		})
	}
	open.Wait()
	took := time.Since(begin)
	cpu = cpuTime() - cpu
	close(over)
	monitor.Wait()
	rec.Stop()
	slices.Sort(late)
	sum := time.Duration(0)
	for _, s := range spans {
		sum += s
	}
	fmt.Fprintf(os.Stderr, "proof: the counters ran for %v (summed) on %d Ps, and got %v of CPU in %v: %.2f CPUs; %d answers late by p50 %v, p99 %v\n",
		sum.Round(time.Millisecond), runtime.GOMAXPROCS(0), cpu.Round(time.Millisecond), took.Round(time.Millisecond), cpu.Seconds()/took.Seconds(), len(late), late[len(late)/2], late[len(late)*99/100])
}
