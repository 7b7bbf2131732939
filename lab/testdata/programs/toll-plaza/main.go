// Toll-plaza shows on the display of each lane when a car has passed it.
package main

import (
	"fmt"
	"os"
	"slices"
	"syscall"
	"time"

	"github.com/gmpscope/gmpscope/internal/testkit/rec"
	"github.com/gmpscope/gmpscope/lab/testdata/programs/toll-plaza/lanes"
)

const (
	displays = 900
	phase    = 450 * time.Millisecond
)

var (
	passedAt [displays]time.Time
	lag      [displays]time.Duration // until the display showed it
)

func showLane(b *lanes.Board, lane int) {
	shown := 0
	for {
		shown = b.Await(lane, shown)
		lag[lane] = time.Since(passedAt[lane])
	}
}

func cpuTime() time.Duration {
	var usage syscall.Rusage
	syscall.Getrusage(syscall.RUSAGE_SELF, &usage)
	return time.Duration(usage.Utime.Nano() + usage.Stime.Nano())
}

func main() {
	board := lanes.NewBoard(displays)
	for lane := range displays {
		go showLane(board, lane)
	}
	rec.Start()
	cpu, begin, cars := cpuTime(), time.Now(), 0
	for time.Since(begin) < phase {
		lane := cars * 7 % displays
		passedAt[lane] = time.Now()
		board.Publish(lane)
		cars++
		time.Sleep(time.Millisecond)
	}
	cpu = cpuTime() - cpu
	rec.Stop()
	slices.Sort(lag[:])
	shown := slices.DeleteFunc(lag[:], func(d time.Duration) bool { return d == 0 })
	fmt.Fprintf(os.Stderr, "proof: %d cars woke displays %d times, %d times for their own lane; %v of CPU, %v a car; shown after p50 %v, p99 %v\n",
		cars, board.Looked.Load(), board.Useful.Load(), cpu.Round(time.Millisecond), (cpu / time.Duration(cars)).Round(time.Microsecond), shown[len(shown)/2], shown[len(shown)*99/100])
}
