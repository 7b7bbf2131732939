// The program connection-churn/pool has sixty workers ask one server over a pool of TCP connections,
// which keeps two that are idle and closes all others. In the near miss it keeps them all until the end,
// when it closes them.
//
//gmpscope:case procs=2 go=go1.26.8 want=connection-churn may=starvation,convoy,os-preemption,work-conservation,blocked-on-others
//gmpscope:case case=near-miss procs=1 go=go1.26.8 want= may=starvation,convoy,os-preemption,work-conservation,blocked-on-others
package main

import (
	"io"
	"net"
	"sync"
	"time"

	"github.com/gmpscope/gmpscope/internal/testkit/rec"
)

const (
	workers  = 60
	requests = 10 // of each
)

func must[T any](x T, err error) T {
	if err != nil {
		panic(err)
	}
	return x
}

func serve(l net.Listener) {
	for {
		c, err := l.Accept()
		if err != nil {
			return
		}
		go answer(c)
	}
}

func answer(c net.Conn) {
	defer c.Close()
	for b := []byte{0}; ; {
		if _, err := io.ReadFull(c, b); err != nil {
			return
		}
		time.Sleep(time.Millisecond)
		must(c.Write(b))
	}
}

type pool struct {
	address string
	idle    chan net.Conn
}

func (p *pool) get() net.Conn {
	select {
	case c := <-p.idle:
		return c
	default:
		return p.dial()
	}
}

func (p *pool) dial() net.Conn { return must(net.Dial("tcp", p.address)) }

func (p *pool) put(c net.Conn) {
	select {
	case p.idle <- c:
	default:
		c.Close()
	}
}

func (p *pool) ask() {
	c, b := p.get(), []byte{1}
	defer p.put(c)
	must(c.Write(b))
	must(io.ReadFull(c, b))
}

func worker(p *pool, wg *sync.WaitGroup) {
	defer wg.Done()
	for range requests {
		p.ask()
		time.Sleep(10 * time.Millisecond) // else it would get the connection that it has just put back
	}
}

func main() {
	l := must(net.Listen("tcp", "127.0.0.1:0"))
	go serve(l)
	keep := 2
	if rec.Case() == "near-miss" {
		keep = workers
	}
	p := &pool{l.Addr().String(), make(chan net.Conn, keep)}

	rec.Start()
	var wg sync.WaitGroup
	for range workers {
		wg.Add(1)
		go worker(p, &wg)
	}
	wg.Wait()
	for range len(p.idle) {
		(<-p.idle).Close()
	}
	rec.Stop()
}
