// Transcode-order fetches the segments of a recording from a store, transcodes
// them in parallel, and writes them in their order to the player.
package main

import (
	"fmt"
	"io"
	"net"
	"os"
	"sync"
	"sync/atomic"
	"time"

	"github.com/gmpscope/gmpscope/internal/testkit/rec"
)

const (
	segments = 160
	workers  = 4
	warm     = 3 * time.Millisecond
	cold     = 32 * time.Millisecond
)

// A playlist lets segments out in their order.
type playlist struct {
	mu   sync.Mutex
	turn *sync.Cond
	next int
	out  io.Writer
}

func newPlaylist(out io.Writer) *playlist {
	p := &playlist{out: out}
	p.turn = sync.NewCond(&p.mu)
	return p
}

// Append writes segment n as soon as all before it are written.
func (p *playlist) Append(n int, data []byte) {
	p.mu.Lock()
	defer p.mu.Unlock()
	for p.next != n {
		p.turn.Wait()
	}
	p.out.Write(data)
	p.next++
	p.turn.Broadcast()
}

type transcoder struct {
	store                       string
	list                        *playlist
	next                        atomic.Int64
	fetching, encoding, waiting [workers]time.Duration
}

// run takes one segment after the other until none is left.
func (t *transcoder) run(id int) {
	conn, err := net.Dial("tcp", t.store)
	check(err)
	defer conn.Close()
	for {
		n := int(t.next.Add(1)) - 1
		if n >= segments {
			return
		}
		start := time.Now()
		raw := fetch(conn, n)
		fetched := time.Now()
		data := encode(raw)
		encoded := time.Now()
		t.list.Append(n, data)
		t.fetching[id] += fetched.Sub(start)
		t.encoding[id] += encoded.Sub(fetched)
		t.waiting[id] += time.Since(encoded)
	}
}

func fetch(conn net.Conn, n int) []byte {
	_, err := conn.Write([]byte{byte(n)})
	check(err)
	raw := make([]byte, 1024)
	_, err = io.ReadFull(conn, raw)
	check(err)
	return raw
}

func encode(raw []byte) []byte {
	rec.Work(400)
	return raw[:len(raw)/2]
}

func main() {
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	check(err)
	go serveSegments(listener)
	t := &transcoder{store: listener.Addr().String(), list: newPlaylist(io.Discard)}
	var pool sync.WaitGroup
	rec.Start()
	start := time.Now()
	for id := range workers {
		pool.Go(func() { t.run(id) })
	}
	pool.Wait()
	took := time.Since(start)
	rec.Stop()
	busy := total(t.fetching) + total(t.encoding)
	fmt.Fprintf(os.Stderr, "proof: %d segments took %v; the %d workers fetched and encoded for %v, and waited %v for their turn, so that %v would have done\n",
		segments, took, workers, busy, total(t.waiting), busy/workers)
}

func total(parts [workers]time.Duration) (sum time.Duration) {
	for _, d := range parts {
		sum += d
	}
	return sum
}

// serveSegments has one segment in eleven on a cold disk.
func serveSegments(listener net.Listener) {
	for {
		conn, err := listener.Accept()
		if err != nil {
			return
		}
		go func() {
			defer conn.Close()
			var n [1]byte
			for {
				if _, err := conn.Read(n[:]); err != nil {
					return
				}
				if n[0]%11 == 5 {
					time.Sleep(cold)
				} else {
					time.Sleep(warm)
				}
				conn.Write(make([]byte, 1024))
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
