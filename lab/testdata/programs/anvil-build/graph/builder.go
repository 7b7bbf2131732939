// Package graph builds targets after those that they need.
package graph

import (
	"crypto/sha256"
	"sync"
	"sync/atomic"
	"time"
)

type Target struct {
	Name  string
	Needs []*Target
	Size  int
	sum   [32]byte
	once  sync.Once
}

// A Builder builds as many targets at a time as it has slots.
type Builder struct {
	slots    chan struct{}
	patience time.Duration
	Late     bool // take the slot when all that is needed is there: the remedy
	Overrun  atomic.Int64
}

func NewBuilder(slots int, patience time.Duration) *Builder {
	return &Builder{slots: make(chan struct{}, slots), patience: patience}
}

// Build returns when a target is built.
func (b *Builder) Build(t *Target) { t.once.Do(func() { b.make(t) }) }

func (b *Builder) make(t *Target) {
	if b.Late {
		b.buildNeeds(t)
	}
	if b.takeSlot() {
		defer func() { <-b.slots }()
	}
	if !b.Late {
		b.buildNeeds(t)
	}
	t.compile()
}

// takeSlot waits for a slot, but not for ever.
func (b *Builder) takeSlot() bool {
	patience := time.NewTimer(b.patience)
	defer patience.Stop()
	select {
	case b.slots <- struct{}{}:
		return true
	case <-patience.C:
		b.Overrun.Add(1)
		return false
	}
}

func (b *Builder) buildNeeds(t *Target) {
	var open sync.WaitGroup
	for _, need := range t.Needs {
		open.Go(func() { b.Build(need) })
	}
	open.Wait()
}

func (t *Target) compile() {
	t.sum = sha256.Sum256([]byte(t.Name))
	for range t.Size {
		t.sum = sha256.Sum256(t.sum[:])
	}
}
