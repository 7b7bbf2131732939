// Zip-pipeline reads blocks, compresses them with two workers, and writes them in order.
package main

import (
	"bytes"
	"compress/flate"
	"fmt"
	"math/rand/v2"
	"os"
	"runtime/trace"
	"sync"
	"time"
)

type block struct {
	raw []byte
	out chan []byte
}

func read(n int, work, order chan<- block) {
	for range n {
		b := block{make([]byte, 64<<10), make(chan []byte, 1)}
		for i := range b.raw {
			b.raw[i] = byte(rand.IntN(20))
		}
		order <- b
		work <- b
	}
	close(work)
	close(order)
}

func compress(work <-chan block) {
	for b := range work {
		var buf bytes.Buffer
		z, _ := flate.NewWriter(&buf, 6)
		z.Write(b.raw)
		z.Close()
		b.out <- buf.Bytes()
	}
}

// write waits for each block in turn, and returns their size.
func write(order <-chan block) (n int) {
	for b := range order {
		n += len(<-b.out)
	}
	return n
}

func main() {
	work, order := make(chan block, 4), make(chan block, 8)
	stop := startTrace()
	b := time.Now()
	var all sync.WaitGroup
	all.Go(func() { read(260, work, order) })
	for range 2 {
		all.Go(func() { compress(work) })
	}
	n := write(order)
	all.Wait()
	d := time.Since(b)
	stop()
	fmt.Fprintf(os.Stderr, "proof: %d bytes in %v\n", n, d)
}

func startTrace() (stop func()) {
	file, err := os.Create(os.Args[1])
	check(err)
	check(trace.Start(file))
	return func() {
		trace.Stop()
		check(file.Close())
	}
}

func check(err error) {
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}
