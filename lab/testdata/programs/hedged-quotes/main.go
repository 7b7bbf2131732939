// Hedged-quotes asks a replica for a quote, and if that takes long another one
// as well; the first answer counts.
package main

import (
	"fmt"
	"net"
	"os"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/gmpscope/gmpscope/internal/testkit/rec"
)

const (
	handlers  = 10
	quotes    = 50
	hedge     = 8 * time.Millisecond
	usual     = 3 * time.Millisecond
	straggler = 60 * time.Millisecond
	deadline  = 25 * time.Millisecond
)

type answer struct {
	price   int
	replica int
	err     error
}

type quoter struct {
	replicas []string
	asked    atomic.Int64
}

// ask gets a quote from one replica.
func (q *quoter) ask(replica, item int, out chan<- answer) {
	q.asked.Add(1)
	conn, err := net.Dial("tcp", q.replicas[replica])
	if err != nil {
		out <- answer{err: err}
		return
	}
	defer conn.Close()
	a := answer{replica: replica}
	if _, a.err = fmt.Fprintf(conn, "%d\n", item); a.err == nil {
		_, a.err = fmt.Fscanf(conn, "%d\n", &a.price)
	}
	out <- a
}

// Quote returns the price of an item.
func (q *quoter) Quote(item int) (int, error) {
	out := make(chan answer, 2) // so that the loser can leave its answer and go
	go q.ask(item%2, item, out)
	timer := time.NewTimer(hedge)
	defer timer.Stop()
	for {
		select {
		case a := <-out:
			return a.price, a.err
		case <-timer.C:
			go q.ask((item+1)%2, item, out)
		}
	}
}

func formatQuote(price int) { rec.Work(price) }

func main() {
	q := new(quoter)
	for id := range 2 {
		listener, err := net.Listen("tcp", "127.0.0.1:0")
		check(err)
		q.replicas = append(q.replicas, listener.Addr().String())
		go serveReplica(listener, id)
	}
	took := make([]time.Duration, handlers*quotes)
	var all sync.WaitGroup
	rec.Start()
	for id := range handlers {
		all.Go(func() {
			for n := range quotes {
				start := time.Now()
				price, err := q.Quote(id*quotes + n)
				check(err)
				formatQuote(price)
				took[id*quotes+n] = time.Since(start)
				time.Sleep(4 * time.Millisecond)
			}
		})
	}
	all.Wait()
	rec.Stop()
	slices.Sort(took)
	late := 0
	for _, d := range took {
		if d > deadline {
			late++
		}
	}
	fmt.Fprintf(os.Stderr, "proof: %d quotes with %d questions, p50 %v, p99 %v, worst %v; %d later than %v (a straggling replica takes %v)\n",
		len(took), q.asked.Load(), took[len(took)/2], took[len(took)*99/100], took[len(took)-1], late, deadline, straggler)
}

// serveReplica takes long for one item in nine, another one for each replica.
func serveReplica(listener net.Listener, id int) {
	for {
		conn, err := listener.Accept()
		if err != nil {
			return
		}
		go func() {
			defer conn.Close()
			item := 0
			if _, err := fmt.Fscanf(conn, "%d\n", &item); err != nil {
				return
			}
			if item%9 == 4*id+1 {
				time.Sleep(straggler)
			} else {
				time.Sleep(usual)
			}
			fmt.Fprintf(conn, "%d\n", 50+item%50)
		}()
	}
}

func check(err error) {
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}
