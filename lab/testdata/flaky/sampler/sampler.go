// Package sampler records a gauge at a fixed interval and sums it up.
package sampler

import (
	"errors"
	"math"
	"runtime"
	"sync"
	"time"
)

// Gauge returns the present value of something.
type Gauge func() float64

// HeapMB is the gauge of the live heap.
func HeapMB() float64 {
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return float64(m.HeapAlloc) / (1 << 20)
}

// Summary of a recording.
type Summary struct {
	Samples  int
	Min, Max float64
	Mean     float64
}

// Sampler reads a gauge each Interval.
type Sampler struct {
	Interval time.Duration
	Gauge    Gauge

	mu   sync.Mutex
	vals []float64
	quit chan struct{}
	done chan struct{}
}

// ErrRunning is returned by Start when it was called before.
var ErrRunning = errors.New("sampler: running")

// Start begins to record.
func (s *Sampler) Start() error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.quit != nil {
		return ErrRunning
	}
	s.quit, s.done = make(chan struct{}), make(chan struct{})
	go s.loop(s.quit, s.done)
	return nil
}

func (s *Sampler) loop(quit, done chan struct{}) {
	defer close(done)
	t := time.NewTicker(s.Interval)
	defer t.Stop()
	for {
		select {
		case <-quit:
			return
		case <-t.C:
			v := s.Gauge()
			s.mu.Lock()
			s.vals = append(s.vals, v)
			s.mu.Unlock()
		}
	}
}

// Stop ends the recording and sums it up.
func (s *Sampler) Stop() Summary {
	close(s.quit)
	<-s.done
	s.mu.Lock()
	defer s.mu.Unlock()
	sum := Summary{Samples: len(s.vals), Min: math.Inf(1), Max: math.Inf(-1)}
	for _, v := range s.vals {
		sum.Min, sum.Max = min(sum.Min, v), max(sum.Max, v)
		sum.Mean += v / float64(len(s.vals))
	}
	s.quit, s.done, s.vals = nil, nil, nil
	return sum
}
