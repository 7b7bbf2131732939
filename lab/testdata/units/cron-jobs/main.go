// Cron-jobs runs jobs at their times. They share a state.
package main

import (
	"net/textproto"
	"sync"
	"time"

	"github.com/gmpscope/gmpscope/lab/testdata/units/backend"
	"github.com/gmpscope/gmpscope/lab/testdata/units/mark"
)

type state struct {
	mu     sync.Mutex
	remote *textproto.Conn
}

func (s *state) update() {
	mark.Work(80)
	s.mu.Lock()
	defer s.mu.Unlock()
	mark.Work(30)
}

// backup sends the state away with the lock held.
func (s *state) backup() {
	s.mu.Lock()
	defer s.mu.Unlock()
	mark.Check(s.remote.PrintfLine("13000"))
	_, err := s.remote.ReadLine()
	mark.Check(err)
}

func every(period time.Duration, kind string, end time.Time, job func()) {
	timer := time.NewTimer(period)
	for at := range timer.C {
		if at.After(end) {
			return
		}
		timer.Reset(period)
		u := mark.Begin(kind)
		job()
		u.End()
	}
}

func main() {
	s := &state{remote: backend.Dial()}
	mark.Start()
	end := time.Now().Add(1500 * time.Millisecond)
	var jobs sync.WaitGroup
	for _, period := range []int{17, 19, 21, 23, 26} {
		jobs.Go(func() { every(time.Duration(period)*time.Millisecond, "update", end, s.update) })
	}
	jobs.Go(func() { every(180*time.Millisecond, "backup", end, s.backup) })
	jobs.Wait()
	mark.Stop()
}
