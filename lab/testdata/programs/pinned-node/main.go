// Pinned-node scores bids. The node's manager has given its process a single
// CPU by affinity, though it runs with two Ps.
package main

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"sync"
	"syscall"
	"time"
	"unsafe"

	"github.com/gmpscope/gmpscope/internal/testkit/rec"
)

const (
	bids    = 700
	period  = 1100 * time.Microsecond
	scoring = 1050 // units of work for a bid
	rebuild = 700  // and for a piece of the model
)

type bidder struct {
	took []time.Duration
}

// score scores one bid.
func (b *bidder) score(id int, due time.Time) {
	rec.Work(scoring)
	b.took[id] = time.Since(due)
}

// refreshModel brings the model up to date, a piece every few milliseconds.
func refreshModel(stop chan struct{}) {
	ticker := time.NewTicker(2 * time.Millisecond)
	defer ticker.Stop()
	for {
		select {
		case <-ticker.C:
			rec.Work(rebuild)
		case <-stop:
			return
		}
	}
}

// confine does what the node's manager does: it confines all threads of the
// process to the first of its CPUs.
func confine() {
	var mask [16]uint64
	_, _, errno := syscall.RawSyscall(syscall.SYS_SCHED_GETAFFINITY, 0, unsafe.Sizeof(mask), uintptr(unsafe.Pointer(&mask)))
	check(errno)
	var one [16]uint64
	for i, word := range mask {
		if word != 0 {
			one[i] = word & -word
			break
		}
	}
	threads, err := filepath.Glob("/proc/self/task/*")
	if err != nil {
		panic(err)
	}
	for _, dir := range threads {
		tid, err := strconv.Atoi(filepath.Base(dir))
		if err != nil {
			panic(err)
		}
		_, _, errno := syscall.RawSyscall(syscall.SYS_SCHED_SETAFFINITY, uintptr(tid), unsafe.Sizeof(one), uintptr(unsafe.Pointer(&one)))
		check(errno)
	}
}

func check(errno syscall.Errno) {
	if errno != 0 {
		fmt.Fprintln(os.Stderr, errno)
		os.Exit(1)
	}
}

// serve scores n bids as they come, and returns how long each took, in order.
func serve(n int) []time.Duration {
	b := &bidder{took: make([]time.Duration, n)}
	stop := make(chan struct{})
	var open, model sync.WaitGroup
	model.Go(func() { refreshModel(stop) })
	start := time.Now()
	for id := range n {
		due := start.Add(time.Duration(id) * period)
		time.Sleep(time.Until(due))
		open.Go(func() { b.score(id, due) })
	}
	open.Wait()
	close(stop)
	model.Wait()
	slices.Sort(b.took)
	return b.took
}

func main() {
	free := serve(bids / 2)
	confine()
	rec.Start()
	took := serve(bids)
	rec.Stop()
	fmt.Fprintf(os.Stderr, "proof: a bid (0.9 ms of work) took p50 %v, p90 %v on one CPU; before the process was confined, p50 %v, p90 %v\n",
		took[bids/2], took[bids*9/10], free[bids/4], free[bids*9/20])
}
