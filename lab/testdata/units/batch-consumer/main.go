// Batch-consumer fetches batches of messages from a broker, handles them, and commits.
package main

import (
	"math/rand/v2"
	"net/textproto"
	"sync"
	"time"

	"github.com/gmpscope/gmpscope/lab/testdata/units/backend"
	"github.com/gmpscope/gmpscope/lab/testdata/units/mark"
)

type consumer struct{ broker *textproto.Conn }

// fetch returns once the broker has a batch, which takes some milliseconds.
func (c *consumer) fetch() {
	mark.Check(c.broker.PrintfLine("%d", 3000+rand.IntN(5000)))
	_, err := c.broker.ReadLine()
	mark.Check(err)
}

func (c *consumer) commit() {
	mark.Check(c.broker.PrintfLine("300"))
	_, err := c.broker.ReadLine()
	mark.Check(err)
}

func (c *consumer) handle(message int) {
	mark.Work(60)
	if message%90 == 0 {
		c.retry()
	}
}

// retry handles a message again that failed.
func (c *consumer) retry() {
	time.Sleep(14 * time.Millisecond)
	mark.Work(60)
}

func (c *consumer) run(end time.Time) {
	for n := 1; time.Now().Before(end); {
		c.fetch()
		u := mark.Begin("batch")
		for range 4 + rand.IntN(4) {
			c.handle(n)
			n++
		}
		c.commit()
		u.End()
	}
}

func main() {
	mark.Start()
	end := time.Now().Add(1200 * time.Millisecond)
	var consumers sync.WaitGroup
	for range 4 {
		c := &consumer{backend.Dial()}
		consumers.Go(func() { c.run(end) })
	}
	consumers.Wait()
	mark.Stop()
}
