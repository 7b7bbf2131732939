// Order-history shows customers their past orders, with the items of each,
// from a database behind a pool of connections.
package main

import (
	"bufio"
	"errors"
	"fmt"
	"math/rand/v2"
	"net"
	"os"
	"sync"
	"sync/atomic"
	"time"

	"github.com/gmpscope/gmpscope/internal/testkit/rec"
)

const (
	maxOpen     = 6
	customers   = 7
	patience    = 30 * time.Millisecond
	queryTime   = 2 * time.Millisecond
	rowsPerPage = 3
	evening     = 900 * time.Millisecond
)

var errNoConn = errors.New("pool: no free connection in time")

type conn struct {
	net.Conn
	replies *bufio.Reader
}

func (c *conn) query(q string) string {
	_, err := fmt.Fprintln(c, q)
	check(err)
	reply, err := c.replies.ReadString('\n')
	check(err)
	return reply
}

// A connPool lends at most maxOpen connections.
type connPool struct {
	free   chan *conn
	waited atomic.Int64
	failed atomic.Int64
}

func newConnPool(address string) *connPool {
	p := &connPool{free: make(chan *conn, maxOpen)}
	for range maxOpen {
		c, err := net.Dial("tcp", address)
		check(err)
		p.free <- &conn{c, bufio.NewReader(c)}
	}
	return p
}

func (p *connPool) acquire() (*conn, error) {
	start := time.Now()
	defer func() { p.waited.Add(int64(time.Since(start))) }()
	timeout := time.NewTimer(patience)
	defer timeout.Stop()
	select {
	case c := <-p.free:
		return c, nil
	case <-timeout.C:
		p.failed.Add(1)
		return nil, errNoConn
	}
}

func (p *connPool) release(c *conn) { p.free <- c }

type shop struct{ pool *connPool }

// History writes a page of a customer's orders; the items of each order are
// read while the cursor over the orders is open.
func (s *shop) History(customer int) error {
	c, err := s.pool.acquire()
	if err != nil {
		return err
	}
	defer s.pool.release(c)
	c.query(fmt.Sprintf("declare orders cursor for customer %d", customer))
	for n := range rowsPerPage {
		order := c.query("fetch next from orders")
		if err := s.orderItems(n, order); err != nil {
			return err
		}
	}
	return nil
}

func (s *shop) orderItems(n int, order string) error {
	c, err := s.pool.acquire()
	if err != nil {
		return err
	}
	defer s.pool.release(c)
	items := c.query(fmt.Sprintf("select * from items where n = %d", n))
	rec.Work(20 + len(items) + len(order)) // the page's rows
	return nil
}

func main() {
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	check(err)
	go serveDatabase(listener)
	s := &shop{pool: newConnPool(listener.Addr().String())}
	var pages, retries atomic.Int64
	var browsing sync.WaitGroup
	rec.Start()
	end := time.Now().Add(evening)
	for id := range customers {
		browsing.Go(func() {
			rng := rand.New(rand.NewPCG(8, uint64(id)))
			for time.Now().Before(end) {
				time.Sleep(time.Duration(1+rng.IntN(12)) * time.Millisecond)
				if err := s.History(id); err != nil {
					retries.Add(1)
					continue
				}
				pages.Add(1)
			}
		})
	}
	browsing.Wait()
	rec.Stop()
	fmt.Fprintf(os.Stderr, "proof: %d pages, %d given up for want of a connection; %d customers waited %v of %v altogether for connections\n",
		pages.Load(), retries.Load(), customers, time.Duration(s.pool.waited.Load()), customers*evening)
}

func serveDatabase(listener net.Listener) {
	for {
		c, err := listener.Accept()
		if err != nil {
			return
		}
		go func() {
			queries := bufio.NewScanner(c)
			for queries.Scan() {
				time.Sleep(queryTime)
				fmt.Fprintln(c, "a row")
			}
		}()
	}
}

func check(err error) {
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}
