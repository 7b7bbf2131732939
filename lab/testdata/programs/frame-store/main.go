// Frame-store holds the frames of cameras in slots of a graphics card. A slot is
// given back when the garbage collector finds that its frame is no longer used.
package main

import (
	"fmt"
	"os"
	"runtime"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/gmpscope/gmpscope/internal/testkit/rec"
)

const slots = 320

type frame struct {
	slot   int
	pixels [64 << 10]byte
}

type store struct {
	free     chan int
	released atomic.Int64
	spent    atomic.Int64 // nanoseconds, by releaseSlot
}

func newStore() *store {
	s := &store{free: make(chan int, slots)}
	for slot := range slots {
		s.free <- slot
	}
	return s
}

// newFrame waits for a free slot.
func (s *store) newFrame() *frame {
	f := &frame{slot: <-s.free}
	runtime.AddCleanup(f, s.releaseSlot, f.slot)
	return f
}

// releaseSlot tells the driver, and waits until it has confirmed.
func (s *store) releaseSlot(slot int) {
	start := time.Now()
	notifyDriver(slot)
	s.spent.Add(int64(time.Since(start)))
	s.released.Add(1)
	s.free <- slot
}

func notifyDriver(int) { time.Sleep(1500 * time.Microsecond) }

func main() {
	s := newStore()
	var cameras sync.WaitGroup
	waited := make([][]time.Duration, 6)
	rec.Start()
	start := time.Now()
	for camera := range waited {
		cameras.Go(func() { waited[camera] = capture(s, camera) })
	}
	cameras.Wait()
	took := time.Since(start)
	rec.Stop()
	all := slices.Concat(waited...)
	sum := time.Duration(0)
	for _, d := range all {
		sum += d
	}
	fmt.Fprintf(os.Stderr, "proof: in %v %d frames waited %v in sum for a slot, the longest %v; releaseSlot gave back %d, and took %v\n",
		took, len(all), sum, slices.Max(all), s.released.Load(), time.Duration(s.spent.Load()))
}

// capture returns how long it waited for each frame.
func capture(s *store, camera int) (waited []time.Duration) {
	for n := range 85 {
		start := time.Now()
		f := s.newFrame()
		waited = append(waited, time.Since(start))
		fill(f, byte(camera+n))
		time.Sleep(time.Millisecond)
	}
	return waited
}

func fill(f *frame, shade byte) {
	for i := range f.pixels {
		f.pixels[i] = shade
	}
}
