// Scatter-search asks all shards at once for each query, and gathers what they answer.
package main

import (
	"math/rand/v2"
	"net"
	"net/textproto"
	"sync"
	"time"

	"github.com/gmpscope/gmpscope/lab/testdata/units/mark"
)

type shard struct{ segments int }

// find merges the segments of a shard if there are many.
func (s *shard) find() {
	mark.Work(100)
	if s.segments++; s.segments == 60 {
		mark.Work(9000)
		s.segments = 0
	}
}

type front struct{ shards [4]shard }

func (f *front) search() {
	var legs sync.WaitGroup
	for i := range f.shards {
		legs.Go(f.shards[i].find)
	}
	legs.Wait()
	mark.Work(50)
}

func (f *front) serveConn(c *textproto.Conn) {
	for {
		if _, err := c.ReadLine(); err != nil {
			return
		}
		u := mark.Begin("query")
		f.search()
		mark.Check(c.PrintfLine("found"))
		u.End()
	}
}

func user(address string, end time.Time) {
	c, err := textproto.Dial("tcp", address)
	mark.Check(err)
	for time.Now().Before(end) {
		mark.Check(c.PrintfLine("query"))
		_, err := c.ReadLine()
		mark.Check(err)
		time.Sleep(time.Duration(4000+rand.IntN(8000)) * time.Microsecond)
	}
}

func main() {
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	mark.Check(err)
	go func() {
		for n := range 3 {
			c, err := listener.Accept()
			mark.Check(err)
			f := &front{}
			f.shards[n].segments = 20 * n // not all merge at a time
			go f.serveConn(textproto.NewConn(c))
		}
	}()
	mark.Start()
	end := time.Now().Add(1200 * time.Millisecond)
	var users sync.WaitGroup
	for range 3 {
		users.Go(func() { user(listener.Addr().String(), end) })
	}
	users.Wait()
	mark.Stop()
}
