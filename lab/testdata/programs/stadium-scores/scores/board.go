// Package scores sends what happens in a match to all who watch.
package scores

import (
	"net"
	"sync"
)

// A Board knows the score and who watches.
type Board struct {
	Queue   int // of frames per viewer, who loses those that do not fit: the remedy; 0: none
	mu      sync.Mutex
	score   int
	viewers map[*viewer]bool
}

type viewer struct {
	conn   net.Conn
	frames chan []byte // nil without a queue
}

func (b *Board) Join(conn net.Conn) {
	v := &viewer{conn: conn}
	if b.Queue > 0 {
		v.frames = make(chan []byte, b.Queue)
		go v.drain()
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.viewers == nil {
		b.viewers = make(map[*viewer]bool)
	}
	b.viewers[v] = true
}

// Score returns the score of now.
func (b *Board) Score() int {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.score
}

// Publish sets the score, and tells all viewers.
func (b *Board) Publish(score int, frame []byte) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.score = score
	for v := range b.viewers {
		if !v.send(frame) {
			v.conn.Close()
			delete(b.viewers, v)
		}
	}
}

// Close ends all that watch.
func (b *Board) Close() {
	b.mu.Lock()
	defer b.mu.Unlock()
	for v := range b.viewers {
		if v.frames != nil {
			close(v.frames)
		}
		v.conn.Close()
	}
	clear(b.viewers)
}

// send reports whether the viewer is still there.
func (v *viewer) send(frame []byte) bool {
	if v.frames == nil {
		_, err := v.conn.Write(frame)
		return err == nil
	}
	select {
	case v.frames <- frame:
	default:
	}
	return true
}

func (v *viewer) drain() {
	for frame := range v.frames {
		if _, err := v.conn.Write(frame); err != nil {
			return
		}
	}
}
