// Event-bus books orders one after another, and publishes an event of each to subscribers in
// the same process. One subscriber is stuck.
package main

import (
	"crypto/sha256"
	"fmt"
	"os"
	"runtime/trace"
	"sync"
	"sync/atomic"
	"time"
)

// bus gives events to all subscribers.
type bus struct {
	subs []chan int
	lost int
}

// publish gives up on a subscriber that has not taken the event after a while.
func (b *bus) publish(e int) {
	for _, s := range b.subs {
		select {
		case s <- e:
		case <-time.After(20 * time.Millisecond):
			b.lost++
		}
	}
}

type order struct {
	id   int
	done chan bool
}

func main() {
	b := &bus{}
	for i := range 4 {
		c := make(chan int)
		b.subs = append(b.subs, c)
		if i != 2 { // the third is stuck
			go func() {
				for range c {
					digest(100)
				}
			}()
		}
	}
	in := make(chan order)
	go func() {
		for o := range in {
			b.publish(o.id)
			o.done <- true
		}
	}()
	var took, n atomic.Int64
	stop := startTrace()
	end := time.Now().Add(900 * time.Millisecond)
	var all sync.WaitGroup
	for id := range 5 {
		all.Go(func() {
			for time.Now().Before(end) {
				s := time.Now()
				o := order{id, make(chan bool, 1)}
				in <- o
				<-o.done
				took.Add(int64(time.Since(s)))
				n.Add(1)
				digest(300)
			}
		})
	}
	all.Wait()
	stop()
	fmt.Fprintf(os.Stderr, "proof: %d orders took %v each\n", n.Load(), time.Duration(took.Load()/n.Load()))
}

func startTrace() (stop func()) {
	file, err := os.Create(os.Args[1])
	check(err)
	check(trace.Start(file))
	return func() {
		trace.Stop()
		check(file.Close())
	}
}

func check(err error) {
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

// digest computes for a while.
func digest(n int) byte {
	var x [64]byte
	for range n {
		s := sha256.Sum256(x[:])
		copy(x[:], s[:])
	}
	return x[0]
}
