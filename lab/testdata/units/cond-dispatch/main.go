// Cond-dispatch hands parcels over through a queue with a condition variable.
package main

import (
	"math/rand/v2"
	"net/textproto"
	"sync"
	"time"

	"github.com/gmpscope/gmpscope/lab/testdata/units/backend"
	"github.com/gmpscope/gmpscope/lab/testdata/units/mark"
)

type queue struct {
	mu      sync.Mutex
	filled  sync.Cond
	parcels []int
	closed  bool

	ledger sync.Mutex
	remote *textproto.Conn
}

func (q *queue) push(n int) {
	q.mu.Lock()
	q.parcels = append(q.parcels, n)
	q.mu.Unlock()
	q.filled.Signal()
}

func (q *queue) pop() (n int, ok bool) {
	q.mu.Lock()
	defer q.mu.Unlock()
	for len(q.parcels) == 0 && !q.closed {
		q.filled.Wait()
	}
	if len(q.parcels) == 0 {
		return 0, false
	}
	n, q.parcels = q.parcels[0], q.parcels[1:]
	return n, true
}

func (q *queue) enter() {
	q.ledger.Lock()
	defer q.ledger.Unlock()
	mark.Work(20)
}

// audit sends the ledger away with its lock held.
func (q *queue) audit() {
	for range time.Tick(100 * time.Millisecond) {
		q.ledger.Lock()
		mark.Check(q.remote.PrintfLine("12000"))
		_, err := q.remote.ReadLine()
		mark.Check(err)
		q.ledger.Unlock()
	}
}

func (q *queue) work() {
	for {
		_, ok := q.pop()
		if !ok {
			return
		}
		u := mark.Begin("parcel")
		mark.Work(300)
		q.enter()
		u.End()
	}
}

func main() {
	q := &queue{remote: backend.Dial()}
	q.filled.L = &q.mu
	go q.audit()
	mark.Start()
	var workers sync.WaitGroup
	for range 4 {
		workers.Go(q.work)
	}
	for n := range 500 {
		q.push(n)
		time.Sleep(time.Duration(1500+rand.IntN(1500)) * time.Microsecond)
	}
	q.mu.Lock()
	q.closed = true
	q.mu.Unlock()
	q.filled.Broadcast()
	workers.Wait()
	mark.Stop()
}
