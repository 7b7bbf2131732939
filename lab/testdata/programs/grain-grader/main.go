// Grain-grader grades samples of grain at night. It has all the machine, and
// uses it.
package main

import (
	"crypto/sha256"
	"encoding/binary"
	"fmt"
	"os"
	"runtime"
	"sync"
	"sync/atomic"
	"syscall"
	"time"

	"github.com/gmpscope/gmpscope/internal/testkit/rec"
)

const samples = 900

type grade struct {
	sample int
	class  byte
}

// gradeSample looks at each kernel of a sample.
func gradeSample(sample int) grade {
	var kernel [256]byte
	binary.LittleEndian.PutUint64(kernel[:], uint64(sample))
	var class byte
	for range 3000 {
		sum := sha256.Sum256(kernel[:])
		copy(kernel[8:], sum[:])
		class ^= sum[0]
	}
	return grade{sample, class}
}

func cpuTime() time.Duration {
	var usage syscall.Rusage
	syscall.Getrusage(syscall.RUSAGE_SELF, &usage)
	return time.Duration(usage.Utime.Nano() + usage.Stime.Nano())
}

func main() {
	workers := runtime.GOMAXPROCS(0)
	grades := make(chan grade, 64)
	classes := make(map[byte]int)
	var next atomic.Int64
	done := make([]int, workers)
	rec.Start()
	cpu, begin := cpuTime(), time.Now()
	var open, ledger sync.WaitGroup
	ledger.Go(func() {
		for g := range grades {
			classes[g.class>>5]++
		}
	})
	for id := range workers {
		open.Go(func() {
			for sample := int(next.Add(1)); sample <= samples; sample = int(next.Add(1)) {
				grades <- gradeSample(sample)
				done[id]++
			}
		})
	}
	open.Wait()
	close(grades)
	ledger.Wait()
	took := time.Since(begin)
	cpu = cpuTime() - cpu
	rec.Stop()
	fmt.Fprintf(os.Stderr, "proof: %d samples by %d workers (%v) in %v, with %.2f CPUs busy\n",
		samples, workers, done, took.Round(time.Millisecond), cpu.Seconds()/took.Seconds())
}
