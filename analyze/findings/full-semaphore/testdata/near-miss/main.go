// Twelve clients have a connection each: nobody waits for one.
//
//gmpscope:case procs=2 go=go1.26.8 want= may=process-stopped,runnable-burst
package main

import (
	"sync"
	"time"

	"github.com/gmpscope/gmpscope/internal/testkit/rec"
)

const (
	clients = 12
	times   = 6
	slots   = 12
)

var places = make(chan struct{}, slots)

func main() {
	rec.Start()
	var wg sync.WaitGroup
	for range clients {
		wg.Go(client)
	}
	wg.Wait()
	rec.Stop()
}

func client() {
	for range times {
		query()
		rec.Work(50)
	}
}

func query() {
	places <- struct{}{}
	defer func() { <-places }()
	time.Sleep(4 * time.Millisecond) // the database
}
