// Package loft knows where pigeons are.
package loft

import (
	"hash/maphash"
	"sync"
)

// An Index is of shards with a lock each.
type Index struct {
	seed   maphash.Seed
	shards []shard
}

type shard struct {
	mu sync.Mutex
	at map[string]string
}

func NewIndex(shards int) *Index {
	x := &Index{maphash.MakeSeed(), make([]shard, shards)}
	for n := range x.shards {
		x.shards[n].at = make(map[string]string)
	}
	return x
}

// Move says where a pigeon is now, and returns where it was.
func (x *Index) Move(ring, loft string) string {
	s := &x.shards[maphash.String(x.seed, ring)%uint64(len(x.shards))]
	s.mu.Lock()
	defer s.mu.Unlock()
	was := s.at[ring]
	s.at[ring] = loft
	return was
}
