// Leader-watch tells 6,000 followers who leads, and sends heartbeats.
package main

import (
	"fmt"
	"os"
	"sync"
	"sync/atomic"
	"time"

	"github.com/gmpscope/gmpscope/internal/testkit/rec"
)

const followers = 6000

type election struct {
	mu      sync.Mutex
	changed *sync.Cond
	term    int
}

func (e *election) Announce() {
	e.mu.Lock()
	e.term++
	e.mu.Unlock()
	e.changed.Broadcast()
}

func (e *election) await(term int) {
	e.mu.Lock()
	for e.term < term {
		e.changed.Wait()
	}
	e.mu.Unlock()
}

func main() {
	e := &election{}
	e.changed = sync.NewCond(&e.mu)
	var ready, following sync.WaitGroup
	ready.Add(followers)
	for range followers {
		following.Go(func() {
			ready.Done()
			follow(e)
		})
	}
	ready.Wait()
	time.Sleep(20 * time.Millisecond)
	stop := make(chan struct{})
	var quiet, loud time.Duration
	var beats sync.WaitGroup
	rec.Start()
	var announced atomic.Bool
	beats.Go(func() { quiet, loud = heartbeat(&announced, stop) })
	time.Sleep(150 * time.Millisecond)
	for range 2 {
		announced.Store(true)
		e.Announce()
		time.Sleep(150 * time.Millisecond)
	}
	following.Wait()
	close(stop)
	beats.Wait()
	rec.Stop()
	fmt.Fprintf(os.Stderr, "proof: the longest heartbeat interval, due 1 ms, was %v before the announcements, %v since\n", quiet, loud)
}

func follow(e *election) {
	for term := range 2 {
		e.await(term + 1)
		rec.Work(10)
	}
}

func heartbeat(announced *atomic.Bool, stop <-chan struct{}) (quiet, loud time.Duration) {
	for {
		start := time.Now()
		select {
		case <-stop:
			return quiet, loud
		case <-time.After(time.Millisecond):
		}
		rec.Work(20)
		if announced.Load() {
			loud = max(loud, time.Since(start))
		} else {
			quiet = max(quiet, time.Since(start))
		}
	}
}
