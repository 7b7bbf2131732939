// Package backoff is vtmocanu/uzi#198: the gaps between tries must grow.
package backoff

import (
	"testing"
	"time"
)

func TestGapsGrow(t *testing.T) {
	var gaps []time.Duration
	last := time.Now()
	for i := range 5 {
		time.Sleep(time.Duration(10+4*i) * time.Millisecond)
		now := time.Now()
		gaps = append(gaps, now.Sub(last))
		last = now
	}
	for i := 1; i < len(gaps); i++ {
		if gaps[i] <= gaps[i-1] {
			t.Fatalf("the delay must grow: gap %v after %v", gaps[i], gaps[i-1])
		}
	}
}
