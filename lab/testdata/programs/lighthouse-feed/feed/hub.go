// Package feed tells ships of what the lighthouses report.
package feed

import "sync"

type Notice struct{ Light, State int }

// A Hub knows which ships look at which light.
type Hub struct {
	mu    sync.RWMutex
	ships map[int][]chan Notice
}

func NewHub() *Hub { return &Hub{ships: make(map[int][]chan Notice)} }

func (h *Hub) Follow(light int) <-chan Notice {
	notices := make(chan Notice, 4)
	h.mu.Lock()
	h.ships[light] = append(h.ships[light], notices)
	h.mu.Unlock()
	return notices
}

// Report tells the ships of one light.
func (h *Hub) Report(n Notice) (told int) {
	h.mu.RLock()
	defer h.mu.RUnlock()
	for _, ship := range h.ships[n.Light] {
		select {
		case ship <- n:
			told++
		default: // will see the next one
		}
	}
	return told
}
