// Package berths keeps what is free on each sailing.
package berths

import (
	"fmt"
	"io"
	"sync"
)

// A Plan holds the free berths of all sailings.
type Plan struct {
	mu       sync.RWMutex
	sailings []int
}

func New(sailings, berths int) *Plan {
	p := &Plan{sailings: make([]int, sailings)}
	for i := range p.sailings {
		p.sailings[i] = berths
	}
	return p
}

func (p *Plan) Free(sailing int) int {
	p.mu.RLock()
	defer p.mu.RUnlock()
	return p.sailings[sailing]
}

func (p *Plan) Assign(sailing int) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.sailings[sailing] == 0 {
		return false
	}
	p.sailings[sailing]--
	return true
}

// WriteReport writes a line for each sailing.
func (p *Plan) WriteReport(w io.Writer) error {
	p.mu.RLock()
	defer p.mu.RUnlock()
	for sailing, free := range p.sailings {
		if _, err := fmt.Fprintf(w, "sailing %d: %d free\n", sailing, free); err != nil {
			return err
		}
	}
	return nil
}
