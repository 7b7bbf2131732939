// Network is a TCP echo server on the loopback interface with eight clients
// that make 50 round trips each.
//
// The trace must show eight goroutines each of the classes main.client and
// main.serve that block on "network" again and again, and are made Runnable by
// the netpoller: by no goroutine (the event's context has no goroutine). The
// first of a netpoll's list starts at once on the polling thread; the rest go
// to idle Ps by way of the global queue, or to the local queue.
package main

import (
	"io"
	"log"
	"net"
	"sync"

	"github.com/gmpscope/gmpscope/internal/testkit/rec"
)

const (
	clients = 8
	trips   = 50
)

func main() {
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		log.Fatal(err)
	}
	rec.Start()
	var wg sync.WaitGroup
	wg.Add(1 + 2*clients)
	go accept(listener, &wg)
	for i := 0; i < clients; i++ {
		go client(listener.Addr().String(), &wg)
	}
	wg.Wait()
	rec.Stop()
}

func accept(listener net.Listener, wg *sync.WaitGroup) {
	for i := 0; i < clients; i++ {
		conn, err := listener.Accept()
		if err != nil {
			log.Fatal(err)
		}
		go serve(conn, wg)
	}
	wg.Done()
}

func serve(conn net.Conn, wg *sync.WaitGroup) {
	var message [64]byte
	for {
		if _, err := io.ReadFull(conn, message[:]); err != nil {
			break // the client has hung up
		}
		rec.Work(20)
		if _, err := conn.Write(message[:]); err != nil {
			log.Fatal(err)
		}
	}
	conn.Close()
	wg.Done()
}

func client(addr string, wg *sync.WaitGroup) {
	conn, err := net.Dial("tcp", addr)
	if err != nil {
		log.Fatal(err)
	}
	var message [64]byte
	for i := 0; i < trips; i++ {
		if _, err := conn.Write(message[:]); err != nil {
			log.Fatal(err)
		}
		if _, err := io.ReadFull(conn, message[:]); err != nil {
			log.Fatal(err)
		}
	}
	conn.Close()
	wg.Done()
}
