// Cargo-manifest declares cargo with the customs, and lists what was declared.
// Before, it held its lock while the customs answered; after, only to note
// what was declared.
package main

import (
	"fmt"
	"os"
	"slices"
	"sync"
	"time"

	"github.com/gmpscope/gmpscope/internal/testkit/rec"
)

const phase = 600 * time.Millisecond

type manifest struct {
	mu       sync.Mutex
	declared map[int]int
	after    bool
}

// askCustoms is a call to another service.
func askCustoms(item int) (number int) {
	time.Sleep(4 * time.Millisecond)
	return item * 7
}

func (m *manifest) declare(item int) {
	if m.after {
		number := askCustoms(item)
		m.mu.Lock()
		m.declared[item] = number
		m.mu.Unlock()
		return
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	m.declared[item] = askCustoms(item)
}

func (m *manifest) list() (sum int) {
	m.mu.Lock()
	defer m.mu.Unlock()
	for _, number := range m.declared {
		sum += number
	}
	return sum
}

func main() {
	m := &manifest{declared: make(map[int]int), after: os.Getenv("SIDE") == "after"}
	declarations, lists := make([][]time.Duration, 5), make([][]time.Duration, 3)
	rec.Start()
	end := time.Now().Add(phase)
	var open sync.WaitGroup
	for id := range declarations {
		open.Go(func() {
			for n := id; time.Now().Before(end); n += 5 {
				begin := time.Now()
				m.declare(n % 300)
				declarations[id] = append(declarations[id], time.Since(begin))
				time.Sleep(2 * time.Millisecond)
			}
		})
	}
	for id := range lists {
		open.Go(func() {
			for time.Now().Before(end) {
				begin := time.Now()
				m.list()
				lists[id] = append(lists[id], time.Since(begin))
				time.Sleep(3 * time.Millisecond)
			}
		})
	}
	open.Wait()
	rec.Stop()
	d, l := slices.Concat(declarations...), slices.Concat(lists...)
	slices.Sort(d)
	slices.Sort(l)
	fmt.Fprintf(os.Stderr, "proof: %d declarations, p50 %v; %d lists, p50 %v\n", len(d), d[len(d)/2].Round(10*time.Microsecond), len(l), l[len(l)/2].Round(10*time.Microsecond))
}
