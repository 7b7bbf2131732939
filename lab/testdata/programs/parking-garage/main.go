// Parking-garage admits cars as spaces become free, and shows the number of free
// spaces to whoever asks.
package main

import (
	"fmt"
	"os"
	"slices"
	"sync"
	"time"

	"github.com/gmpscope/gmpscope/internal/testkit/rec"
)

const (
	spaces = 4
	cars   = 400
)

type garage struct {
	mu      sync.Mutex
	changed *sync.Cond
	free    int
	woken   int // out of Wait
	waits   int // out of Wait, to find that nothing is free
	left    int
}

func newGarage() *garage {
	g := &garage{free: spaces}
	g.changed = sync.NewCond(&g.mu)
	return g
}

func (g *garage) Enter() {
	g.mu.Lock()
	defer g.mu.Unlock()
	for g.free == 0 {
		g.changed.Wait()
		g.woken++
		if g.free == 0 {
			g.waits++
		}
	}
	g.free--
}

// Leave frees a space, and tells those waiting.
func (g *garage) Leave() {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.free++
	g.left++
	g.changed.Broadcast()
}

func main() {
	g := newGarage()
	var parked sync.WaitGroup
	leaving := make(chan struct{})
	signs := make(chan []time.Duration)
	for range cars {
		parked.Go(func() {
			g.Enter()
			<-leaving
			g.Leave()
		})
	}
	rec.Start()
	go showFree(signs)
	for range 50 {
		leaving <- struct{}{}
		time.Sleep(8 * time.Millisecond)
	}
	late := <-signs
	rec.Stop()
	g.mu.Lock()
	slices.Sort(late)
	fmt.Fprintf(os.Stderr, "proof: %d cars left, %d wake-ups, %d of them in vain; the sign was late by p95 %v\n",
		g.left, g.woken, g.waits, late[len(late)*95/100])
	g.mu.Unlock()
	close(leaving)
	parked.Wait()
}

// showFree changes the sign at the entrance every 2 ms, and sends how late it was.
func showFree(signs chan<- []time.Duration) {
	var late []time.Duration
	ticker := time.NewTicker(2 * time.Millisecond)
	defer ticker.Stop()
	for range 180 {
		due := <-ticker.C
		late = append(late, time.Since(due))
		rec.Work(20)
	}
	signs <- late
}
