// Archive-fsck reads the segments of an archive in large blocks, and compares
// their checksums with those in its index, two segments at a time.
package main

import (
	"crypto/sha512"
	"fmt"
	"os"
	"runtime"
	"sync"
	"sync/atomic"
	"time"

	"github.com/gmpscope/gmpscope/internal/testkit/rec"
)

const (
	block    = 512 << 10
	segments = 24
	blocks   = 20 // of a segment
)

func writeArchive() (file *os.File, index [][64]byte) {
	file, err := os.CreateTemp("", "archive")
	check(err)
	data := make([]byte, block*blocks)
	for s := range segments {
		for i := range data {
			data[i] = byte(i>>8 ^ i*s)
		}
		_, err := file.Write(data)
		check(err)
		index = append(index, sha512.Sum512(data))
	}
	return file, index
}

type checker struct {
	file             *os.File
	data             []byte
	reading, hashing time.Duration
	good             int
}

// checkSegment reads a segment block by block.
func (c *checker) checkSegment(segment int, want [64]byte) {
	hash := sha512.New()
	for n := range blocks {
		begin := time.Now()
		_, err := c.file.ReadAt(c.data, int64(segment*blocks+n)*block)
		check(err)
		read := time.Now()
		hash.Write(c.data)
		c.reading += read.Sub(begin)
		c.hashing += time.Since(read)
	}
	if [64]byte(hash.Sum(nil)) == want {
		c.good++
	}
}

func main() {
	file, index := writeArchive()
	defer os.Remove(file.Name())
	checkers := make([]checker, runtime.GOMAXPROCS(0))
	for i := range checkers {
		checkers[i] = checker{file: file, data: make([]byte, block)}
	}
	var next atomic.Int64
	rec.Start()
	begin := time.Now()
	var open sync.WaitGroup
	for i := range checkers {
		open.Go(func() {
			for s := int(next.Add(1) - 1); s < segments; s = int(next.Add(1) - 1) {
				checkers[i].checkSegment(s, index[s])
			}
		})
	}
	open.Wait()
	took := time.Since(begin)
	rec.Stop()
	var sum checker
	for _, c := range checkers {
		sum.good, sum.reading, sum.hashing = sum.good+c.good, sum.reading+c.reading, sum.hashing+c.hashing
	}
	fmt.Fprintf(os.Stderr, "proof: %d of %d segments are good; %v with %d checkers, which hashed for %v and read for %v (summed)\n",
		sum.good, segments, took.Round(time.Millisecond), len(checkers), sum.hashing.Round(time.Millisecond), sum.reading.Round(time.Millisecond))
}

func check(err error) {
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}
