// Package valves drives the valves of a waterworks.
package valves

import "runtime"

type command struct {
	valve, percent int
	done           chan int
}

// A Driver carries out commands one after the other.
type Driver struct {
	Free     bool // it needs no thread of its own since it is written in Go: the remedy
	commands chan command
	state    [64]int
}

func NewDriver() *Driver { return &Driver{commands: make(chan command)} }

// Run drives until Close.
func (d *Driver) Run() {
	if !d.Free {
		runtime.LockOSThread()
		defer runtime.UnlockOSThread()
	}
	for c := range d.commands {
		was := d.state[c.valve]
		d.state[c.valve] = c.percent
		c.done <- was
	}
}

func (d *Driver) Close() { close(d.commands) }

// Set sets a valve, and returns how it was.
func (d *Driver) Set(valve, percent int, done chan int) int {
	d.commands <- command{valve, percent, done}
	return <-done
}
