// Crop-yield sums up what the fields of a country bore.
package main

import (
	"fmt"
	"os"
	"time"

	"github.com/gmpscope/gmpscope/internal/testkit/rec"
	"github.com/gmpscope/gmpscope/lab/testdata/programs/crop-yield/pipe"
)

const fields = 75_000

type harvest struct {
	field int
	are   float64
	kilos float64
}

func readHarvests() (all []harvest) {
	for n := range fields {
		all = append(all, harvest{n, float64(50 + n%300), float64(n % 9000)})
	}
	return all
}

func plausible(h harvest) bool { return h.kilos/h.are < 500 }

func dry(h harvest) harvest {
	h.kilos *= 0.86
	return h
}

func hectares(h harvest) harvest {
	h.are /= 100
	return h
}

func yield(h harvest) float64 { return h.kilos / h.are }

func main() {
	all := readHarvests()
	rec.Start()
	begin := time.Now()
	sum := 0.0
	for y := range pipe.Map(pipe.Map(pipe.Map(pipe.Keep(pipe.From(all), plausible), dry), hectares), yield) {
		sum += y
	}
	took := time.Since(begin)
	rec.Stop()
	begin = time.Now()
	loop := 0.0
	for _, h := range all {
		if plausible(h) {
			loop += yield(hectares(dry(h)))
		}
	}
	fmt.Fprintf(os.Stderr, "proof: %d fields through the pipeline took %v, %v each; in a plain loop, untraced, %v (same sum: %v)\n",
		fields, took.Round(100*time.Microsecond), (took / fields), time.Since(begin).Round(10*time.Microsecond), sum == loop)
}
