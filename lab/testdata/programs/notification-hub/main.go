// Notification-hub keeps a goroutine for each connected device. 3,000 devices
// are connected and most never get anything; 24 of them belong to active
// users, who get a message every few milliseconds.
package main

import (
	"crypto/sha256"
	"fmt"
	"os"
	"slices"
	"sync"
	"time"

	"github.com/gmpscope/gmpscope/internal/testkit/rec"
)

const (
	devices = 3000
	active  = 24
	rounds  = 60
)

type message struct {
	id   int
	body []byte
	sent time.Time
}

type hub struct {
	sessions  []chan message
	latencies []time.Duration // by message
	delivered sync.WaitGroup
}

func main() {
	h := &hub{sessions: make([]chan message, devices), latencies: make([]time.Duration, rounds*active)}
	for i := range h.sessions {
		h.sessions[i] = make(chan message)
		go h.serveDevice(h.sessions[i])
	}
	time.Sleep(50 * time.Millisecond)
	rec.Start()
	h.publish()
	h.delivered.Wait()
	rec.Stop()
	slices.Sort(h.latencies)
	fmt.Fprintf(os.Stderr, "proof: %d messages, p50 %v, p99 %v; %d devices idle\n", len(h.latencies),
		h.latencies[len(h.latencies)/2], h.latencies[len(h.latencies)*99/100], devices-active)
}

func (h *hub) publish() {
	body := make([]byte, 4096)
	ticker := time.NewTicker(10 * time.Millisecond)
	defer ticker.Stop()
	for round := range rounds {
		<-ticker.C
		h.delivered.Add(active)
		for user := range active {
			id := round*active + user
			h.sessions[user*97] <- message{id, body, time.Now()}
		}
	}
}

func (h *hub) serveDevice(inbox <-chan message) {
	for m := range inbox {
		signDelivery(m.body)
		h.latencies[m.id] = time.Since(m.sent)
		h.delivered.Done()
	}
}

func signDelivery(body []byte) [sha256.Size]byte { return sha256.Sum256(body) }
