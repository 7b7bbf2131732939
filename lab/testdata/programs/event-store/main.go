// Event-store appends events to a log file. A writer goroutine collects what
// comes within a few milliseconds, writes it at once, syncs the file, and only
// then tells the clients that their events are safe.
package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"slices"
	"sync"
	"time"

	"github.com/gmpscope/gmpscope/internal/testkit/rec"
)

const (
	clients = 12
	events  = 30
)

type event struct {
	Client, Seq int
	Kind        string
	stored      chan struct{}
}

type store struct {
	file    *os.File
	pending chan event
	batches int
	syncing time.Duration
}

func main() {
	file, err := os.CreateTemp("", "events")
	check(err)
	defer os.Remove(file.Name())
	s := &store{file: file, pending: make(chan event, 4*clients)}
	closed := make(chan struct{})
	took := make([]time.Duration, clients*events)
	rec.Start()
	go func() { s.writeLog(); close(closed) }()
	var open sync.WaitGroup
	for client := range clients {
		open.Go(func() { s.runClient(client, took[client*events:][:events]) })
	}
	open.Wait()
	close(s.pending)
	<-closed
	rec.Stop()
	slices.Sort(took)
	fmt.Fprintf(os.Stderr, "proof: %d events in %d batches, safe after p50 %v, p99 %v; mean sync %v\n", len(took),
		s.batches, took[len(took)/2], took[len(took)*99/100], s.syncing/time.Duration(s.batches))
}

func (s *store) runClient(client int, took []time.Duration) {
	for seq := range took {
		begin := time.Now()
		e := event{client, seq, "order-placed", make(chan struct{})}
		s.pending <- e
		<-e.stored
		took[seq] = time.Since(begin)
		time.Sleep(time.Duration(9+client) * time.Millisecond)
	}
}

func (s *store) writeLog() {
	for first := range s.pending {
		batch := []event{first}
		flush := time.After(3 * time.Millisecond)
	collect:
		for len(batch) < clients {
			select {
			case e, ok := <-s.pending:
				if !ok {
					break collect
				}
				batch = append(batch, e)
			case <-flush:
				break collect
			}
		}
		s.commit(batch)
	}
}

func (s *store) commit(batch []event) {
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	for _, e := range batch {
		check(enc.Encode(map[string]any{"client": e.Client, "seq": e.Seq, "kind": e.Kind}))
	}
	begin := time.Now()
	_, err := s.file.Write(b.Bytes())
	check(err)
	check(s.file.Sync())
	s.syncing += time.Since(begin)
	s.batches++
	for _, e := range batch {
		close(e.stored)
	}
}

func check(err error) {
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}
