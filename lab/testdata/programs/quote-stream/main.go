// Quote-stream computes quotes in two goroutines, and publishes them to a third.
package main

import (
	"fmt"
	"os"
	"os/exec"
	"sync"
	"sync/atomic"
	"syscall"
	"time"

	"github.com/gmpscope/gmpscope/internal/testkit/rec"
)

type quote struct {
	price int
	at    time.Time
}

type stream struct {
	out    chan quote
	stop   atomic.Bool
	quotes int
	gaps   []time.Duration
}

func (s *stream) compute(seed int) {
	for n := seed; !s.stop.Load(); n++ {
		rec.Work(700)
		s.publish(n)
		time.Sleep(time.Millisecond)
	}
}

func (s *stream) publish(n int) { s.out <- quote{n, time.Now()} }

func (s *stream) consume() {
	last := time.Now()
	for q := range s.out {
		if gap := q.at.Sub(last); gap > 35*time.Millisecond {
			s.gaps = append(s.gaps, gap.Round(time.Millisecond))
		}
		last = q.at
		s.quotes++
	}
}

func main() {
	if os.Getenv("STREAM_LIMIT") != "" {
		limit(os.Getppid())
		return
	}
	limiter := exec.Command(os.Args[0])
	limiter.Env = append(os.Environ(), "STREAM_LIMIT=1")
	s := &stream{out: make(chan quote, 8)}
	var producers, consumer sync.WaitGroup
	rec.Start()
	if err := limiter.Start(); err != nil {
		panic(err)
	}
	for i := range 2 {
		producers.Go(func() { s.compute(1000 * i) })
	}
	consumer.Go(s.consume)
	limiter.Wait()
	s.stop.Store(true)
	producers.Wait()
	close(s.out)
	consumer.Wait()
	rec.Stop()
	fmt.Fprintf(os.Stderr, "proof: %d quotes, due every 1.7 ms from either goroutine, with gaps of %v\n", s.quotes, s.gaps)
}

// limit lets the process run for 55 of every 100 ms.
func limit(process int) {
	for range 7 {
		time.Sleep(55 * time.Millisecond)
		if os.Getppid() != process {
			return
		}
		syscall.Kill(process, syscall.SIGSTOP)
		time.Sleep(45 * time.Millisecond)
		syscall.Kill(process, syscall.SIGCONT)
	}
}
