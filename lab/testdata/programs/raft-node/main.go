// Raft-node is the leader of a replicated log: it takes proposals, applies them
// to its state, tells its followers that it is alive, and compacts the log.
package main

import (
	"fmt"
	"hash/crc64"
	"os"
	"sync"
	"time"

	"github.com/gmpscope/gmpscope/internal/testkit/rec"
)

const (
	clients   = 5
	heartbeat = 10 * time.Millisecond
	compact   = 90 * time.Millisecond
	term      = 900 * time.Millisecond
	stateSize = 4 << 20
)

type proposal struct {
	key, value int
	done       chan int
}

type node struct {
	proposals chan proposal
	stop      chan struct{}
	index     int
	state     []byte
	snapshots []uint64

	beats, missed int
	worst         time.Duration
}

// run is the node's event loop: all that touches the state happens here.
func (n *node) run() {
	beat := time.NewTicker(heartbeat)
	defer beat.Stop()
	compaction := time.NewTicker(compact)
	defer compaction.Stop()
	last := time.Now()
	for {
		select {
		case p := <-n.proposals:
			n.apply(p)
		case <-beat.C:
			gap := time.Since(last)
			last = time.Now()
			n.beats++
			n.worst = max(n.worst, gap)
			if gap > 2*heartbeat {
				n.missed++
			}
		case <-compaction.C:
			n.takeSnapshot()
		case <-n.stop:
			return
		}
	}
}

func (n *node) apply(p proposal) {
	n.index++
	n.state[(p.key*8191)%len(n.state)] = byte(p.value)
	rec.Work(15)
	p.done <- n.index
}

// takeSnapshot writes down the state as of the current index, with a checksum
// over each page, so that older entries of the log can go.
func (n *node) takeSnapshot() {
	const page = 16 << 10
	table := crc64.MakeTable(crc64.ECMA)
	image := make([]byte, 0, len(n.state))
	sum := uint64(n.index)
	for at := 0; at < len(n.state); at += page {
		image = append(image, n.state[at:at+page]...)
		sum ^= crc64.Checksum(image[at:at+page], table)
		rec.Work(150) // compression
	}
	n.snapshots = append(n.snapshots, sum)
}

func (n *node) propose(key, value int) int {
	p := proposal{key, value, make(chan int, 1)}
	n.proposals <- p
	return <-p.done
}

func main() {
	n := &node{proposals: make(chan proposal), stop: make(chan struct{}), state: make([]byte, stateSize)}
	spent := make([]time.Duration, clients)
	count := make([]int, clients)
	var all, loop sync.WaitGroup
	rec.Start()
	loop.Go(n.run)
	end := time.Now().Add(term)
	for id := range clients {
		all.Go(func() {
			for time.Now().Before(end) {
				start := time.Now()
				n.propose(id*1000+count[id], id)
				spent[id] += time.Since(start)
				count[id]++
				time.Sleep(2 * time.Millisecond)
			}
		})
	}
	all.Wait()
	close(n.stop)
	loop.Wait()
	rec.Stop()
	var waited time.Duration
	proposals := 0
	for id := range clients {
		waited += spent[id]
		proposals += count[id]
	}
	fmt.Fprintf(os.Stderr, "proof: %d clients spent %v of %v in %d proposals of 15 µs each; of %d heartbeats %d came late, the longest gap was %v; %d snapshots\n",
		clients, waited, clients*term, proposals, n.beats, n.missed, n.worst, len(n.snapshots))
}
