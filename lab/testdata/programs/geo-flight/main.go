// Geo-flight tells in which city an address is. Answers of the geo service are
// kept for a while, and callers with the same question share one call to it.
package main

import (
	"bufio"
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
	prefixes = 4
	visitors = 40
	visits   = 160
	ttl      = 120 * time.Millisecond
	answers  = 6 * time.Millisecond
)

type flight struct {
	landed chan struct{}
	city   string
}

type entry struct {
	city    string
	fetched time.Time
}

// A locator keeps cities by prefix, and has one question for each under way at most.
type locator struct {
	address string
	mu      sync.Mutex
	known   map[int]entry
	flights map[int]*flight
	calls   atomic.Int64
	shared  atomic.Int64
}

// City returns the city of a prefix.
func (l *locator) City(prefix int) string {
	l.mu.Lock()
	if e, ok := l.known[prefix]; ok && time.Since(e.fetched) < ttl {
		l.mu.Unlock()
		return e.city
	}
	if f := l.flights[prefix]; f != nil {
		l.mu.Unlock()
		l.shared.Add(1)
		<-f.landed
		return f.city
	}
	f := &flight{landed: make(chan struct{})}
	l.flights[prefix] = f
	l.mu.Unlock()
	f.city = l.askService(prefix)
	l.mu.Lock()
	l.known[prefix] = entry{f.city, time.Now()}
	delete(l.flights, prefix)
	l.mu.Unlock()
	close(f.landed)
	return f.city
}

func (l *locator) askService(prefix int) string {
	l.calls.Add(1)
	conn, err := net.Dial("tcp", l.address)
	check(err)
	defer conn.Close()
	_, err = fmt.Fprintln(conn, prefix)
	check(err)
	city, err := bufio.NewReader(conn).ReadString('\n')
	check(err)
	return city
}

func greet(city string) { rec.Work(5 + len(city)) }

func main() {
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	check(err)
	go serveGeo(listener)
	l := &locator{address: listener.Addr().String(), known: make(map[int]entry), flights: make(map[int]*flight)}
	took := make([]time.Duration, visitors*visits)
	var all sync.WaitGroup
	rec.Start()
	start := time.Now()
	for id := range visitors {
		all.Go(func() {
			for n := range visits {
				came := time.Now()
				greet(l.City((id + n) % prefixes))
				took[id*visits+n] = time.Since(came)
				time.Sleep(4*time.Millisecond + time.Duration(id)*10*time.Microsecond)
			}
		})
	}
	all.Wait()
	lasted := time.Since(start)
	rec.Stop()
	slices.Sort(took)
	fmt.Fprintf(os.Stderr, "proof: %d visits in %v, p50 %v, p99 %v, worst %v; %d calls of %v to the service, shared by %d more visitors\n",
		len(took), lasted, took[len(took)/2], took[len(took)*99/100], took[len(took)-1], l.calls.Load(), answers, l.shared.Load())
}

func serveGeo(listener net.Listener) {
	for {
		conn, err := listener.Accept()
		if err != nil {
			return
		}
		go func() {
			defer conn.Close()
			question, err := bufio.NewReader(conn).ReadString('\n')
			if err != nil {
				return
			}
			time.Sleep(answers)
			fmt.Fprintf(conn, "city of %s", question)
		}()
	}
}

func check(err error) {
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}
