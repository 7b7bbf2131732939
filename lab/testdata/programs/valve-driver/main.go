// Valve-driver replays what four controllers set valves to in a day.
package main

import (
	"fmt"
	"os"
	"sync"
	"time"

	"github.com/gmpscope/gmpscope/internal/testkit/rec"
	"github.com/gmpscope/gmpscope/lab/testdata/programs/valve-driver/valves"
)

const (
	controllers = 4
	commands    = 7000 // of each
)

func main() {
	rec.Start()
	took := replay(false)
	rec.Stop()
	mended := replay(true)
	fmt.Fprintf(os.Stderr, "proof: %d commands in %v; if the driver has no thread of its own, untraced: %v\n", controllers*commands, took, mended)
}

func replay(free bool) time.Duration {
	d := valves.NewDriver()
	d.Free = free
	begin := time.Now()
	var driving, open sync.WaitGroup
	driving.Go(d.Run)
	for n := range controllers {
		open.Go(func() { control(d, n) })
	}
	open.Wait()
	d.Close()
	driving.Wait()
	return time.Since(begin)
}

// control sets valves as they were set that day.
func control(d *valves.Driver, controller int) (opened int) {
	done := make(chan int)
	for n := range commands {
		valve := controller*16 + n%16
		if was := d.Set(valve, n*13%101, done); was < n*13%101 {
			opened++
		}
	}
	return opened
}
