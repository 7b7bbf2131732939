// Pixel-tiles draws frames of a small canvas, row by row.
package main

import (
	"fmt"
	"os"
	"sync"
	"time"

	"github.com/gmpscope/gmpscope/internal/testkit/rec"
)

type canvas struct {
	width, height int
	pixels        []uint32
}

func (c *canvas) Fill(frame int) {
	var wg sync.WaitGroup
	for y := range c.height {
		wg.Go(func() { c.fillRow(y, frame) })
	}
	wg.Wait()
}

func (c *canvas) fillRow(y, frame int) {
	row := c.pixels[y*c.width : (y+1)*c.width]
	v := uint32(frame)
	for x := range row {
		v = v*1664525 + 1013904223
		row[x] = v
	}
}

func (c *canvas) checksum() (sum uint32) {
	for _, p := range c.pixels {
		sum = sum*31 + p
	}
	return sum
}

func main() {
	c := &canvas{width: 1200, height: 96}
	c.pixels = make([]uint32, c.width*c.height)
	start := time.Now()
	for frame := range 100 {
		for y := range c.height {
			c.fillRow(y, frame)
		}
	}
	plain := time.Since(start)
	var took time.Duration
	rec.Start()
	for frame := range 100 {
		took += drawFrame(c, frame)
		time.Sleep(2 * time.Millisecond)
	}
	rec.Stop()
	fmt.Fprintf(os.Stderr, "proof: 100 frames took %v on two Ps with a goroutine per row, %v in a plain loop on one (%08x)\n", took, plain, c.checksum())
}

func drawFrame(c *canvas, frame int) time.Duration {
	start := time.Now()
	c.Fill(frame)
	return time.Since(start)
}
