// Upload-throttle takes videos from creators and keeps to the bandwidth that
// was agreed with the network: a token bucket tells each upload when it may
// send its next part.
package main

import (
	"fmt"
	"os"
	"sync"
	"time"

	"github.com/gmpscope/gmpscope/internal/testkit/rec"
)

const (
	uploads = 24
	parts   = 20
	tick    = 5 * time.Millisecond
	perTick = 4
)

// bucket deals out tokens in the order in which they are asked for.
type bucket struct {
	mu     sync.Mutex
	filled *sync.Cond
	tokens int
	next   int // the ticket that is served next
	last   int
}

func newBucket() *bucket {
	b := new(bucket)
	b.filled = sync.NewCond(&b.mu)
	return b
}

// refill puts tokens into the bucket at each tick until all parts are sent.
func (b *bucket) refill() {
	ticker := time.NewTicker(tick)
	defer ticker.Stop()
	for range uploads * parts / perTick {
		<-ticker.C
		b.mu.Lock()
		b.tokens += perTick
		b.mu.Unlock()
		b.filled.Broadcast()
	}
}

// take waits for a token.
func (b *bucket) take() {
	b.mu.Lock()
	defer b.mu.Unlock()
	ticket := b.last
	b.last++
	for b.tokens == 0 || ticket != b.next {
		b.filled.Wait()
	}
	b.tokens--
	b.next++
	b.filled.Broadcast()
}

func main() {
	b := newBucket()
	ends := make([]time.Time, uploads)
	rec.Start()
	start := time.Now()
	var open sync.WaitGroup
	open.Go(b.refill)
	for id := range ends {
		open.Go(func() { ends[id] = upload(b, id) })
	}
	open.Wait()
	took := time.Since(start)
	rec.Stop()
	first, last := ends[0], ends[0]
	for _, end := range ends {
		if end.Before(first) {
			first = end
		}
		if end.After(last) {
			last = end
		}
	}
	agreed := uploads * parts / perTick * tick
	fmt.Fprintf(os.Stderr, "proof: %d uploads of %d parts took %v; at the agreed rate it is %v; all ended within %v of each other\n",
		uploads, parts, took, agreed, last.Sub(first))
}

func upload(b *bucket, id int) time.Time {
	for part := range parts {
		b.take()
		sendPart(id, part)
	}
	return time.Now()
}

func sendPart(id, part int) uint64 { return rec.Work(60) + uint64(id*part) }
