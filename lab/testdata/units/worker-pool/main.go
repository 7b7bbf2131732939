// Worker-pool has four workers make documents from a channel of jobs.
package main

import (
	"math/rand/v2"
	"net/textproto"
	"sync"
	"time"

	"github.com/gmpscope/gmpscope/lab/testdata/units/backend"
	"github.com/gmpscope/gmpscope/lab/testdata/units/mark"
)

type job struct{ pages int }

func worker(jobs <-chan job, store *textproto.Conn) {
	for j := range jobs {
		u := mark.Begin("document")
		typeset(j)
		mark.Check(store.PrintfLine("800"))
		_, err := store.ReadLine()
		mark.Check(err)
		u.End()
	}
}

// typeset takes long for documents of many pages.
func typeset(j job) { mark.Work(100 * j.pages) }

func main() {
	jobs := make(chan job)
	var workers sync.WaitGroup
	for range 4 {
		store := backend.Dial()
		workers.Go(func() { worker(jobs, store) })
	}
	mark.Start()
	for n := range 500 {
		j := job{2 + rand.IntN(3)}
		if n%20 == 19 {
			j.pages = 90
		}
		jobs <- j
		time.Sleep(time.Duration(1000+rand.IntN(1500)) * time.Microsecond)
	}
	close(jobs)
	workers.Wait()
	mark.Stop()
}
