// Trigger is an echo server beside goroutines that compute on all Ps: nobody
// polls the network but sysmon, every 10 ms, and who was woken by it waits for a
// time slice of the others to end. The clients, which pause between requests, are
// in the same process, so that their timers are late too.
//
// Near-miss has one goroutine that computes: the other P has time for the network.
//
//gmpscope:case procs=2 go=go1.26.8 want=netpoll-delay:warning may=process-stopped,starvation,convoy,timer-lateness,late-preemption,global-queue-neglect
//gmpscope:case procs=2 go=go1.23.12 want=netpoll-delay:warning may=process-stopped,starvation,convoy,timer-lateness,late-preemption,global-queue-neglect
//gmpscope:case case=near-miss procs=2 go=go1.26.8 want= may=process-stopped
package main

import (
	"net"
	"sync"
	"time"

	"github.com/gmpscope/gmpscope/internal/testkit/rec"
)

const clients = 4

// computers is how many goroutines compute, for the time of serving.
var computers, serving = 2, time.Second

func main() {
	if rec.Case() == "near-miss" {
		computers, serving = 1, 300*time.Millisecond
	}
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		panic(err)
	}
	go serve(l)
	rec.Start()
	end := time.Now().Add(serving)
	var done sync.WaitGroup
	for range computers {
		done.Add(1)
		go compute(end, &done)
	}
	for range clients {
		done.Add(1)
		go client(l.Addr().String(), end, &done)
	}
	done.Wait()
	rec.Stop()
}

func compute(end time.Time, done *sync.WaitGroup) {
	defer done.Done()
	for time.Now().Before(end) {
		rec.Work(1000)
	}
}

func serve(l net.Listener) {
	for {
		c, err := l.Accept()
		if err != nil {
			return
		}
		go echo(c)
	}
}

func echo(c net.Conn) {
	defer c.Close()
	buf := make([]byte, 64)
	for {
		n, err := c.Read(buf)
		if err != nil {
			return
		}
		if _, err := c.Write(buf[:n]); err != nil {
			return
		}
	}
}

func client(addr string, end time.Time, done *sync.WaitGroup) {
	defer done.Done()
	c, err := net.Dial("tcp", addr)
	if err != nil {
		panic(err)
	}
	defer c.Close()
	buf := make([]byte, 64)
	for time.Now().Before(end) {
		if _, err := c.Write([]byte("ping")); err != nil {
			panic(err)
		}
		if _, err := c.Read(buf); err != nil {
			panic(err)
		}
		time.Sleep(time.Millisecond)
	}
}
