// Package ladder ranks players.
package ladder

import "sync"

// A Ladder holds the ratings. Its lock is held for a few instructions.
type Ladder struct {
	mu      sync.Mutex
	ratings map[int]float64
}

func New(players int) *Ladder {
	l := &Ladder{ratings: make(map[int]float64)}
	for p := range players {
		l.ratings[p] = 1500
	}
	return l
}

func (l *Ladder) Rating(player int) float64 {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.ratings[player]
}

func (l *Ladder) Record(winner, loser int, points float64) {
	l.mu.Lock()
	l.ratings[winner] += points
	l.ratings[loser] -= points
	l.mu.Unlock()
}
