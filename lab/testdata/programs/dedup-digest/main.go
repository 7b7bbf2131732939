// Dedup-digest finds equal blocks of a backup by their digests, with a worker
// for each P, as fast as it can.
package main

import (
	"crypto/sha512"
	"fmt"
	"math/rand/v2"
	"os"
	"runtime"
	"runtime/trace"
	"sync"
	"sync/atomic"
	"syscall"
	"time"
)

const phase = 1050 * time.Millisecond

type index struct {
	mu     sync.Mutex
	blocks map[[64]byte]int
	equal  int
}

func (x *index) note(sum [64]byte, block int) {
	x.mu.Lock()
	defer x.mu.Unlock()
	if _, ok := x.blocks[sum]; ok {
		x.equal++
		return
	}
	x.blocks[sum] = block
}

type scan struct {
	data  []byte
	next  atomic.Int64
	index index
}

const size = 64 << 10

func (s *scan) digestBlocks(end time.Time) {
	for time.Now().Before(end) {
		n := int(s.next.Add(1))
		at := n * 4096 % (len(s.data) - size)
		s.index.note(sha512.Sum512(s.data[at:at+size]), n)
	}
}

// showProgress is the only other goroutine; nobody waits for it.
func (s *scan) showProgress(done chan struct{}, shown *int) {
	tick := time.NewTicker(100 * time.Millisecond)
	defer tick.Stop()
	for {
		select {
		case <-tick.C:
			fmt.Fprintf(os.Stdout, "%d blocks\n", s.next.Load())
			*shown++
		case <-done:
			return
		}
	}
}

func cpuTime() time.Duration {
	var usage syscall.Rusage
	check(syscall.Getrusage(syscall.RUSAGE_SELF, &usage))
	return time.Duration(usage.Utime.Nano() + usage.Stime.Nano())
}

func main() {
	s := &scan{data: make([]byte, 4<<20), index: index{blocks: map[[64]byte]int{}}}
	source := rand.NewChaCha8([32]byte{})
	source.Read(s.data)
	done := make(chan struct{})
	shown := 0
	var workers, side sync.WaitGroup
	stop := startTrace()
	begin, cpu := time.Now(), cpuTime()
	side.Go(func() { s.showProgress(done, &shown) })
	procs := runtime.GOMAXPROCS(0)
	for range procs {
		workers.Go(func() { s.digestBlocks(begin.Add(phase)) })
	}
	workers.Wait()
	took := time.Since(begin)
	cpu = cpuTime() - cpu
	close(done)
	side.Wait()
	stop()
	fmt.Fprintf(os.Stderr, "proof: %d blocks by %d workers, which used %.0f %% of the CPU time of %d Ps; progress shown %d times of 10\n",
		s.next.Load(), procs, 100*float64(cpu)/float64(took)/float64(procs), procs, shown)
}

func startTrace() (stop func()) {
	file, err := os.Create(os.Args[1])
	check(err)
	check(trace.Start(file))
	return func() {
		trace.Stop()
		check(file.Close())
	}
}

func check(err error) {
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}
