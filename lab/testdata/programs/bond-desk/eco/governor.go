// Package eco lets a service use less of a machine when it has little to do.
package eco

import (
	"runtime"
	"sync/atomic"
	"time"
)

// A Governor chooses how many Ps the service has, by its load.
type Governor struct {
	Load  func() int // how many jobs wait
	Full  int        // the load from which on all Ps are worth their power
	Lower atomic.Int64
	most  int
	quit  chan struct{}
	gone  chan struct{}
}

func (g *Governor) Start() {
	g.most = runtime.GOMAXPROCS(0)
	g.quit, g.gone = make(chan struct{}), make(chan struct{})
	go func() {
		defer close(g.gone)
		tick := time.NewTicker(4 * time.Millisecond)
		defer tick.Stop()
		for n := 0; ; n++ {
			select {
			case <-tick.C:
				g.adjust(n)
			case <-g.quit:
				runtime.GOMAXPROCS(g.most)
				return
			}
		}
	}()
}

func (g *Governor) Stop() {
	close(g.quit)
	<-g.gone
}

// adjust lowers the number of Ps under little load, and raises it under more,
// and now and then to see what happens.
func (g *Governor) adjust(n int) {
	if g.Load() >= g.Full || n%10 == 9 {
		runtime.GOMAXPROCS(g.most)
		return
	}
	runtime.GOMAXPROCS(1)
	g.Lower.Add(1)
}
