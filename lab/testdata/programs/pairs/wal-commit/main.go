// Wal-commit makes the transactions of eight clients durable. Before, each
// commit synced the log by itself; after, a committer writes all that wait and
// syncs once.
package main

import (
	"fmt"
	"os"
	"slices"
	"sync"
	"time"

	"github.com/gmpscope/gmpscope/internal/testkit/rec"
)

const (
	clients = 8
	phase   = 500 * time.Millisecond
	volume  = 1500 * time.Microsecond // of a sync, where the volume is not beside the CPU
)

type commit struct {
	record  []byte
	durable chan struct{}
}

type log struct {
	mu      sync.Mutex
	file    *os.File
	waiting chan commit
}

func main() {
	file, err := os.CreateTemp("", "wal")
	check(err)
	defer os.Remove(file.Name())
	l := &log{file: file}
	if os.Getenv("SIDE") == "after" {
		l.waiting = make(chan commit, clients)
	}
	took := make([][]time.Duration, clients)
	rec.Start()
	if l.waiting != nil {
		go l.commitGroups()
	}
	end := time.Now().Add(phase)
	var open sync.WaitGroup
	for id := range clients {
		open.Go(func() { took[id] = l.serveClient(id, end) })
	}
	open.Wait()
	rec.Stop()
	all := slices.Concat(took...)
	slices.Sort(all)
	fmt.Fprintf(os.Stderr, "proof: %d commits, p50 %v, p99 %v\n", len(all), all[len(all)/2], all[len(all)*99/100])
}

func (l *log) serveClient(id int, end time.Time) (took []time.Duration) {
	for n := 0; time.Now().Before(end); n++ {
		begin := time.Now()
		l.commit(fmt.Appendf(nil, "client %d: balance %d\n", id, n))
		took = append(took, time.Since(begin))
		time.Sleep(time.Millisecond)
	}
	return took
}

func (l *log) commit(record []byte) {
	if l.waiting != nil {
		c := commit{record, make(chan struct{})}
		l.waiting <- c
		<-c.durable
		return
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	l.write(record)
}

func (l *log) commitGroups() {
	for c := range l.waiting {
		group := []commit{c}
		for range len(l.waiting) {
			group = append(group, <-l.waiting)
		}
		var records []byte
		for _, c := range group {
			records = append(records, c.record...)
		}
		l.write(records)
		for _, c := range group {
			close(c.durable)
		}
	}
}

func (l *log) write(records []byte) {
	_, err := l.file.Write(records)
	check(err)
	check(l.file.Sync())
	time.Sleep(volume)
}

func check(err error) {
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}
