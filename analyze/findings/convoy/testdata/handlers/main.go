// Handlers is a server on loopback with two kinds of requests: one that needs 1
// ms of CPU, and one that needs 60, modelled on golang/go#51071. Six clients ask
// for the first kind with pauses, three for the second all of the time.
//
// The heavy ones run for a whole time slice at a time, and those of 1 ms wait
// behind them.
//
//gmpscope:case procs=1 go=go1.26.8 want=convoy:warning may=starvation,netpoll-delay,timer-lateness,preemption-thrash
//gmpscope:case procs=2 go=go1.26.8 want=convoy:warning may=starvation,netpoll-delay,timer-lateness,preemption-thrash
package main

import (
	"io"
	"log"
	"net"
	"sync"
	"time"

	"github.com/gmpscope/gmpscope/internal/testkit/rec"
)

func main() {
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		log.Fatal(err)
	}
	rec.Start()
	go accept(listener)
	over := time.Now().Add(700 * time.Millisecond)
	var wg sync.WaitGroup
	for i := 0; i < 9; i++ {
		wg.Add(1)
		go client(listener.Addr().String(), i < 3, over, &wg)
	}
	wg.Wait()
	rec.Stop()
}

func accept(listener net.Listener) {
	for {
		conn, err := listener.Accept()
		if err != nil {
			log.Fatal(err)
		}
		go serve(conn)
	}
}

func serve(conn net.Conn) {
	var request [1]byte
	for {
		if _, err := io.ReadFull(conn, request[:]); err != nil {
			conn.Close()
			return // the client has hung up
		}
		if request[0] == 'h' {
			go heavy(conn)
		} else {
			go light(conn)
		}
	}
}

func heavy(conn net.Conn) {
	rec.Work(60000)
	reply(conn)
}

func light(conn net.Conn) {
	rec.Work(1000)
	reply(conn)
}

func reply(conn net.Conn) {
	if _, err := conn.Write([]byte{'.'}); err != nil {
		log.Fatal(err)
	}
}

func client(addr string, wantsMuch bool, over time.Time, wg *sync.WaitGroup) {
	defer wg.Done()
	conn, err := net.Dial("tcp", addr)
	if err != nil {
		log.Fatal(err)
	}
	defer conn.Close()
	request := []byte{'l'}
	if wantsMuch {
		request[0] = 'h'
	}
	for time.Now().Before(over) {
		if _, err := conn.Write(request); err != nil {
			log.Fatal(err)
		}
		if _, err := io.ReadFull(conn, make([]byte, 1)); err != nil {
			log.Fatal(err)
		}
		if !wantsMuch {
			time.Sleep(10 * time.Millisecond)
		}
	}
}
