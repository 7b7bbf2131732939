// Tcp-store is a key-value store with a line protocol. One goroutine writes for all connections.
package main

import (
	"math/rand/v2"
	"net"
	"net/textproto"
	"sync"
	"time"

	"github.com/gmpscope/gmpscope/lab/testdata/units/mark"
)

type store struct{ writes chan chan bool }

// write writes, and compacts now and then.
func (s *store) write() {
	for n := 1; ; n++ {
		done := <-s.writes
		mark.Work(80)
		if n%40 == 0 {
			s.compact()
		}
		done <- true
	}
}

func (s *store) compact() { mark.Work(8000) }

func (s *store) set() {
	done := make(chan bool)
	s.writes <- done
	<-done
}

func (s *store) serveConn(c *textproto.Conn) {
	for {
		line, err := c.ReadLine()
		if err != nil {
			return
		}
		u := mark.Begin("command")
		if line == "set" {
			s.set()
		} else {
			mark.Work(40)
		}
		mark.Check(c.PrintfLine("ok"))
		u.End()
	}
}

func (s *store) listen(listener net.Listener) {
	for {
		c, err := listener.Accept()
		mark.Check(err)
		go s.serveConn(textproto.NewConn(c))
	}
}

func user(address string, end time.Time) {
	c, err := textproto.Dial("tcp", address)
	mark.Check(err)
	for time.Now().Before(end) {
		command := "set"
		if rand.IntN(3) == 0 {
			command = "get"
		}
		mark.Check(c.PrintfLine("%s", command))
		_, err := c.ReadLine()
		mark.Check(err)
		time.Sleep(time.Duration(2+rand.IntN(5)) * time.Millisecond)
	}
}

func main() {
	s := &store{make(chan chan bool)}
	go s.write()
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	mark.Check(err)
	go s.listen(listener)
	mark.Start()
	end := time.Now().Add(time.Second)
	var users sync.WaitGroup
	for range 6 {
		users.Go(func() { user(listener.Addr().String(), end) })
	}
	users.Wait()
	mark.Stop()
}
