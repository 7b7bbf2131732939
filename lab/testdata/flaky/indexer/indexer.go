// Package indexer makes documents searchable: they pass a few stages, each of
// which hands its batch on at a short interval (near-real-time search).
package indexer

import (
	"context"
	"hash/fnv"
	"strings"
	"sync"
	"time"
)

// Doc is a document on its way.
type Doc struct {
	ID    string
	Text  string
	terms []string
}

type stage struct {
	mu    sync.Mutex
	batch []Doc
	apply func(*Doc)
}

func (s *stage) add(docs ...Doc) {
	s.mu.Lock()
	s.batch = append(s.batch, docs...)
	s.mu.Unlock()
}

func (s *stage) take() []Doc {
	s.mu.Lock()
	defer s.mu.Unlock()
	b := s.batch
	s.batch = nil
	return b
}

// Index is the pipeline and what came out of it.
type Index struct {
	stages []*stage
	mu     sync.RWMutex
	post   map[string][]string
}

// New starts the stages; they stop with ctx. Every stage flushes each refresh.
func New(ctx context.Context, refresh time.Duration) *Index {
	ix := &Index{post: make(map[string][]string)}
	ix.stages = []*stage{
		{apply: func(d *Doc) { d.Text = strings.ToLower(d.Text) }},
		{apply: func(d *Doc) { d.terms = strings.Fields(d.Text) }},
		{apply: func(d *Doc) {
			for i, w := range d.terms {
				d.terms[i] = strings.Trim(w, ".,;!?")
			}
		}},
		{apply: func(d *Doc) {
			ix.mu.Lock()
			defer ix.mu.Unlock()
			for _, w := range d.terms {
				ix.post[w] = append(ix.post[w], d.ID)
			}
		}},
	}
	for i := range ix.stages {
		go ix.run(ctx, i, refresh)
	}
	return ix
}

func (ix *Index) run(ctx context.Context, i int, refresh time.Duration) {
	t := time.NewTicker(refresh)
	defer t.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-t.C:
		}
		for _, d := range ix.stages[i].take() {
			ix.stages[i].apply(&d)
			if i+1 < len(ix.stages) {
				ix.stages[i+1].add(d)
			}
		}
	}
}

// Add puts a document into the pipeline.
func (ix *Index) Add(d Doc) { ix.stages[0].add(d) }

// Search returns the ids of the documents that hold the word.
func (ix *Index) Search(word string) []string {
	ix.mu.RLock()
	defer ix.mu.RUnlock()
	return ix.post[strings.ToLower(word)]
}

// Fingerprint is the (slow) similarity hash of a text: the smallest hash of
// its shingles under each of n seeds.
func Fingerprint(text string, n int) []uint64 {
	out := make([]uint64, n)
	for s := range out {
		low := ^uint64(0)
		for i := 0; i+8 <= len(text); i++ {
			h := fnv.New64a()
			h.Write([]byte{byte(s)})
			h.Write([]byte(text[i : i+8]))
			low = min(low, h.Sum64())
		}
		out[s] = low
	}
	return out
}
