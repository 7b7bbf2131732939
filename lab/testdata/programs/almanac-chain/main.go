// Almanac-chain seals the pages of an almanac overnight: each page's seal
// depends on the one before, so that none can be replaced.
package main

import (
	"crypto/sha256"
	"fmt"
	"os"
	"time"

	"github.com/gmpscope/gmpscope/internal/testkit/rec"
)

const (
	pages  = 300
	rounds = 12000 // of the hash, so that it cannot be made again quickly
)

type seal [sha256.Size]byte

func main() {
	rec.Start()
	begin := time.Now()
	sealed := make(chan seal)
	go sealAll(sealed)
	count, last := 0, seal{}
	for last = range sealed {
		count++
	}
	took := time.Since(begin)
	rec.Stop()
	fmt.Fprintf(os.Stderr, "proof: %d pages sealed in %v, each after the one before; the last seal is %x\n", count, took.Round(time.Millisecond), last[:4])
}

func sealAll(out chan<- seal) {
	defer close(out)
	var last seal
	for page := range pages {
		last = sealPage(last, fmt.Sprint("page ", page))
		out <- last
	}
}

func sealPage(last seal, text string) seal {
	next := seal(sha256.Sum256(append(last[:], text...)))
	for range rounds {
		next = sha256.Sum256(next[:])
	}
	return next
}
