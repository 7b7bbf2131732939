// Fleet-tracker follows vehicles, and logs their positions to a log shipper,
// a process of its own at the other end of a pipe.
package main

import (
	"fmt"
	"io"
	"log"
	"math"
	"os"
	"os/exec"
	"runtime/trace"
	"slices"
	"sync"
	"time"
)

const (
	vehicles = 10
	phase    = 1100 * time.Millisecond
)

type vehicle struct {
	id       int
	lat, lon float64
	odometer float64
}

type tracker struct {
	logger *log.Logger
	mu     sync.Mutex
	inLog  time.Duration
	took   []time.Duration
}

func (v *vehicle) move(n int) {
	for i := range 200 {
		step := math.Sin(float64(n+i)) / 1e4
		v.lat += step
		v.lon += math.Cos(step) / 1e4
		v.odometer += math.Hypot(v.lat, v.lon) / 1e3
	}
}

func (t *tracker) follow(v *vehicle, end time.Time) {
	for n := 0; time.Now().Before(end); n++ {
		v.move(n)
		t.report(v)
		time.Sleep(2 * time.Millisecond)
	}
}

func (t *tracker) report(v *vehicle) {
	begin := time.Now()
	t.logger.Printf("vehicle=%d lat=%.6f lon=%.6f odometer=%.3f state=moving driver=%q route=%q",
		v.id, v.lat, v.lon, v.odometer, "driver of the day, second shift", "depot, harbour, market place, depot, northern ring")
	took := time.Since(begin)
	t.mu.Lock()
	t.inLog += took
	t.took = append(t.took, took)
	t.mu.Unlock()
}

// geofence looks at all vehicles now and then.
func geofence(done chan struct{}, looked *int) {
	tick := time.NewTicker(25 * time.Millisecond)
	defer tick.Stop()
	for {
		select {
		case <-tick.C:
			*looked++
		case <-done:
			return
		}
	}
}

// ship is the log shipper: it takes 2 KB at a time, and 10 ms for each.
func ship() {
	chunk := make([]byte, 2048)
	for {
		if _, err := os.Stdin.Read(chunk); err != nil {
			return
		}
		time.Sleep(10 * time.Millisecond)
	}
}

func main() {
	if os.Getenv("FLEET_SHIPPER") != "" {
		ship()
		return
	}
	shipper := exec.Command(os.Args[0])
	shipper.Env = append(os.Environ(), "FLEET_SHIPPER=1")
	pipe, err := shipper.StdinPipe()
	check(err)
	check(shipper.Start())
	t := &tracker{logger: log.New(pipe, "fleet ", log.LstdFlags|log.Lmicroseconds)}
	// The shipper has fallen behind already.
	io.WriteString(pipe, fmt.Sprintf("%65000d\n", 0))
	done := make(chan struct{})
	looked := 0
	stop := startTrace()
	end := time.Now().Add(phase)
	var open, side sync.WaitGroup
	side.Go(func() { geofence(done, &looked) })
	for id := range vehicles {
		open.Go(func() { t.follow(&vehicle{id: id}, end) })
	}
	open.Wait()
	close(done)
	side.Wait()
	stop()
	shipper.Process.Kill()
	shipper.Wait()
	slices.Sort(t.took)
	fmt.Fprintf(os.Stderr, "proof: %d positions, due every 2 ms from each of %d vehicles, which make %d; %.0f %% of their time in the logger, p50 %v, p99 %v\n",
		len(t.took), vehicles, vehicles*phase/(2*time.Millisecond), 100*float64(t.inLog)/float64(vehicles*phase), t.took[len(t.took)/2].Round(time.Microsecond), t.took[len(t.took)*99/100].Round(time.Microsecond))
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
