// Session-table checks the tokens of sessions, and renews each when it is used.
// A token is derived under the lock that guards its session: before, the one
// lock of the table; after, the lock of one of 32 shards.
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
	visitors = 12
	visits   = 1200
)

type shard struct {
	mu     sync.Mutex
	tokens map[string][sha256.Size]byte
}

type table struct {
	shards []*shard
}

func main() {
	n := 1
	if os.Getenv("SIDE") == "after" {
		n = 32
	}
	t := &table{}
	for range n {
		t.shards = append(t.shards, &shard{tokens: make(map[string][sha256.Size]byte)})
	}
	took := make([]time.Duration, visitors*visits)
	rec.Start()
	begin := time.Now()
	var open sync.WaitGroup
	for id := range visitors {
		open.Go(func() { visit(t, id, took[id*visits:][:visits]) })
	}
	open.Wait()
	total := time.Since(begin)
	rec.Stop()
	slices.Sort(took)
	fmt.Fprintf(os.Stderr, "proof: %d visits in %v, p50 %v, p99 %v\n", len(took), total.Round(time.Millisecond),
		took[len(took)/2], took[len(took)*99/100])
}

func visit(t *table, id int, took []time.Duration) {
	for n := range took {
		begin := time.Now()
		t.renew(fmt.Sprintf("session-%d-%d", id, n%40))
		took[n] = time.Since(begin)
	}
}

func (t *table) renew(session string) {
	hash := uint(0)
	for _, c := range []byte(session) {
		hash = hash*31 + uint(c)
	}
	t.shards[hash%uint(len(t.shards))].renew(session)
}

func (s *shard) renew(session string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.tokens[session] = deriveToken(session, s.tokens[session])
}

// deriveToken hashes many times, so that tokens are expensive to guess.
func deriveToken(session string, old [sha256.Size]byte) [sha256.Size]byte {
	token := sha256.Sum256(append([]byte(session), old[:]...))
	for range 500 {
		token = sha256.Sum256(token[:])
	}
	return token
}
