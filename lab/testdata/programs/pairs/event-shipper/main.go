// Event-shipper collects events in three goroutines and ships them from one
// more each. Before, each event was sent over an unbuffered channel by itself;
// after, a collector sends 64 at a time.
package main

import (
	"crypto/sha256"
	"fmt"
	"os"
	"sync"
	"time"

	"github.com/gmpscope/gmpscope/internal/testkit/rec"
)

const (
	sources = 3
	events  = 16000 // a source
)

type event struct {
	id   int
	line []byte
}

type shipper struct {
	sum   [sha256.Size]byte
	bytes int
}

func main() {
	batch := 1
	if os.Getenv("SIDE") == "after" {
		batch = 64
	}
	rec.Start()
	begin := time.Now()
	var open sync.WaitGroup
	for source := range sources {
		queue := make(chan []event)
		open.Go(func() { collect(source, batch, queue) })
		open.Go(func() { (&shipper{}).ship(queue) })
	}
	open.Wait()
	total := time.Since(begin)
	rec.Stop()
	fmt.Fprintf(os.Stderr, "proof: %d events in %v, %.0f a millisecond\n", sources*events,
		total.Round(time.Millisecond), sources*events/(1000*total.Seconds()))
}

func collect(source, batch int, queue chan<- []event) {
	defer close(queue)
	pending := make([]event, 0, batch)
	for id := range events {
		line := fmt.Appendf(nil, `{"source": %d, "event": %d, "what": "door opened"}`, source, id)
		pending = append(pending, event{id, line})
		if len(pending) == batch {
			queue <- pending
			pending = make([]event, 0, batch)
		}
	}
}

func (s *shipper) ship(queue <-chan []event) {
	for batch := range queue {
		for _, e := range batch {
			s.sum = sha256.Sum256(append(s.sum[:], e.line...))
			s.bytes += len(e.line)
		}
	}
}
