// Package shard spreads letters over workers, so that those of a district stay
// in order.
package shard

import (
	"crypto/sha256"
	"hash/fnv"
	"sync"
)

type Letter struct {
	Postcode string
	Address  []byte
}

type shard struct {
	letters chan Letter
	sorted  int
	sum     byte
}

type Router struct {
	shards []*shard
	open   sync.WaitGroup
	Whole  bool // hash the whole postcode: the remedy
}

func NewRouter(shards int) *Router {
	r := &Router{}
	for range shards {
		s := &shard{letters: make(chan Letter, 32)}
		r.shards = append(r.shards, s)
		r.open.Go(s.sortLetters)
	}
	return r
}

// Route hands a letter to the worker of its district.
func (r *Router) Route(l Letter) {
	district := l.Postcode[:2]
	if r.Whole {
		district = l.Postcode
	}
	h := fnv.New32a()
	h.Write([]byte(district))
	r.shards[h.Sum32()%uint32(len(r.shards))].letters <- l
}

// Close returns how many letters each worker sorted.
func (r *Router) Close() (sorted []int) {
	for _, s := range r.shards {
		close(s.letters)
	}
	r.open.Wait()
	for _, s := range r.shards {
		sorted = append(sorted, s.sorted)
	}
	return sorted
}

func (s *shard) sortLetters() {
	for l := range s.letters {
		sum := sha256.Sum256(l.Address)
		for range 500 { // the reader's confidence
			sum = sha256.Sum256(sum[:])
		}
		s.sum ^= sum[0]
		s.sorted++
	}
}
