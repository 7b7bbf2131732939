// Package gate lets one skier after the other onto a lift.
package gate

import "time"

// A Gate opens once in each interval, which is how fast the lift is.
type Gate struct {
	open chan struct{}
	quit chan struct{}
}

func New(interval time.Duration) *Gate {
	g := &Gate{make(chan struct{}), make(chan struct{})}
	go g.turn(interval)
	return g
}

func (g *Gate) turn(interval time.Duration) {
	chair := time.NewTicker(interval)
	defer chair.Stop()
	for range chair.C {
		select {
		case g.open <- struct{}{}:
		case <-g.quit:
			return
		default: // nobody there: the chair goes up empty
		}
	}
}

// Pass waits for a chair.
func (g *Gate) Pass() { <-g.open }

func (g *Gate) Close() { close(g.quit) }
