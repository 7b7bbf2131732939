// Pool-resize looks up customers in a database, which answers in 4 ms, over a
// pool of connections. The change sets the pool from 16 connections to 2.
package main

import (
	"encoding/json"
	"fmt"
	"os"
	"slices"
	"sync"
	"time"

	"github.com/gmpscope/gmpscope/internal/testkit/rec"
)

const requests = 260

type conn struct{ queries int }

type pool struct{ idle chan *conn }

type customer struct {
	ID   int
	Name string
}

func main() {
	size := 16
	if os.Getenv("SIDE") == "after" {
		size = 2
	}
	p := &pool{idle: make(chan *conn, size)}
	for range size {
		p.idle <- &conn{}
	}
	took := make([]time.Duration, requests)
	rec.Start()
	var open sync.WaitGroup
	ticker := time.NewTicker(1800 * time.Microsecond)
	for id := range requests {
		<-ticker.C
		came := time.Now()
		open.Go(func() {
			p.handleCustomer(id)
			took[id] = time.Since(came)
		})
	}
	open.Wait()
	rec.Stop()
	slices.Sort(took)
	fmt.Fprintf(os.Stderr, "proof: %d requests, p50 %v, p99 %v\n", requests, took[requests/2], took[requests*99/100])
}

func (p *pool) handleCustomer(id int) []byte {
	c := <-p.idle
	found := c.query(id)
	p.idle <- c
	answer, err := json.Marshal(found)
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	return answer
}

// query stands in for a call over the network.
func (c *conn) query(id int) customer {
	c.queries++
	time.Sleep(4 * time.Millisecond)
	return customer{id, fmt.Sprintf("Customer %d", id)}
}
