// Tape-archive moves old recordings to a tape library, which takes a block
// every few milliseconds. The catalog and the compression are far quicker and
// wait for the drive, which is the point of the small buffers between them.
package main

import (
	"fmt"
	"io"
	"net"
	"os"
	"sync"
	"time"

	"github.com/gmpscope/gmpscope/internal/testkit/rec"
)

const (
	blocks    = 170
	blockSize = 16 << 10
	drive     = 5 * time.Millisecond
)

type block struct {
	n    int
	data []byte
}

// readCatalog reads the recordings that are due, block by block.
func readCatalog(out chan<- block) {
	defer close(out)
	for n := range blocks {
		data := make([]byte, blockSize)
		data[0] = byte(n)
		rec.Work(150)
		out <- block{n, data}
	}
}

func compressBlocks(in <-chan block, out chan<- block) {
	defer close(out)
	for b := range in {
		rec.Work(700)
		b.data = b.data[:blockSize/2]
		out <- b
	}
}

// writeTape gives the drive one block after another, each when it has
// acknowledged the last.
func writeTape(in <-chan block, library io.ReadWriter) (written int) {
	var ack [1]byte
	for b := range in {
		_, err := library.Write(b.data)
		check(err)
		_, err = io.ReadFull(library, ack[:])
		check(err)
		written++
	}
	return written
}

// A tapeDrive is the peer; it counts for how long it had nothing to write.
type tapeDrive struct {
	idle, busy time.Duration
}

func (d *tapeDrive) serve(listener net.Listener) {
	conn, err := listener.Accept()
	if err != nil {
		return
	}
	defer conn.Close()
	buf := make([]byte, blockSize/2)
	for n := 0; ; n++ {
		start := time.Now()
		if _, err := io.ReadFull(conn, buf); err != nil {
			return
		}
		begun := time.Now()
		if n > 0 {
			d.idle += begun.Sub(start)
		}
		time.Sleep(drive)
		d.busy += time.Since(begun)
		if _, err := conn.Write([]byte{1}); err != nil {
			return
		}
	}
}

func main() {
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	check(err)
	d := new(tapeDrive)
	var peer sync.WaitGroup
	peer.Go(func() { d.serve(listener) })
	library, err := net.Dial("tcp", listener.Addr().String())
	check(err)
	rec.Start()
	start := time.Now()
	raw, packed := make(chan block, 2), make(chan block, 2)
	go readCatalog(raw)
	go compressBlocks(raw, packed)
	written := writeTape(packed, library)
	took := time.Since(start)
	rec.Stop()
	library.Close()
	peer.Wait()
	fmt.Fprintf(os.Stderr, "proof: %d blocks took %v; the drive was busy for %v and waited for data for %v (%.1f%%)\n",
		written, took, d.busy, d.idle, 100*float64(d.idle)/float64(took))
}

func check(err error) {
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}
