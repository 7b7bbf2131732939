// Seat-map answers which seats of a hall are free, takes bookings, and works
// out the occupancy for the back office.
package main

import (
	"fmt"
	"os"
	"slices"
	"sync"
	"time"

	"github.com/gmpscope/gmpscope/internal/testkit/rec"
)

type seatMap struct {
	mu    sync.RWMutex
	taken []bool
	held  time.Duration // by Occupancy
}

func (m *seatMap) Free(seat int) bool {
	m.mu.RLock()
	defer m.mu.RUnlock()
	return !m.taken[seat]
}

func (m *seatMap) Book(seat int) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.taken[seat] = true
}

// Occupancy returns the share of seats taken, weighted by the view of each.
func (m *seatMap) Occupancy() float64 {
	m.mu.RLock()
	defer m.mu.RUnlock()
	start := time.Now()
	taken := 0.0
	for seat := range m.taken {
		if m.taken[seat] {
			taken++
		}
		rec.Work(4) // the lines of sight
	}
	m.held += time.Since(start)
	return taken / float64(len(m.taken))
}

func main() {
	m := &seatMap{taken: make([]bool, 5000)}
	var visitors, office sync.WaitGroup
	took := make([][]time.Duration, 8)
	closing := make(chan struct{})
	rec.Start()
	office.Go(func() { reportOccupancy(m, closing) })
	for id := range took {
		visitors.Go(func() { took[id] = browse(m, id) })
	}
	visitors.Wait()
	close(closing)
	office.Wait()
	rec.Stop()
	all := slices.Concat(took...)
	slow := slices.DeleteFunc(all, func(d time.Duration) bool { return d < time.Millisecond })
	sum := time.Duration(0)
	for _, d := range slow {
		sum += d
	}
	fmt.Fprintf(os.Stderr, "proof: %d of 640 look-ups took 1 ms or more, %v in sum; Occupancy held the read lock for %v\n",
		len(slow), sum, m.held)
}

// browse looks at seats, and books some; it returns how long each look
// took.
func browse(m *seatMap, visitor int) []time.Duration {
	var took []time.Duration
	for n := range 80 {
		seat := (visitor*997 + n*31) % len(m.taken)
		start := time.Now()
		free := m.Free(seat)
		took = append(took, time.Since(start))
		if free && n%5 == visitor%5 {
			m.Book(seat)
		}
		time.Sleep(3 * time.Millisecond)
	}
	return took
}

func reportOccupancy(m *seatMap, closing <-chan struct{}) {
	ticker := time.NewTicker(50 * time.Millisecond)
	defer ticker.Stop()
	for {
		select {
		case <-ticker.C:
			m.Occupancy()
		case <-closing:
			return
		}
	}
}
