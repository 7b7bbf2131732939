// Sensor-bursts takes readings from weather stations, which send what they
// stored whenever they find a network. Three workers file the readings. The
// two releases differ in the name of a log file only.
package main

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"os"
	"slices"
	"sync"
	"time"

	"github.com/gmpscope/gmpscope/internal/testkit/rec"
)

const (
	stations = 9
	workers  = 3
	phase    = 600 * time.Millisecond
)

type reading struct {
	Station string
	Values  []float64
	came    time.Time
}

type archive struct {
	name  string
	inbox chan reading
	took  [workers][]time.Duration
}

func main() {
	a := &archive{name: "weather", inbox: make(chan reading, 64)}
	if os.Getenv("SIDE") == "after" {
		a.name = "weather-stations"
	}
	rec.Start()
	end := time.Now().Add(phase)
	var sending, filing sync.WaitGroup
	for id := range workers {
		filing.Go(func() { a.file(id) })
	}
	for id := range stations {
		sending.Go(func() { a.receive(id, end) })
	}
	sending.Wait()
	close(a.inbox)
	filing.Wait()
	rec.Stop()
	took := slices.Concat(a.took[:]...)
	slices.Sort(took)
	fmt.Fprintf(os.Stderr, "proof: %d readings, p50 %v, p99 %v\n", len(took), took[len(took)/2], took[len(took)*99/100])
}

func (a *archive) receive(station int, end time.Time) {
	for time.Now().Before(end) {
		time.Sleep(time.Duration(rand.ExpFloat64() * float64(60*time.Millisecond)))
		for range 5 + rand.IntN(40) {
			a.inbox <- reading{fmt.Sprintf("%s/%d", a.name, station), make([]float64, 300+rand.IntN(600)), time.Now()}
		}
	}
}

func (a *archive) file(worker int) {
	for r := range a.inbox {
		for i := range r.Values {
			r.Values[i] = 20 + float64(i%17)/8
		}
		if _, err := json.Marshal(r); err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
		a.took[worker] = append(a.took[worker], time.Since(r.came))
	}
}
