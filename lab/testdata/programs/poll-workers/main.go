// Poll-workers polls six devices for their state, and handles commands.
package main

import (
	"fmt"
	"os"
	"runtime"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/gmpscope/gmpscope/internal/testkit/rec"
)

type device struct {
	state atomic.Int32
	polls int
	found int
}

func (d *device) poll() bool {
	d.polls++
	rec.Work(25)
	return d.state.CompareAndSwap(1, 0)
}

func pollDevice(d *device, stop *atomic.Bool) {
	for !stop.Load() {
		if d.poll() {
			d.found++
			continue
		}
		runtime.Gosched()
	}
}

func handleCommand(d *device, came time.Time) time.Duration {
	rec.Work(300)
	d.state.Store(1)
	return time.Since(came)
}

func main() {
	var devices [6]device
	var stop atomic.Bool
	var polling, commands sync.WaitGroup
	took := make([]time.Duration, 80)
	rec.Start()
	for i := range devices {
		polling.Go(func() { pollDevice(&devices[i], &stop) })
	}
	ticker := time.NewTicker(4 * time.Millisecond)
	for i := range took {
		came := <-ticker.C
		commands.Go(func() { took[i] = handleCommand(&devices[i%6], came) })
	}
	commands.Wait()
	stop.Store(true)
	polling.Wait()
	rec.Stop()
	polls, found := 0, 0
	for i := range devices {
		polls += devices[i].polls
		found += devices[i].found
	}
	slices.Sort(took)
	fmt.Fprintf(os.Stderr, "proof: %d polls found %d changes; commands of 0.3 ms took p50 %v, p90 %v\n", polls, found, took[40], took[72])
}
