// Exposition-agent sends the metrics of a host to whoever connects.
package main

import (
	"bufio"
	"fmt"
	"io"
	"net"
	"os"
	"slices"
	"time"

	"github.com/gmpscope/gmpscope/internal/testkit/rec"
	"github.com/gmpscope/gmpscope/lab/testdata/programs/exposition-agent/exposition"
)

const (
	series  = 1200
	scrapes = 8
)

// serveScrapes writes all metrics to each connection.
func serveScrapes(l net.Listener, buffered bool, writes *int) {
	for {
		conn, err := l.Accept()
		if err != nil {
			return
		}
		var w io.Writer = conn
		if buffered {
			w = bufio.NewWriterSize(conn, 64<<10)
		}
		e := exposition.NewEncoder(w)
		for n := range series {
			e.Gauge("disk_io_seconds", [][2]string{{"device", fmt.Sprint("sd", n)}, {"host", "alpha"}}, float64(n)/7)
		}
		if b, ok := w.(*bufio.Writer); ok {
			b.Flush()
		}
		*writes += e.Writes
		conn.Close()
	}
}

// scrape reads all metrics, as a collector does every few seconds.
func scrape(address string) (took time.Duration, bytes int64) {
	begin := time.Now()
	conn, err := net.Dial("tcp", address)
	check(err)
	bytes, err = io.Copy(io.Discard, bufio.NewReaderSize(conn, 64<<10))
	check(err)
	conn.Close()
	return time.Since(begin), bytes
}

func measure(buffered bool) (p50 time.Duration, writes int, bytes int64) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	check(err)
	go serveScrapes(l, buffered, &writes)
	var all []time.Duration
	for range scrapes {
		took, n := scrape(l.Addr().String())
		all, bytes = append(all, took), bytes+n
		time.Sleep(20 * time.Millisecond)
	}
	l.Close()
	slices.Sort(all)
	return all[len(all)/2], writes, bytes
}

func main() {
	rec.Start()
	p50, writes, bytes := measure(false)
	rec.Stop()
	p502, _, bytes2 := measure(true)
	fmt.Fprintf(os.Stderr, "proof: %d scrapes of %d bytes with %d writes, p50 %v; buffered, untraced: %d bytes, p50 %v\n",
		scrapes, bytes/scrapes, writes, p50, bytes2/scrapes, p502)
}

func check(err error) {
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}
