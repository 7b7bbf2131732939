// Menu-cache serves the menu of a delivery service, which is rendered from the
// offers in a database and kept for a moment.
package main

import (
	"bytes"
	"fmt"
	"io"
	"net"
	"os"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/gmpscope/gmpscope/internal/testkit/rec"
)

const (
	ttl      = 150 * time.Millisecond
	requests = 900
	period   = time.Millisecond
	offers   = 20 * time.Millisecond
)

// A menuCache keeps a rendered menu until it is older than ttl.
type menuCache struct {
	database string
	mu       sync.RWMutex
	page     []byte
	rendered time.Time
	renders  atomic.Int64
}

// Get returns the menu, rendered anew if the one kept has expired.
func (c *menuCache) Get() []byte {
	c.mu.RLock()
	page, fresh := c.page, time.Since(c.rendered) < ttl
	c.mu.RUnlock()
	if fresh {
		return page
	}
	page = c.renderMenu()
	c.mu.Lock()
	c.page, c.rendered = page, time.Now()
	c.mu.Unlock()
	return page
}

// renderMenu puts the offers of all restaurants together.
func (c *menuCache) renderMenu() []byte {
	c.renders.Add(1)
	var page bytes.Buffer
	for _, restaurant := range c.readOffers() {
		rec.Work(130)
		fmt.Fprintf(&page, "<li>restaurant %d</li>", restaurant)
	}
	return page.Bytes()
}

func (c *menuCache) readOffers() []byte {
	conn, err := net.Dial("tcp", c.database)
	check(err)
	defer conn.Close()
	rows, err := io.ReadAll(conn)
	check(err)
	return rows
}

func (c *menuCache) handle() int {
	return len(c.Get())
}

// checkHealth notes by how much each of its checks is late.
func checkHealth(stop chan struct{}) (late []time.Duration) {
	const every = 5 * time.Millisecond
	due := time.Now().Add(every)
	for {
		select {
		case <-stop:
			return late
		case <-time.After(time.Until(due)):
			rec.Work(20)
			late = append(late, time.Since(due))
			due = time.Now().Add(every)
		}
	}
}

func main() {
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	check(err)
	go serveOffers(listener)
	cache := &menuCache{database: listener.Addr().String()}
	cache.page, cache.rendered = cache.renderMenu(), time.Now()
	took := make([]time.Duration, requests)
	var late []time.Duration
	var open, health sync.WaitGroup
	stop := make(chan struct{})
	rec.Start()
	start := time.Now()
	health.Go(func() { late = checkHealth(stop) })
	for id := range requests {
		time.Sleep(time.Until(start.Add(time.Duration(id) * period)))
		came := start.Add(time.Duration(id) * period)
		open.Go(func() {
			cache.handle()
			took[id] = time.Since(came)
		})
	}
	open.Wait()
	close(stop)
	health.Wait()
	rec.Stop()
	slices.Sort(took)
	slices.Sort(late)
	fmt.Fprintf(os.Stderr, "proof: the menu was rendered %d times where %d would do; requests p50 %v, p90 %v, worst %v; health checks late by up to %v\n",
		cache.renders.Load(), time.Since(start)/ttl+1, took[requests/2], took[requests*9/10], took[requests-1], late[len(late)-1])
}

func serveOffers(listener net.Listener) {
	for {
		conn, err := listener.Accept()
		if err != nil {
			return
		}
		go func() {
			defer conn.Close()
			time.Sleep(offers)
			conn.Write(make([]byte, 40))
		}()
	}
}

func check(err error) {
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}
