// Barcode-lane prices the scans of the tills of a supermarket. Before, scans
// were passed on in batches of 200; after, one by one, "for lower latency".
package main

import (
	"fmt"
	"os"
	"time"

	"github.com/gmpscope/gmpscope/internal/testkit/rec"
	"github.com/gmpscope/gmpscope/lab/testdata/programs/pairs/barcode-lane/lane"
)

const (
	hours = 8
	scans = 8000 // an hour
)

func scanHour(hour int) (all []lane.Scan) {
	for n := range scans {
		all = append(all, lane.Scan{Code: n*hour%4001 + 1, Pieces: n%4 + 1})
	}
	return all
}

// price looks for the price in the digits of the code.
func price(s lane.Scan) (cents int) {
	for range 30 {
		for code := s.Code; code > 0; code /= 10 {
			cents += code % 10 * s.Pieces
		}
	}
	return cents
}

func main() {
	size := 200
	if os.Getenv("SIDE") == "after" {
		size = 1
	}
	var took time.Duration
	total := 0
	rec.Start()
	for hour := range hours {
		all := scanHour(hour)
		begin := time.Now()
		for cents := range lane.Priced(lane.Batches(all, size), price) {
			for _, c := range cents {
				total += c
			}
		}
		took += time.Since(begin)
		time.Sleep(10 * time.Millisecond)
	}
	rec.Stop()
	fmt.Fprintf(os.Stderr, "proof: %d scans in batches of %d, in %v; %d cents\n", hours*scans, size, took.Round(100*time.Microsecond), total)
}
