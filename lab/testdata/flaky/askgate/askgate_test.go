// Package askgate is timothy-agent/timothy#200: a waiter reports before it releases.
package askgate

import (
	"runtime"
	"sync"
	"sync/atomic"
	"testing"
)

func TestSerializes(t *testing.T) {
	var gate sync.Mutex
	var entries atomic.Int32
	order := make(chan int, 4)
	for i := range 4 {
		go func() {
			entries.Add(1)
			gate.Lock()
			order <- i
			gate.Unlock()
			runtime.Gosched() // to release takes longer
			entries.Add(-1)
		}()
	}
	for range 4 {
		<-order
	}
	if n := entries.Load(); n != 0 {
		t.Fatalf("%d entries are left, want 0", n)
	}
}
