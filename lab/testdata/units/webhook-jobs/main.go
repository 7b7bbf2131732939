// Webhook-jobs delivers each event by a goroutine of its own, three at a time.
package main

import (
	"math/rand/v2"
	"net/textproto"
	"sync"
	"time"

	"github.com/gmpscope/gmpscope/lab/testdata/units/backend"
	"github.com/gmpscope/gmpscope/lab/testdata/units/mark"
)

type sender struct {
	slots   chan bool
	targets chan *textproto.Conn
}

func (s *sender) acquire() { s.slots <- true }

func (s *sender) release() { <-s.slots }

func (s *sender) deliver(micros int) {
	s.acquire()
	defer s.release()
	s.post(micros)
}

// digests has them delivered to a customer whose server answers late.
func (s *sender) digests() {
	for range time.Tick(120 * time.Millisecond) {
		s.deliver(20000)
	}
}

func (s *sender) post(micros int) {
	c := <-s.targets
	mark.Check(c.PrintfLine("%d", micros))
	_, err := c.ReadLine()
	mark.Check(err)
	s.targets <- c
}

func main() {
	s := &sender{make(chan bool, 3), make(chan *textproto.Conn, 3)}
	for range cap(s.targets) {
		s.targets <- backend.Dial()
	}
	for range cap(s.slots) {
		go s.digests()
	}
	mark.Start()
	var deliveries sync.WaitGroup
	for range 400 {
		deliveries.Add(1)
		go func() {
			defer deliveries.Done()
			defer mark.Begin("delivery").End()
			mark.Work(80)
			s.deliver(1500 + rand.IntN(1000))
		}()
		time.Sleep(time.Duration(2000+rand.IntN(2000)) * time.Microsecond)
	}
	deliveries.Wait()
	mark.Stop()
}
