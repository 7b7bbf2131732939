// Wishlist-page shows what people wish for, from a stock server over TCP.
// Before, it asks for each item by itself; after, for all of them at once.
package main

import (
	"bufio"
	"fmt"
	"net"
	"os"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/gmpscope/gmpscope/internal/testkit/rec"
)

const (
	pages  = 250
	period = 3 * time.Millisecond
	items  = 24
	conns  = 8
)

// A stock is the connections to the stock server that are free.
type stock struct {
	together bool // whether all items are asked for at once
	free     chan *bufio.ReadWriter
}

func main() {
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		panic(err)
	}
	go serve(listener)
	s := &stock{os.Getenv("SIDE") == "after", make(chan *bufio.ReadWriter, conns)}
	for range conns {
		conn, err := net.Dial("tcp", listener.Addr().String())
		if err != nil {
			panic(err)
		}
		s.free <- bufio.NewReadWriter(bufio.NewReader(conn), bufio.NewWriter(conn))
	}
	took := make([]time.Duration, pages)
	rec.Start()
	var open sync.WaitGroup
	ticker := time.NewTicker(period)
	for n := range pages {
		<-ticker.C
		came := time.Now()
		open.Go(func() {
			s.page(n)
			took[n] = time.Since(came)
		})
	}
	open.Wait()
	rec.Stop()
	slices.Sort(took)
	fmt.Fprintf(os.Stderr, "proof: %d pages, p50 %v, p90 %v\n", pages, took[pages/2], took[pages*9/10])
}

func (s *stock) page(person int) string {
	conn := <-s.free
	defer func() { s.free <- conn }()
	names := make([]string, items)
	for n := range names {
		names[n] = fmt.Sprint("item-", person*items+n)
	}
	if s.together {
		return ask(conn, strings.Join(names, " "))
	}
	var page strings.Builder
	for _, name := range names {
		page.WriteString(ask(conn, name))
	}
	return page.String()
}

func ask(conn *bufio.ReadWriter, names string) string {
	fmt.Fprintln(conn, names)
	conn.Flush()
	line, _ := conn.ReadString('\n')
	return line
}

// serve is the stock server. A query takes half a millisecond, however many
// items it is of.
func serve(listener net.Listener) {
	for {
		conn, err := listener.Accept()
		if err != nil {
			return
		}
		go func() {
			in := bufio.NewScanner(conn)
			for in.Scan() {
				time.Sleep(500 * time.Microsecond)
				fmt.Fprintln(conn, len(strings.Fields(in.Text())), "in stock")
			}
		}()
	}
}
