// Chunk-origin packages live channels: it takes each chunk as soon as the
// encoder has written it to the spool, and publishes it in the playlist.
package main

import (
	"fmt"
	"os"
	"sync"
	"time"

	"github.com/gmpscope/gmpscope/internal/testkit/rec"
)

const (
	channels = 6
	chunks   = 20
	encoding = 4 * time.Millisecond
)

// spool is where the encoders leave their chunks.
type spool struct {
	mu    sync.Mutex
	ready map[string]time.Time
}

func (s *spool) put(name string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.ready[name] = time.Now()
}

func (s *spool) stat(name string) (time.Time, bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	at, ok := s.ready[name]
	return at, ok
}

type packager struct {
	spool    *spool
	channel  int
	lain     time.Duration
	playlist []string
}

func main() {
	s := &spool{ready: make(map[string]time.Time)}
	packagers := make([]*packager, channels)
	rec.Start()
	start := time.Now()
	var open sync.WaitGroup
	for i := range packagers {
		packagers[i] = &packager{spool: s, channel: i}
		open.Go(packagers[i].run)
	}
	open.Wait()
	took := time.Since(start)
	rec.Stop()
	var lain time.Duration
	for _, p := range packagers {
		lain += p.lain
	}
	fmt.Fprintf(os.Stderr, "proof: %d channels published %d chunks each in %v; encoded in %v each, they then lay in the spool for %v on average\n",
		channels, chunks, took, encoding, lain/(channels*chunks))
}

// run orders chunk after chunk from the encoder, each with the bit rate that
// follows from the last.
func (p *packager) run() {
	for n := range chunks {
		name := fmt.Sprintf("ch%d/%05d.m4s", p.channel, n)
		go encodeChunk(p.spool, name)
		finished := p.awaitChunk(name)
		p.lain += time.Since(finished)
		rec.Work(150)
		p.playlist = append(p.playlist, name)
	}
}

// awaitChunk returns when the chunk has come, and since when it was there.
func (p *packager) awaitChunk(name string) time.Time {
	for {
		if at, ok := p.spool.stat(name); ok {
			return at
		}
		time.Sleep(40 * time.Millisecond)
	}
}

// encodeChunk has the encoder, which is hardware, make a chunk.
func encodeChunk(s *spool, name string) {
	time.Sleep(encoding)
	s.put(name)
}
