// Event-shipper collects events in three goroutines and ships them from one
// more each. Before, each event was sent over an unbuffered channel by itself;
// after, a collector sends 64 at a time.
package main

import (
	"fmt"
	"hash/crc32"
	"os"
	"strconv"
	"sync"
	"time"

	"github.com/gmpscope/gmpscope/internal/rec"
)

const (
	sources = 3
	events  = 9600 // a source
)

type event struct {
	id   int
	line []byte
}

type shipper struct {
	sum   uint32
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
		line := strconv.AppendInt([]byte("source "), int64(source), 10)
		line = strconv.AppendInt(append(line, " event "...), int64(id), 10)
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
			s.sum = crc32.Update(s.sum, crc32.IEEETable, e.line)
			s.bytes += len(e.line)
		}
	}
}
