// Package yard loads trucks at a few ramps.
package yard

import (
	"errors"
	"sync/atomic"
	"time"
)

var ErrOverweight = errors.New("overweight")

type Yard struct {
	ramps   chan struct{}
	AtRamps atomic.Int64 // trucks that are really there
}

func New(ramps int) *Yard { return &Yard{ramps: make(chan struct{}, ramps)} }

// Load loads a truck at the next free ramp.
func (y *Yard) Load(truck, tons int) error {
	y.ramps <- struct{}{}
	y.AtRamps.Add(1)
	if err := y.weigh(tons); err != nil {
		y.AtRamps.Add(-1)
		return err
	}
	y.fill()
	y.AtRamps.Add(-1)
	<-y.ramps
	return nil
}

func (y *Yard) Taken() int { return len(y.ramps) }

func (y *Yard) weigh(tons int) error {
	time.Sleep(500 * time.Microsecond)
	if tons > 40 {
		return ErrOverweight
	}
	return nil
}

func (y *Yard) fill() { time.Sleep(3 * time.Millisecond) }
