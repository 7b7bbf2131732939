// Heat-plate computes how heat spreads over a plate: step by step, each of
// which needs the whole of the step before it, in one strip for each P.
package main

import (
	"fmt"
	"os"
	"runtime"
	"sync"
	"time"

	"github.com/gmpscope/gmpscope/internal/testkit/rec"
)

const (
	width  = 3000
	height = 1202 // with the edges
	steps  = 90
)

type plate struct {
	now, next []float32
	strips    int
	computing []time.Duration
}

func newPlate(strips int) *plate {
	p := &plate{
		now:       make([]float32, width*height),
		next:      make([]float32, width*height),
		strips:    strips,
		computing: make([]time.Duration, strips),
	}
	for x := range width {
		p.now[x], p.next[x] = 100, 100
	}
	return p
}

// step computes one step; all strips are done when it returns.
func (p *plate) step() {
	var strips sync.WaitGroup
	rows := (height - 2) / p.strips
	for s := 1; s < p.strips; s++ {
		strips.Go(func() { p.computeStrip(s, 1+s*rows, 1+(s+1)*rows) })
	}
	p.computeStrip(0, 1, 1+rows)
	strips.Wait()
	p.now, p.next = p.next, p.now
}

// computeStrip computes rows from up to, but not including, to.
func (p *plate) computeStrip(strip, from, to int) {
	start := time.Now()
	for y := from; y < to; y++ {
		row := p.now[y*width : (y+1)*width]
		above := p.now[(y-1)*width : y*width]
		below := p.now[(y+1)*width : (y+2)*width]
		out := p.next[y*width : (y+1)*width]
		for x := 1; x < width-1; x++ {
			around := (row[x-1] + row[x+1] + above[x] + below[x]) / 4
			out[x] = row[x] + (around-row[x])/(1+row[x]*row[x]/5000) // hot metal conducts worse
		}
	}
	p.computing[strip] += time.Since(start)
}

func (p *plate) warmth() (sum float64) {
	for _, t := range p.now {
		sum += float64(t)
	}
	return sum
}

func main() {
	p := newPlate(runtime.GOMAXPROCS(0))
	p.step()
	clear(p.computing)
	rec.Start()
	start := time.Now()
	for range steps {
		p.step()
	}
	took := time.Since(start)
	rec.Stop()
	var busy time.Duration
	for _, d := range p.computing {
		busy += d
	}
	all := time.Duration(p.strips) * took
	fmt.Fprintf(os.Stderr, "proof: %d steps took %v on %d Ps; of their %v, %v (%.1f%%) were not computing; warmth %.0f\n",
		steps, took, p.strips, all, all-busy, 100*float64(all-busy)/float64(all), p.warmth())
}
