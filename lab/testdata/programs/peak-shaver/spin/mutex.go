// Package spin has a lock that does not park its waiters.
package spin

import (
	"runtime"
	"sync/atomic"
)

// A Mutex is meant for a few instructions.
type Mutex struct {
	held  atomic.Bool
	Spins atomic.Int64
}

func (m *Mutex) Lock() {
	for try := 1; !m.held.CompareAndSwap(false, true); try++ {
		if try%2000 == 0 {
			m.Spins.Add(2000)
			runtime.Gosched()
		}
	}
}

func (m *Mutex) Unlock() { m.held.Store(false) }
