// Roster-cache answers who is on duty. Before, its lock was a Mutex; after, it
// is an RWMutex. It is held so shortly that this makes no difference.
package main

import (
	"fmt"
	"os"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/gmpscope/gmpscope/internal/testkit/rec"
)

const phase = 600 * time.Millisecond

type roster struct {
	lock, readLock sync.Locker
	onDuty         map[int]string
}

func newRoster(after bool) *roster {
	r := &roster{onDuty: make(map[int]string)}
	for ward := range 50 {
		r.onDuty[ward] = fmt.Sprint("nurse ", ward)
	}
	if after {
		var mu sync.RWMutex
		r.lock, r.readLock = &mu, mu.RLocker()
	} else {
		var mu sync.Mutex
		r.lock, r.readLock = &mu, &mu
	}
	return r
}

// who copies the names of some wards.
func (r *roster) who(wards []string, first int) {
	r.readLock.Lock()
	defer r.readLock.Unlock()
	for n := range wards {
		wards[n] = r.onDuty[(first+n)%50]
	}
}

func (r *roster) change(ward int, name string) {
	r.lock.Lock()
	r.onDuty[ward] = name
	r.lock.Unlock()
}

// answer fills in a page.
func (r *roster) answer(ward int) (length int) {
	var page strings.Builder
	var wards [20]string
	r.who(wards[:], ward)
	for n := range 200 {
		fmt.Fprintf(&page, "<tr><td>%d</td><td>%s</td></tr>", n, wards[n%20])
	}
	return page.Len()
}

func main() {
	r := newRoster(os.Getenv("SIDE") == "after")
	took := make([][]time.Duration, 8)
	rec.Start()
	end := time.Now().Add(phase)
	var open sync.WaitGroup
	open.Go(func() {
		for n := 0; time.Now().Before(end); n++ {
			r.change(n%50, "nurse on call")
			time.Sleep(5 * time.Millisecond)
		}
	})
	for id := range took {
		open.Go(func() {
			for n := id; time.Now().Before(end); n++ {
				begin := time.Now()
				r.answer(n)
				took[id] = append(took[id], time.Since(begin))
				time.Sleep(2 * time.Millisecond)
			}
		})
	}
	open.Wait()
	rec.Stop()
	all := slices.Concat(took...)
	slices.Sort(all)
	fmt.Fprintf(os.Stderr, "proof: %d answers, p50 %v, p90 %v\n", len(all), all[len(all)/2].Round(time.Microsecond), all[len(all)*9/10].Round(time.Microsecond))
}
