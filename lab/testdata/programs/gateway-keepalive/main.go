// Gateway-keepalive holds the connections of 300 devices open. A device pings
// at its own pace, and the gateway must answer before it gives up.
package main

import (
	"fmt"
	"io"
	"math/rand/v2"
	"net"
	"os"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/gmpscope/gmpscope/internal/testkit/rec"
)

const (
	devices  = 300
	pings    = 6
	patience = 50 * time.Millisecond
)

type gateway struct {
	listener net.Listener
	seen     [devices]atomic.Int64
}

func main() {
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	check(err)
	g := &gateway{listener: listener}
	go g.accept()
	conns := make([]net.Conn, devices)
	for id := range conns {
		conns[id], err = net.Dial("tcp", listener.Addr().String())
		check(err)
	}
	took := make([][]time.Duration, devices)
	rec.Start()
	var open sync.WaitGroup
	for id, conn := range conns {
		open.Go(func() { took[id] = runDevice(conn, id) })
	}
	open.Wait()
	rec.Stop()
	all := slices.Concat(took...)
	slices.Sort(all)
	gaveUp := 0
	for _, t := range all {
		if t > patience {
			gaveUp++
		}
	}
	fmt.Fprintf(os.Stderr, "proof: %d pings were answered in p50 %v, p99 %v; for %d it took longer than the %v a device waits\n",
		len(all), all[len(all)/2], all[len(all)*99/100], gaveUp, patience)
}

func (g *gateway) accept() {
	for id := 0; ; id++ {
		conn, err := g.listener.Accept()
		if err != nil {
			return
		}
		go g.keepAlive(conn, id)
	}
}

// keepAlive answers the pings of a device.
func (g *gateway) keepAlive(conn net.Conn, id int) {
	defer conn.Close()
	ping := make([]byte, 8)
	for {
		if _, err := io.ReadFull(conn, ping); err != nil {
			return
		}
		g.seen[id%devices].Store(time.Now().UnixNano())
		rec.Work(8)
		if _, err := conn.Write(ping); err != nil {
			return
		}
	}
}

// runDevice stands for a device; it returns how long its pings took.
func runDevice(conn net.Conn, id int) (took []time.Duration) {
	rng := rand.New(rand.NewPCG(uint64(id), 3))
	pong := make([]byte, 8)
	for range pings {
		time.Sleep(time.Duration(60+rng.IntN(120)) * time.Millisecond)
		start := time.Now()
		_, err := conn.Write([]byte("ping\r\n\r\n"))
		check(err)
		_, err = io.ReadFull(conn, pong)
		check(err)
		took = append(took, time.Since(start))
	}
	return took
}

func check(err error) {
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}
