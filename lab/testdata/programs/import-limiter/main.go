// Import-limiter imports items no faster than a limiter lets them through.
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

type limiter struct {
	mu    sync.Mutex
	next  time.Time
	every time.Duration
	looks atomic.Int64
}

// Wait returns when the caller may send.
func (l *limiter) Wait() {
	for {
		l.looks.Add(1)
		l.mu.Lock()
		now := time.Now()
		if now.After(l.next) {
			l.next = now.Add(l.every)
			l.mu.Unlock()
			return
		}
		l.mu.Unlock()
		time.Sleep(10 * time.Millisecond)
	}
}

type importer struct {
	l    *limiter
	sent atomic.Int64
	all  sync.WaitGroup
}

func (i *importer) send(item int, end time.Time) {
	i.l.Wait()
	if time.Now().Before(end) {
		digest(100)
		i.sent.Add(1)
	}
}

func (i *importer) start(items int, end time.Time) {
	for n := range items {
		go i.send(n, end)
	}
}

func main() {
	i := &importer{l: &limiter{every: 2 * time.Millisecond}}
	stop := startTrace()
	end := time.Now().Add(800 * time.Millisecond)
	i.start(6000, end)
	var late time.Duration
	n := 0
	for time.Now().Before(end) {
		s := time.Now()
		time.Sleep(5 * time.Millisecond)
		late += time.Since(s) - 5*time.Millisecond
		n++
	}
	stop()
	fmt.Fprintf(os.Stderr, "proof: %d looks for %d sent; the health check was late by %v\n", i.l.looks.Load(), i.sent.Load(), late/time.Duration(n))
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
