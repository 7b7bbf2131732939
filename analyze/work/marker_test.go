package work

import (
	"testing"

	"github.com/gmpscope/gmpscope/reference"
)

// A worker that finds the next job at once does several units in a row. What it does once in each
// tells them apart: they end behind it if it comes late, and begin with it if it comes early.
func TestMarker(t *testing.T) {
	for _, c := range []struct{ before, after int64 }{{40, 0}, {0, 40}} {
		p := newPlay(t)
		home, work := p.stack("main.worker", "runtime.chanrecv1"), p.stack("main.worker:2", "main.do", "os.Open")
		p.begin(1)
		var units []Unit
		for i := range 20 {
			p.block(1, reference.ReasonChanReceive, home, 1000)
			for range 1 + i%3/2 + i%5/4 {
				from := p.now
				p.after(c.before).call(1, work, 30).after(c.after)
				units = append(units, Unit{"main.worker", "main.worker", Cycle, 1, from, p.now})
			}
		}
		p.block(1, reference.ReasonChanReceive, home, 1000)
		want(t, p.units(), units...)
	}
}

// What units have twice, or only some of them, marks none.
func TestNoMarker(t *testing.T) {
	p := newPlay(t)
	home, work := p.stack("main.worker", "runtime.chanrecv1"), p.stack("main.worker:2", "main.do", "os.Open")
	seldom := p.stack("main.worker:3", "main.do", "os.Open")
	p.begin(1)
	var units []Unit
	for i := range 20 {
		p.block(1, reference.ReasonChanReceive, home, 1000)
		from := p.now
		p.call(1, work, 30).call(1, work, 30)
		if i%10 < 7 {
			p.call(1, seldom, 30)
		}
		if i%10 == 6 {
			p.call(1, seldom, 30)
		}
		units = append(units, Unit{"main.worker", "main.worker", Cycle, 1, from, p.now})
	}
	p.block(1, reference.ReasonChanReceive, home, 1000)
	want(t, p.units(), units...)
}
