// Package completion is vavallee/bindery#2404: the flag is set after that which the test waits for.
package completion

import (
	"runtime"
	"sync"
	"sync/atomic"
	"testing"
)

func TestRunReturns(t *testing.T) {
	var wg sync.WaitGroup
	var returned atomic.Bool
	wg.Add(1)
	go func() {
		func() {
			defer wg.Done()
		}()
		runtime.Gosched()
		returned.Store(true)
	}()
	wg.Wait()
	if !returned.Load() {
		t.Fatal("Run did not return after its job finished")
	}
}
