// Vineyard-registry takes the temperatures of tanks, answers what they are,
// and tells all of them to the head office from time to time.
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
	"github.com/gmpscope/gmpscope/lab/testdata/programs/vineyard-registry/registry"
)

const (
	tanks    = 30
	requests = 450
	period   = 2 * time.Millisecond
	exports  = 110 * time.Millisecond
	office   = 2 * time.Millisecond // what the head office takes to answer
)

func main() {
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		panic(err)
	}
	defer listener.Close()
	go answer(listener)
	rec.Start()
	took := run(&exporter{registry.NewTable(), listener.Addr().String()})
	rec.Stop()
	table := registry.NewTable()
	table.Copied = true
	mended := run(&exporter{table, listener.Addr().String()})
	fmt.Fprintf(os.Stderr, "proof: %d asked for a tank, p50 %v, p90 %v; if a copy is told, untraced: p50 %v, p90 %v\n",
		requests, took[requests/2], took[requests*9/10], mended[requests/2], mended[requests*9/10])
}

// An exporter tells the head office about tanks.
type exporter struct {
	table *registry.Table
	addr  string
}

func run(e *exporter) []time.Duration {
	for tank := range tanks {
		e.table.Set(fmt.Sprint("tank ", tank), registry.Tank{Litres: 5000})
	}
	done := make(chan struct{})
	var open, asking sync.WaitGroup
	open.Go(func() { e.exportAll(done) })
	open.Go(func() { measure(e.table, done) })
	took := make([]time.Duration, requests)
	ticker := time.NewTicker(period)
	defer ticker.Stop()
	for n := range requests {
		<-ticker.C
		came := time.Now()
		asking.Go(func() {
			show(e.table, fmt.Sprint("tank ", n%tanks))
			took[n] = time.Since(came)
		})
	}
	asking.Wait()
	close(done)
	open.Wait()
	slices.Sort(took)
	return took
}

func (e *exporter) exportAll(done <-chan struct{}) {
	conn, err := net.Dial("tcp", e.addr)
	if err != nil {
		panic(err)
	}
	defer conn.Close()
	in := bufio.NewReader(conn)
	ticker := time.NewTicker(exports)
	defer ticker.Stop()
	for {
		select {
		case <-ticker.C:
			for name, tank := range e.table.All() {
				e.push(conn, in, name, tank)
			}
		case <-done:
			return
		}
	}
}

// push tells about a tank, and waits for the answer.
func (e *exporter) push(conn net.Conn, in *bufio.Reader, name string, tank registry.Tank) {
	fmt.Fprintf(conn, "%s: %d l, %.1f C\n", name, tank.Litres, tank.Temperature)
	in.ReadString('\n')
}

// measure takes temperatures.
func measure(table *registry.Table, done <-chan struct{}) {
	ticker := time.NewTicker(5 * time.Millisecond)
	defer ticker.Stop()
	for n := 0; ; n++ {
		select {
		case <-ticker.C:
			table.Set(fmt.Sprint("tank ", n%tanks), registry.Tank{Litres: 5000, Temperature: 15 + float64(n%40)/10})
		case <-done:
			return
		}
	}
}

func show(table *registry.Table, name string) string {
	tank := table.Get(name)
	rec.Work(30)
	return fmt.Sprintf("%s: %.1f C", name, tank.Temperature)
}

// answer is the head office.
func answer(listener net.Listener) {
	for {
		conn, err := listener.Accept()
		if err != nil {
			return
		}
		go func() {
			for in := bufio.NewScanner(conn); in.Scan(); {
				time.Sleep(office)
				fmt.Fprintln(conn, "thanks")
			}
		}()
	}
}
