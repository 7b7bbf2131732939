// Order-detail shows orders from a database, with a pool of connections.
package main

import (
	"bufio"
	"context"
	"fmt"
	"net"
	"os"
	"runtime/trace"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"time"
)

const (
	connections = 4
	desks       = 9
	phase       = 1300 * time.Millisecond
)

type conn struct {
	net.Conn
	lines *bufio.Reader
}

func (c *conn) query(text string) string {
	fmt.Fprintln(c, text)
	answer, err := c.lines.ReadString('\n')
	check(err)
	return strings.TrimSpace(answer)
}

type pool struct {
	free  chan *conn
	inUse atomic.Int64 // nanoseconds in queries
	held  atomic.Int64 // nanoseconds out of the pool
}

func (p *pool) acquire(ctx context.Context) (*conn, error) {
	select {
	case c := <-p.free:
		return c, nil
	case <-ctx.Done():
		return nil, ctx.Err()
	}
}

func (p *pool) run(c *conn, text string) string {
	begin := time.Now()
	defer func() { p.inUse.Add(int64(time.Since(begin))) }()
	return c.query(text)
}

func (p *pool) release(c *conn, since time.Time) {
	p.held.Add(int64(time.Since(since)))
	p.free <- c
}

type orders struct {
	pool          *pool
	shown, failed atomic.Int64
}

func (o *orders) show(id int) error {
	ctx, cancel := context.WithTimeout(context.Background(), 120*time.Millisecond)
	defer cancel()
	c, err := o.pool.acquire(ctx)
	if err != nil {
		return err
	}
	defer o.pool.release(c, time.Now())
	order := o.pool.run(c, fmt.Sprintf("order %d", id))
	customer, err := o.customer(ctx, order)
	if err != nil {
		return err
	}
	o.pool.run(c, "lines "+customer)
	return nil
}

func (o *orders) customer(ctx context.Context, order string) (string, error) {
	c, err := o.pool.acquire(ctx)
	if err != nil {
		return "", err
	}
	defer o.pool.release(c, time.Now())
	return o.pool.run(c, "customer "+order), nil
}

func (o *orders) desk(id int, end time.Time) (took []time.Duration) {
	for n := 0; time.Now().Before(end); n++ {
		begin := time.Now()
		if o.show(1000*id+n) != nil {
			o.failed.Add(1)
		} else {
			o.shown.Add(1)
		}
		took = append(took, time.Since(begin))
		time.Sleep(5 * time.Millisecond)
	}
	return took
}

// database answers each query of a connection after 2 ms.
func database(c net.Conn) {
	lines := bufio.NewScanner(c)
	for lines.Scan() {
		time.Sleep(2 * time.Millisecond)
		fmt.Fprintln(c, lines.Text())
	}
}

func main() {
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	check(err)
	p := &pool{free: make(chan *conn, connections)}
	for range connections {
		c, err := net.Dial("tcp", listener.Addr().String())
		check(err)
		server, err := listener.Accept()
		check(err)
		go database(server)
		p.free <- &conn{c, bufio.NewReader(c)}
	}
	o := &orders{pool: p}
	took := make([][]time.Duration, desks)
	stop := startTrace()
	end := time.Now().Add(phase)
	var open sync.WaitGroup
	for id := range desks {
		open.Go(func() { took[id] = o.desk(id, end) })
	}
	open.Wait()
	stop()
	all := slices.Concat(took...)
	slices.Sort(all)
	fmt.Fprintf(os.Stderr, "proof: %d orders shown, %d timed out waiting for a connection; p50 %v, p90 %v where the queries take 6 ms; connections were held for %v, of which %v in queries\n",
		o.shown.Load(), o.failed.Load(), all[len(all)/2].Round(100*time.Microsecond), all[len(all)*9/10].Round(100*time.Microsecond),
		time.Duration(p.held.Load()).Round(time.Millisecond), time.Duration(p.inUse.Load()).Round(time.Millisecond))
}

func startTrace() (stop func()) {
	file, err := os.Create(os.Args[1])
	check(err)
	check(trace.Start(file))
	return func() {
		trace.Stop()
		check(file.Close())
	}
}

func check(err error) {
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}
