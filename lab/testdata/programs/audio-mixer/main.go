// Audio-mixer mixes the voices of a conference for a sound card, which takes a
// buffer every 8 ms. The mixer works ahead until the ring is full.
package main

import (
	"fmt"
	"os"
	"sync"
	"time"

	"github.com/gmpscope/gmpscope/internal/testkit/rec"
)

const (
	voices  = 12
	frames  = 384 // of a buffer, which is 8 ms at 48 kHz
	ahead   = 3
	buffers = 110
	period  = 8 * time.Millisecond
)

type buffer [frames]int32

// A ring holds buffers that are mixed but not yet played.
type ring struct {
	mu       sync.Mutex
	notFull  *sync.Cond
	filled   []*buffer
	closed   bool
	underrun int
	lowest   int
}

func newRing() *ring {
	r := &ring{lowest: ahead}
	r.notFull = sync.NewCond(&r.mu)
	return r
}

// Put adds a buffer when there is room, and reports whether more are wanted.
func (r *ring) Put(b *buffer) bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	for len(r.filled) == ahead && !r.closed {
		r.notFull.Wait()
	}
	r.filled = append(r.filled, b)
	return !r.closed
}

// Take gives the sound card its next buffer: silence, if none is there.
func (r *ring) Take() *buffer {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.lowest = min(r.lowest, len(r.filled))
	if len(r.filled) == 0 {
		r.underrun++
		return new(buffer)
	}
	b := r.filled[0]
	r.filled = r.filled[1:]
	r.notFull.Signal()
	return b
}

func (r *ring) Close() {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.closed = true
	r.notFull.Broadcast()
}

// mix mixes one buffer after another into the ring.
func mix(r *ring) {
	phase := 0
	for {
		b := new(buffer)
		var decoding sync.WaitGroup
		parts := make([]buffer, voices)
		for v := range voices {
			decoding.Go(func() { decodeVoice(&parts[v], v, phase) })
		}
		decoding.Wait()
		for v := range parts {
			for i, s := range parts[v] {
				b[i] += s / voices
			}
		}
		phase += frames
		if !r.Put(b) {
			return
		}
	}
}

func decodeVoice(out *buffer, voice, phase int) {
	seed := rec.Work(120)
	for i := range out {
		out[i] = int32((phase + i) * (voice + 1) * int(seed&3))
	}
}

func main() {
	r := newRing()
	var mixing sync.WaitGroup
	var worst time.Duration
	rec.Start()
	mixing.Go(func() { mix(r) })
	time.Sleep(3 * period) // the ring fills
	r.lowest = ahead
	card := time.NewTicker(period)
	for range buffers {
		due := <-card.C
		r.Take()
		worst = max(worst, time.Since(due))
	}
	card.Stop()
	r.Close()
	mixing.Wait()
	rec.Stop()
	fmt.Fprintf(os.Stderr, "proof: %d buffers played, %d underruns, never fewer than %d of %d buffers ahead; the card got its buffer %v late at most\n",
		buffers, r.underrun, r.lowest, ahead, worst)
}
