// Span-export serves requests and sends a span of each to a collector over the
// network. Before, spans go into a buffer, and those too many are dropped;
// after, none is lost: a request hands its span over to the exporter.
package main

import (
	"bufio"
	"fmt"
	"net"
	"os"
	"slices"
	"sync"
	"time"

	"github.com/gmpscope/gmpscope/internal/testkit/rec"
)

const (
	requests  = 500
	period    = 1500 * time.Microsecond
	buffer    = 64
	roundTrip = 2 * time.Millisecond
)

type span struct {
	name  string
	nanos int64
}

// An exporter sends spans to the collector.
type exporter struct {
	lossless bool
	spans    chan span
	dropped  int
	mu       sync.Mutex
}

func newExporter(address string, lossless bool) *exporter {
	e := &exporter{lossless: lossless, spans: make(chan span, buffer)}
	if lossless {
		e.spans = make(chan span)
	}
	conn, err := net.Dial("tcp", address)
	check(err)
	go e.run(conn)
	return e
}

// run sends what is there to the collector, each time when it has acknowledged
// the last.
func (e *exporter) run(conn net.Conn) {
	acks := bufio.NewReader(conn)
	for s := range e.spans {
		line := fmt.Sprintf("%s %d", s.name, s.nanos)
		for n := len(e.spans); n > 0; n-- {
			s = <-e.spans
			line += fmt.Sprintf(",%s %d", s.name, s.nanos)
		}
		_, err := fmt.Fprintln(conn, line)
		check(err)
		_, err = acks.ReadString('\n')
		check(err)
	}
}

// End takes a span that has ended.
func (e *exporter) End(s span) {
	if e.lossless {
		e.spans <- s
		return
	}
	select {
	case e.spans <- s:
	default:
		e.mu.Lock()
		e.dropped++
		e.mu.Unlock()
	}
}

// handle serves a request.
func handle(e *exporter, id int) {
	start := time.Now()
	rec.Work(200)
	e.End(span{fmt.Sprintf("GET /item/%d", id), int64(time.Since(start))})
}

func main() {
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	check(err)
	go serveCollector(listener)
	e := newExporter(listener.Addr().String(), os.Getenv("SIDE") == "after")
	took := make([]time.Duration, requests)
	var open sync.WaitGroup
	rec.Start()
	start := time.Now()
	for id := range requests {
		due := start.Add(time.Duration(id) * period)
		time.Sleep(time.Until(due))
		open.Go(func() {
			handle(e, id)
			took[id] = time.Since(due)
		})
	}
	open.Wait()
	rec.Stop()
	slices.Sort(took)
	fmt.Fprintf(os.Stderr, "proof: %d requests (0.2 ms of work), p50 %v, p90 %v, p99 %v; %d spans dropped\n",
		requests, took[requests/2], took[requests*9/10], took[requests*99/100], e.dropped)
}

func serveCollector(listener net.Listener) {
	conn, err := listener.Accept()
	if err != nil {
		return
	}
	lines := bufio.NewScanner(conn)
	for lines.Scan() {
		time.Sleep(roundTrip)
		fmt.Fprintln(conn, "ok")
	}
}

func check(err error) {
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}
