// Pipeline-frames decodes, encodes and stores frames in three stages, which hand each frame over.
package main

import (
	"math/rand/v2"
	"net/textproto"
	"sync"

	"github.com/gmpscope/gmpscope/lab/testdata/units/backend"
	"github.com/gmpscope/gmpscope/lab/testdata/units/mark"
)

func decode(frames chan<- int) {
	for n := range 600 {
		u := mark.Begin("decode")
		mark.Work(300 + rand.IntN(200))
		frames <- n
		u.End()
	}
	close(frames)
}

func encode(frames <-chan int, encoded chan<- int) {
	for n := range frames {
		u := mark.Begin("encode")
		mark.Work(400 + rand.IntN(400))
		encoded <- n
		u.End()
	}
	close(encoded)
}

type sink struct{ remote *textproto.Conn }

func (s *sink) store(encoded <-chan int) {
	for n := range encoded {
		u := mark.Begin("store")
		mark.Work(100)
		if n%15 == 14 {
			s.checkpoint()
		}
		u.End()
	}
}

// checkpoint waits until the other side has what was stored.
func (s *sink) checkpoint() {
	mark.Check(s.remote.PrintfLine("6000"))
	_, err := s.remote.ReadLine()
	mark.Check(err)
}

func main() {
	s := &sink{backend.Dial()}
	frames, encoded := make(chan int), make(chan int)
	mark.Start()
	var stages sync.WaitGroup
	stages.Go(func() { decode(frames) })
	stages.Go(func() { encode(frames, encoded) })
	stages.Go(func() { s.store(encoded) })
	stages.Wait()
	mark.Stop()
}
