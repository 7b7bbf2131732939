// Postal-sort sorts letters by their postcodes, with several workers.
package main

import (
	"fmt"
	"os"
	"time"

	"github.com/gmpscope/gmpscope/internal/testkit/rec"
	"github.com/gmpscope/gmpscope/lab/testdata/programs/postal-sort/shard"
)

const letters = 5000

// readLetter reads a letter of a mail that comes from, and goes to, one city mostly.
func readLetter(n int) shard.Letter {
	postcode := fmt.Sprintf("10%03d", n*7%1000)
	if n%16 == 0 {
		postcode = fmt.Sprintf("%02d%03d", n*3%97, n%1000)
	}
	return shard.Letter{Postcode: postcode, Address: fmt.Appendf(nil, "Station Road %d, %s", n, postcode)}
}

func sortMail(r *shard.Router) (took time.Duration, sorted []int) {
	begin := time.Now()
	for n := range letters {
		r.Route(readLetter(n))
	}
	sorted = r.Close()
	return time.Since(begin), sorted
}

func main() {
	rec.Start()
	took, sorted := sortMail(shard.NewRouter(4))
	rec.Stop()
	even := shard.NewRouter(4)
	even.Whole = true
	took2, sorted2 := sortMail(even)
	fmt.Fprintf(os.Stderr, "proof: %d letters in %v, by worker %v; by the whole postcode, untraced: %v, %v\n",
		letters, took.Round(time.Millisecond), sorted, took2.Round(time.Millisecond), sorted2)
}
