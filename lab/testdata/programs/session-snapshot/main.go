// Session-snapshot keeps user sessions in memory and hands a copy of them to
// the replication every 80 ms.
package main

import (
	"fmt"
	"os"
	"sync"
	"time"

	"github.com/gmpscope/gmpscope/internal/testkit/rec"
)

type session struct{ user, hits int }

type sessionStore struct {
	mu   sync.RWMutex
	byID map[int]session
}

func (s *sessionStore) Touch(id int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	v := s.byID[id]
	v.hits++
	s.byID[id] = v
}

func (s *sessionStore) Lookup(id int) session {
	s.mu.RLock()
	defer s.mu.RUnlock()
	return s.byID[id]
}

func (s *sessionStore) Snapshot() (map[int]session, time.Duration) {
	s.mu.Lock()
	defer s.mu.Unlock()
	start := time.Now()
	out := make(map[int]session, len(s.byID))
	for id, v := range s.byID {
		out[id] = v
	}
	return out, time.Since(start)
}

func main() {
	store := &sessionStore{byID: make(map[int]session)}
	for id := range 150_000 {
		store.byID[id] = session{user: id}
	}
	var longest [6]time.Duration
	stop := make(chan struct{})
	var wg sync.WaitGroup
	rec.Start()
	for i := range longest {
		wg.Go(func() { longest[i] = handleRequests(store, i, stop) })
	}
	held := writeSnapshots(store)
	close(stop)
	wg.Wait()
	rec.Stop()
	fmt.Fprintf(os.Stderr, "proof: the longest request of each handler took %v; five snapshots held the lock for %v\n", longest, held)
}

func writeSnapshots(store *sessionStore) (held time.Duration) {
	for range 5 {
		time.Sleep(80 * time.Millisecond)
		_, took := store.Snapshot()
		held += took
	}
	return held
}

func handleRequests(store *sessionStore, seed int, stop <-chan struct{}) (longest time.Duration) {
	ticker := time.NewTicker(2 * time.Millisecond)
	defer ticker.Stop()
	for id := seed; ; id += 7 {
		select {
		case <-stop:
			return longest
		case <-ticker.C:
			start := time.Now()
			if store.Lookup(id%150_000).hits < 100 {
				store.Touch(id % 150_000)
			}
			longest = max(longest, time.Since(start))
		}
	}
}
