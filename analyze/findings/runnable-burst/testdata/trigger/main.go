// The program runnable-burst/trigger starts a goroutine for each of 400 items
// of a request at once, request after request. Nobody waits for one of them: it is worth a note.
//
//gmpscope:case procs=2 go=go1.26.8 want=runnable-burst
package main

import (
	"sync"
	"time"

	"github.com/gmpscope/gmpscope/internal/testkit/rec"
)

const items = 400

func item(wg *sync.WaitGroup) {
	rec.Work(100)
	wg.Done()
}

func main() {
	rec.Start()
	for range 8 {
		var wg sync.WaitGroup
		wg.Add(items)
		for range items {
			go item(&wg)
		}
		wg.Wait()
		time.Sleep(10 * time.Millisecond)
	}
	rec.Stop()
}
