// Eight goroutines wait for sync.Once to load a table, which takes 30 ms. They
// wait in Mutex.Lock, one behind the other, but that is what Once is for, and it
// happens once.
//
//gmpscope:case procs=2 go=go1.26.8 want=
package main

import (
	"sync"
	"time"

	"github.com/gmpscope/gmpscope/internal/testkit/rec"
)

const clients = 8

var load sync.Once

func main() {
	rec.Start()
	var wg sync.WaitGroup
	wg.Add(clients)
	for range clients {
		go client(&wg)
	}
	wg.Wait()
	time.Sleep(80 * time.Millisecond)
	rec.Stop()
}

func client(wg *sync.WaitGroup) {
	defer wg.Done()
	load.Do(func() { time.Sleep(30 * time.Millisecond) })
	rec.Work(500)
}
