package capture

import (
	"errors"
	"sync"
	"time"
)

// errBusy is the error of a result that was not made in time.
var errBusy = errors.New("capture: others use all traces that may be in memory at one time: try again later")

// shared makes results, and bounds how many are in use at one time. All who ask
// before the making of a result begins get the same one; who asks later gets one
// that holds what happened in between.
type shared[T any] struct {
	turns chan struct{} // has as many elements as results are in use, and room for as many as may be

	mu   sync.Mutex // of next, and of the users of all results
	next *result[T] // the making of which has not begun
}

type result[T any] struct {
	value T
	err   error

	once  sync.Once
	users int
	turn  bool // whether the result has an element of turns
}

func newShared[T any](most int) *shared[T] {
	return &shared[T]{turns: make(chan struct{}, most)}
}

// get returns a result that is in use until each caller has released it. It is
// errBusy if there is no room for one before the timeout.
func (s *shared[T]) get(timeout <-chan time.Time, produce func() (T, error)) *result[T] {
	s.mu.Lock()
	if s.next == nil {
		s.next = &result[T]{}
	}
	res := s.next
	res.users++
	s.mu.Unlock()

	res.once.Do(func() {
		select {
		case s.turns <- struct{}{}:
			res.turn = true
		case <-timeout:
			res.err = errBusy
		}
		s.mu.Lock()
		s.next = nil
		s.mu.Unlock()
		if res.turn {
			res.value, res.err = produce()
		}
	})
	return res
}

func (s *shared[T]) release(res *result[T]) {
	s.mu.Lock()
	res.users--
	last := res.users == 0
	s.mu.Unlock()
	if last && res.turn {
		<-s.turns
	}
}
