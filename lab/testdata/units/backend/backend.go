// Package backend is the service on which programs depend. It runs in the same process.
package backend

import (
	"net"
	"net/textproto"
	"strconv"
	"sync"
	"time"

	"github.com/gmpscope/gmpscope/lab/testdata/units/mark"
)

var address = sync.OnceValue(func() string {
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	mark.Check(err)
	go accept(listener)
	return listener.Addr().String()
})

func accept(listener net.Listener) {
	for {
		c, err := listener.Accept()
		mark.Check(err)
		go answer(textproto.NewConn(c))
	}
}

// answer reads lines, each of which is for how many microseconds to work on the answer.
func answer(c *textproto.Conn) {
	for {
		line, err := c.ReadLine()
		if err != nil {
			return
		}
		micros, err := strconv.Atoi(line)
		mark.Check(err)
		time.Sleep(time.Duration(micros) * time.Microsecond)
		mark.Check(c.PrintfLine("done"))
	}
}

// Dial connects to the service.
func Dial() *textproto.Conn {
	c, err := textproto.Dial("tcp", address())
	mark.Check(err)
	return c
}
