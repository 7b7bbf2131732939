// Package parlour keeps the sessions of people who play cards.
package parlour

import (
	"hash/fnv"
	"strconv"
	"time"
)

// A Session is of one player.
type Session struct {
	Player int
	hand   []int
	seen   uint64
	done   chan struct{} // nil: its check goes on
}

// Open starts a session, which is checked from time to time.
func Open(player int, stops bool) *Session {
	s := &Session{Player: player}
	for card := range 52 {
		s.hand = append(s.hand, (card*7+player)%52)
	}
	if stops {
		s.done = make(chan struct{})
	}
	go s.watch()
	return s
}

// Close ends a session.
func (s *Session) Close() {
	if s.done != nil {
		close(s.done)
	}
}

func (s *Session) watch() {
	ticker := time.NewTicker(20 * time.Millisecond)
	defer ticker.Stop()
	for {
		select {
		case <-ticker.C:
			s.check()
		case <-s.done:
			return
		}
	}
}

// check looks for hands that cannot be.
func (s *Session) check() {
	h := fnv.New64a()
	for round := range 180 {
		for _, card := range s.hand {
			h.Write(strconv.AppendInt(nil, int64(card+round), 10))
		}
	}
	s.seen = h.Sum64()
}
