// Fleet-stripes keeps the track of each vehicle of a fleet in a table whose
// lock is striped by vehicle number. Radio links deliver positions, and
// dispatchers look vehicles up.
package main

import (
	"fmt"
	"math/rand/v2"
	"os"
	"sync"
	"time"

	"github.com/gmpscope/gmpscope/internal/testkit/rec"
)

const (
	stripes     = 32
	depots      = 12
	perDepot    = 40
	links       = 12
	dispatchers = 4
	shift       = 800 * time.Millisecond
)

type track struct {
	lat, lon float64
	fixes    int
}

type stripe struct {
	mu     sync.Mutex
	tracks map[int]*track
}

// A trackTable holds the tracks of all vehicles.
type trackTable struct {
	stripes [stripes]stripe
}

func newTrackTable(vehicles []int) *trackTable {
	t := new(trackTable)
	for i := range t.stripes {
		t.stripes[i].tracks = make(map[int]*track)
	}
	for _, v := range vehicles {
		t.stripeOf(v).tracks[v] = new(track)
	}
	return t
}

func (t *trackTable) stripeOf(vehicle int) *stripe {
	return &t.stripes[vehicle%stripes]
}

// Update fits a new fix to the track of a vehicle.
func (t *trackTable) Update(vehicle int, lat, lon float64) {
	s := t.stripeOf(vehicle)
	s.mu.Lock()
	defer s.mu.Unlock()
	tr := s.tracks[vehicle]
	matchRoad(tr)
	tr.lat, tr.lon = lat, lon
	tr.fixes++
}

// Position returns where a vehicle was seen last.
func (t *trackTable) Position(vehicle int) (lat, lon float64) {
	s := t.stripeOf(vehicle)
	s.mu.Lock()
	defer s.mu.Unlock()
	tr := s.tracks[vehicle]
	return tr.lat, tr.lon
}

// matchRoad finds the road segment that continues the track.
func matchRoad(*track) { rec.Work(450) }

// vehicleNumbers gives each depot a block of numbers. The last six bits of a
// vehicle's number are zero; its trailers are numbered with them.
func vehicleNumbers() (numbers []int) {
	for d := range depots {
		for n := range perDepot {
			numbers = append(numbers, (d+1)<<14|n<<6)
		}
	}
	return numbers
}

func main() {
	vehicles := vehicleNumbers()
	table := newTrackTable(vehicles)
	updating := make([]time.Duration, links)
	updates := make([]int, links)
	looking := make([]time.Duration, dispatchers)
	lookups := make([]int, dispatchers)
	var crew sync.WaitGroup
	rec.Start()
	end := time.Now().Add(shift)
	for id := range links {
		crew.Go(func() {
			rng := rand.New(rand.NewPCG(1, uint64(id)))
			for time.Now().Before(end) {
				time.Sleep(time.Duration(1000+rng.IntN(1000)) * time.Microsecond) // the next fix is on the air
				start := time.Now()
				table.Update(vehicles[rng.IntN(len(vehicles))], rng.Float64(), rng.Float64())
				updating[id] += time.Since(start)
				updates[id]++
			}
		})
	}
	for id := range dispatchers {
		crew.Go(func() {
			rng := rand.New(rand.NewPCG(2, uint64(id)))
			for time.Now().Before(end) {
				time.Sleep(5 * time.Millisecond)
				start := time.Now()
				table.Position(vehicles[rng.IntN(len(vehicles))])
				looking[id] += time.Since(start)
				lookups[id]++
			}
		})
	}
	crew.Wait()
	rec.Stop()
	u, n := sum(updating, updates)
	l, m := sum(looking, lookups)
	fmt.Fprintf(os.Stderr, "proof: an update took %v on average (0.45 ms of work; %d done), a look-up %v (%d done)\n", u, n, l, m)
}

func sum(took []time.Duration, counts []int) (mean time.Duration, n int) {
	for i := range took {
		mean += took[i]
		n += counts[i]
	}
	return mean / time.Duration(max(n, 1)), n
}
