// Stack-watchdog holds the sessions of a message broker, passes messages on, and
// has a watchdog look for goroutines that hang.
package main

import (
	"bytes"
	"fmt"
	"os"
	"runtime"
	"slices"
	"sync"
	"time"

	"github.com/gmpscope/gmpscope/internal/testkit/rec"
)

const sessions = 3000

type watchdog struct {
	buf   []byte
	dumps int
	spent time.Duration
	hung  int
}

func (w *watchdog) watch(closing <-chan struct{}) {
	ticker := time.NewTicker(60 * time.Millisecond)
	defer ticker.Stop()
	for {
		select {
		case <-ticker.C:
			start := time.Now()
			dump := w.dumpStacks()
			w.spent += time.Since(start)
			w.dumps++
			w.hung += bytes.Count(dump, []byte("minutes]"))
		case <-closing:
			return
		}
	}
}

func (w *watchdog) dumpStacks() []byte { return w.buf[:runtime.Stack(w.buf, true)] }

func main() {
	stop := make(chan struct{})
	var open sync.WaitGroup
	inboxes := make([]chan time.Time, sessions)
	delays := make(chan time.Duration, sessions)
	for id := range inboxes {
		inboxes[id] = make(chan time.Time, 1)
		open.Go(func() { serveSession(inboxes[id], delays, stop) })
	}
	w := &watchdog{buf: make([]byte, 2<<20)}
	closing := make(chan struct{})
	var watching sync.WaitGroup
	rec.Start()
	watching.Go(func() { w.watch(closing) })
	publish(inboxes)
	close(closing)
	watching.Wait()
	rec.Stop()
	close(stop)
	open.Wait()
	close(delays)
	var all []time.Duration
	for d := range delays {
		all = append(all, d)
	}
	slices.Sort(all)
	fmt.Fprintf(os.Stderr, "proof: %d dumps of the stacks took %v in sum; %d messages were late by p50 %v, p95 %v\n",
		w.dumps, w.spent, len(all), all[len(all)/2], all[len(all)*95/100])
}

// publish sends a message each millisecond, dated when it was due.
func publish(inboxes []chan time.Time) {
	due := time.Now()
	for n := range 450 {
		due = due.Add(time.Millisecond)
		time.Sleep(time.Until(due))
		inboxes[n*17%len(inboxes)] <- due
	}
}

func serveSession(inbox <-chan time.Time, delays chan<- time.Duration, stop <-chan struct{}) {
	for {
		select {
		case due := <-inbox:
			rec.Work(30)
			delays <- time.Since(due)
		case <-stop:
			return
		}
	}
}
