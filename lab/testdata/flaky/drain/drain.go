// Package drain is a worker pool for thumbnails that can be shut down
// gracefully: what was accepted is finished, within the caller's deadline.
package drain

import (
	"context"
	"crypto/sha256"
	"errors"
	"sync"
)

// ErrClosed is returned by Submit after Shutdown began.
var ErrClosed = errors.New("drain: pool is shutting down")

// Image is what a job works on.
type Image struct {
	Name string
	Pix  []byte
}

// Pool renders images with a fixed number of workers.
type Pool struct {
	jobs chan Image
	wg   sync.WaitGroup

	mu     sync.Mutex
	closed bool
	done   map[string][32]byte
}

// NewPool starts n workers.
func NewPool(n int) *Pool {
	p := &Pool{jobs: make(chan Image, 64), done: make(map[string][32]byte)}
	for range n {
		p.wg.Add(1)
		go p.work()
	}
	return p
}

func (p *Pool) work() {
	defer p.wg.Done()
	for img := range p.jobs {
		sum := render(img)
		p.mu.Lock()
		p.done[img.Name] = sum
		p.mu.Unlock()
	}
}

// render stands for scaling: some passes over the pixels.
func render(img Image) [32]byte {
	sum := sha256.Sum256(img.Pix)
	for range 12 {
		h := sha256.New()
		h.Write(sum[:])
		h.Write(img.Pix)
		h.Sum(sum[:0])
	}
	return sum
}

// Submit queues an image.
func (p *Pool) Submit(img Image) error {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.closed {
		return ErrClosed
	}
	p.jobs <- img
	return nil
}

// Shutdown refuses new images and waits for the accepted ones, or for ctx.
func (p *Pool) Shutdown(ctx context.Context) error {
	p.mu.Lock()
	if !p.closed {
		p.closed = true
		close(p.jobs)
	}
	p.mu.Unlock()
	idle := make(chan struct{})
	go func() {
		p.wg.Wait()
		close(idle)
	}()
	select {
	case <-idle:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

// Rendered is the number of finished images.
func (p *Pool) Rendered() int {
	p.mu.Lock()
	defer p.mu.Unlock()
	return len(p.done)
}
