// Package lobby tells the players of a game when something happens at their
// table: each asks, and is answered when it does or when it has waited long
// enough.
package lobby

import (
	"fmt"
	"net/http"
	"sync"
	"sync/atomic"
	"time"
)

type Lobby struct {
	Delay  [3]atomic.Int64 // from an event to the answer: how many, the sum, and the longest in nanoseconds
	wait   time.Duration
	mu     sync.Mutex
	tables map[string][]chan time.Time
}

func New(wait time.Duration) *Lobby {
	return &Lobby{wait: wait, tables: make(map[string][]chan time.Time)}
}

// ServeHTTP answers with the next event at a table.
func (l *Lobby) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	events := l.seat(r.FormValue("table"))
	patience := time.NewTimer(l.wait)
	defer patience.Stop()
	select {
	case at := <-events:
		fmt.Fprintln(w, "event")
		delay := int64(time.Since(at))
		l.Delay[0].Add(1)
		l.Delay[1].Add(delay)
		for {
			longest := l.Delay[2].Load()
			if delay <= longest || l.Delay[2].CompareAndSwap(longest, delay) {
				break
			}
		}
	case <-patience.C:
		w.WriteHeader(http.StatusNoContent)
	case <-r.Context().Done():
	}
}

func (l *Lobby) seat(table string) <-chan time.Time {
	events := make(chan time.Time, 1)
	l.mu.Lock()
	defer l.mu.Unlock()
	l.tables[table] = append(l.tables[table], events)
	return events
}

// Tell answers those who wait at a table.
func (l *Lobby) Tell(table string) {
	l.mu.Lock()
	waiting := l.tables[table]
	delete(l.tables, table)
	l.mu.Unlock()
	for _, events := range waiting {
		events <- time.Now()
	}
}
