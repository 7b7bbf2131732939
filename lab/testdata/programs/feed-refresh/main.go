// Feed-refresh fetches news feeds from many sites, a few at a time, and merges
// what is new into the reader's list.
package main

import (
	"bufio"
	"fmt"
	"net"
	"os"
	"sync"
	"time"

	"github.com/gmpscope/gmpscope/internal/testkit/rec"
)

const (
	feeds     = 160
	batchSize = 8
	usual     = 3 * time.Millisecond
	laggard   = 36 * time.Millisecond
)

type feed struct {
	id      int
	entries int
	took    time.Duration
}

type reader struct {
	address string
	mu      sync.Mutex
	entries int
}

// refreshAll refreshes the feeds in batches, so that no more than batchSize
// connections are open at once. It returns how long each batch took.
func (r *reader) refreshAll(all []*feed) (batches []time.Duration) {
	for len(all) > 0 {
		n := min(batchSize, len(all))
		start := time.Now()
		var batch sync.WaitGroup
		for _, f := range all[:n] {
			batch.Go(func() { r.refresh(f) })
		}
		batch.Wait()
		batches = append(batches, time.Since(start))
		all = all[n:]
	}
	return batches
}

func (r *reader) refresh(f *feed) {
	start := time.Now()
	f.entries = download(r.address, f.id)
	parseFeed(f.entries)
	r.mu.Lock()
	r.entries += f.entries
	r.mu.Unlock()
	f.took = time.Since(start)
}

func download(address string, id int) (entries int) {
	conn, err := net.Dial("tcp", address)
	check(err)
	defer conn.Close()
	_, err = fmt.Fprintf(conn, "GET %d\n", id)
	check(err)
	_, err = fmt.Fscanf(conn, "%d\n", &entries)
	check(err)
	return entries
}

func parseFeed(entries int) { rec.Work(12 * entries) }

func main() {
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	check(err)
	go serveSites(listener)
	r := &reader{address: listener.Addr().String()}
	all := make([]*feed, feeds)
	for i := range all {
		all[i] = &feed{id: i}
	}
	rec.Start()
	start := time.Now()
	batches := r.refreshAll(all)
	took := time.Since(start)
	rec.Stop()
	var used, slots time.Duration
	for _, f := range all {
		used += f.took
	}
	for _, b := range batches {
		slots += batchSize * b
	}
	fmt.Fprintf(os.Stderr, "proof: %d feeds (%d entries) took %v; the %d slots were in use for %v and empty for %v, so that %v would have done\n",
		feeds, r.entries, took, batchSize, used, slots-used, used/batchSize)
}

// serveSites answers as sites do: about one in eight is far away.
func serveSites(listener net.Listener) {
	for {
		conn, err := listener.Accept()
		if err != nil {
			return
		}
		go func() {
			defer conn.Close()
			line, err := bufio.NewReader(conn).ReadString('\n')
			if err != nil {
				return
			}
			id := 0
			fmt.Sscanf(line, "GET %d", &id)
			if (id*7+id/8)%8 == 3 {
				time.Sleep(laggard)
			} else {
				time.Sleep(usual)
			}
			fmt.Fprintf(conn, "%d\n", 10+id%10)
		}()
	}
}

func check(err error) {
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}
