// Stock-ledger keeps how many pieces of each article are in stock. Before, each
// booking copies the whole table under a lock, so that readers need none;
// after, the table is in shards, each of which is changed in place.
package main

import (
	"fmt"
	"maps"
	"math/rand/v2"
	"os"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/gmpscope/gmpscope/internal/testkit/rec"
)

const (
	articles = 9000
	shards   = 32
	totals   = 700
	tills    = 6
	bookings = 130
)

// A ledger books pieces in and out.
type ledger interface {
	Book(article, pieces int)
	InStock(article int) int
}

// A copiedLedger is read without a lock.
type copiedLedger struct {
	mu    sync.Mutex
	table atomic.Pointer[map[int]int]
}

func newCopiedLedger() *copiedLedger {
	l := new(copiedLedger)
	table := make(map[int]int, articles)
	for a := range articles {
		table[a] = 100
	}
	l.table.Store(&table)
	return l
}

func (l *copiedLedger) Book(article, pieces int) {
	l.mu.Lock()
	defer l.mu.Unlock()
	table := maps.Clone(*l.table.Load())
	rec.Work(totals) // the totals of the departments, over the whole table
	table[article] += pieces
	l.table.Store(&table)
}

func (l *copiedLedger) InStock(article int) int { return (*l.table.Load())[article] }

type shard struct {
	mu    sync.RWMutex
	table map[int]int
}

type shardedLedger struct {
	shards [shards]shard
}

func newShardedLedger() *shardedLedger {
	l := new(shardedLedger)
	for a := range articles {
		s := &l.shards[a%shards]
		if s.table == nil {
			s.table = make(map[int]int)
		}
		s.table[a] = 100
	}
	return l
}

func (l *shardedLedger) Book(article, pieces int) {
	s := &l.shards[article%shards]
	s.mu.Lock()
	defer s.mu.Unlock()
	rec.Work(totals / shards) // the totals of the shard
	s.table[article] += pieces
}

func (l *shardedLedger) InStock(article int) int {
	s := &l.shards[article%shards]
	s.mu.RLock()
	defer s.mu.RUnlock()
	return s.table[article]
}

func main() {
	var l ledger = newCopiedLedger()
	if os.Getenv("SIDE") == "after" {
		l = newShardedLedger()
	}
	took := make([][]time.Duration, tills)
	var all sync.WaitGroup
	rec.Start()
	for id := range tills {
		all.Go(func() {
			rng := rand.New(rand.NewPCG(3, uint64(id)))
			for range bookings {
				time.Sleep(time.Duration(3000+rng.IntN(2000)) * time.Microsecond) // the next customer
				article := rng.IntN(articles)
				start := time.Now()
				if l.InStock(article) > 0 {
					l.Book(article, -1)
				}
				took[id] = append(took[id], time.Since(start))
			}
		})
	}
	all.Wait()
	rec.Stop()
	sorted := slices.Concat(took...)
	slices.Sort(sorted)
	n := len(sorted)
	fmt.Fprintf(os.Stderr, "proof: %d bookings, p50 %v, p90 %v, p99 %v\n", n, sorted[n/2], sorted[n*9/10], sorted[n*99/100])
}
