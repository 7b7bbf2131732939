// Kiln-pool renders the glazes of a night's order, two at a time, as there are
// two CPUs for it.
package main

import (
	"fmt"
	"os"
	"sync"
	"time"

	"github.com/gmpscope/gmpscope/internal/testkit/rec"
)

const (
	glazes = 120
	size   = 8500
)

type job struct {
	glaze int
	shade uint64
	took  time.Duration
}

// A pool renders so many at a time.
type pool struct{ slots chan struct{} }

func main() {
	jobs := make([]job, glazes)
	p := &pool{make(chan struct{}, 2)}
	rec.Start()
	begin := time.Now()
	var open sync.WaitGroup
	for n := range jobs {
		jobs[n].glaze = n
		p.slots <- struct{}{}
		open.Go(func() {
			defer func() { <-p.slots }()
			p.render(&jobs[n])
		})
	}
	open.Wait()
	took := time.Since(begin)
	rec.Stop()
	var work time.Duration
	for _, j := range jobs {
		work += j.took
	}
	fmt.Fprintf(os.Stderr, "proof: %d glazes in %v, %.2f at a time on average; nobody waits for a single one\n", glazes, took.Round(time.Millisecond), float64(work)/float64(took))
}

func (p *pool) render(j *job) {
	begin := time.Now()
	j.shade = rec.Work(size + j.glaze%7*500)
	j.took = time.Since(begin)
}
