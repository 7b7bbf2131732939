// Video-tiles encodes a camera's frames. A frame comes every 10 ms and is cut
// into 30 tiles, each encoded by a goroutine of its own; the frame is sent when
// all of them are done.
package main

import (
	"fmt"
	"hash/crc32"
	"os"
	"slices"
	"sync"
	"time"

	"github.com/gmpscope/gmpscope/internal/testkit/rec"
)

const (
	framePeriod = 10 * time.Millisecond
	frames      = 70
	tiles       = 30
	tileBytes   = 16 << 10
)

type encoder struct {
	previous [tiles]uint32
	changed  [tiles]bool
}

func main() {
	camera := make([]byte, tiles*tileBytes)
	enc := &encoder{}
	var ready []time.Duration // from when the frame came to when it was encoded
	rec.Start()
	ticker := time.NewTicker(framePeriod)
	for n := range frames {
		came := <-ticker.C
		camera[n*997%len(camera)]++
		enc.encodeFrame(camera)
		ready = append(ready, time.Since(came))
	}
	rec.Stop()
	slices.Sort(ready)
	fmt.Fprintf(os.Stderr, "proof: %d frames every %v, encoded after p50 %v, p99 %v\n", frames, framePeriod,
		ready[frames/2], ready[frames*99/100])
}

func (e *encoder) encodeFrame(frame []byte) {
	var tilesDone sync.WaitGroup
	for tile := range tiles {
		tilesDone.Go(func() { e.encodeTile(tile, frame[tile*tileBytes:(tile+1)*tileBytes]) })
	}
	tilesDone.Wait()
}

func (e *encoder) encodeTile(tile int, pixels []byte) {
	var sum uint32
	for range 8 {
		sum = crc32.Update(sum, crc32.IEEETable, pixels)
	}
	e.changed[tile] = sum != e.previous[tile]
	e.previous[tile] = sum
}
