// Stadium-scores tells what happens in a match to all who watch over TCP, one
// of them over a bad line, and answers what the score is.
package main

import (
	"fmt"
	"io"
	"net"
	"os"
	"slices"
	"sync"
	"time"

	"github.com/gmpscope/gmpscope/internal/testkit/rec"
	"github.com/gmpscope/gmpscope/lab/testdata/programs/stadium-scores/scores"
)

const (
	viewers   = 12
	events    = 90
	frameSize = 6 << 10
	buffers   = 8 << 10
	period    = 8 * time.Millisecond
	asks      = 240
)

func main() {
	rec.Start()
	took := play(&scores.Board{})
	rec.Stop()
	mended := play(&scores.Board{Queue: 16})
	fmt.Fprintf(os.Stderr, "proof: %d asked for the score, p50 %v, p90 %v; if each viewer has a queue, untraced: p50 %v, p90 %v\n",
		asks, took[asks/2], took[asks*9/10], mended[asks/2], mended[asks*9/10])
}

// play returns how long it took to answer those who asked for the score.
func play(b *scores.Board) []time.Duration {
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		panic(err)
	}
	defer listener.Close()
	var open sync.WaitGroup
	for n := range viewers {
		pause := time.Duration(0)
		if n == viewers/2 {
			pause = 12 * time.Millisecond
		}
		open.Go(func() { watch(listener.Addr().String(), pause) })
		conn, err := listener.Accept()
		if err != nil {
			panic(err)
		}
		conn.(*net.TCPConn).SetWriteBuffer(buffers)
		b.Join(conn)
	}
	took := make([]time.Duration, asks)
	var asking sync.WaitGroup
	asking.Go(func() { report(b) })
	ticker := time.NewTicker(period * events / asks)
	defer ticker.Stop()
	for n := range asks {
		<-ticker.C
		came := time.Now()
		asking.Go(func() {
			answer(b)
			took[n] = time.Since(came)
		})
	}
	asking.Wait()
	b.Close()
	open.Wait()
	slices.Sort(took)
	return took
}

// report publishes what happens on the field.
func report(b *scores.Board) {
	ticker := time.NewTicker(period)
	defer ticker.Stop()
	for n := range events {
		<-ticker.C
		b.Publish(n/30, fmt.Appendf(nil, "%*d", frameSize, n))
	}
}

func answer(b *scores.Board) string { return fmt.Sprintf(`{"score": %d}`, b.Score()) }

// watch is the side of a viewer, who needs a pause for each piece that comes.
func watch(addr string, pause time.Duration) {
	conn, err := net.Dial("tcp", addr)
	if err != nil {
		panic(err)
	}
	defer conn.Close()
	conn.(*net.TCPConn).SetReadBuffer(buffers)
	piece := make([]byte, 4<<10)
	for {
		if _, err := io.ReadFull(conn, piece); err != nil {
			return
		}
		time.Sleep(pause)
	}
}
