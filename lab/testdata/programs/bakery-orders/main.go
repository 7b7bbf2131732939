// Bakery-orders gets the orders of the shops of a town all at the same time,
// every so often, prices them, and is idle in between.
package main

import (
	"encoding/json"
	"fmt"
	"os"
	"slices"
	"sync"
	"time"

	"github.com/gmpscope/gmpscope/internal/testkit/rec"
)

const (
	shops    = 40
	bursts   = 10
	interval = 80 * time.Millisecond
	deadline = 30 * time.Millisecond
)

type line struct {
	Article string
	Pieces  int
}

type order struct {
	Shop  int
	Lines []line
}

func writeOrder(shop int) []byte {
	o := order{Shop: shop}
	for n := range 250 {
		o.Lines = append(o.Lines, line{fmt.Sprint("article ", n), shop*n%50 + 1})
	}
	text, _ := json.Marshal(o)
	return text
}

// priceOrder reads an order and adds up what it costs.
func priceOrder(text []byte) (cents int) {
	var o order
	if json.Unmarshal(text, &o) != nil {
		return 0
	}
	for _, l := range o.Lines {
		cents += len(l.Article) * l.Pieces
	}
	return cents
}

func main() {
	var texts [shops][]byte
	for shop := range shops {
		texts[shop] = writeOrder(shop)
	}
	var spent []time.Duration
	late := 0
	rec.Start()
	for range bursts {
		begin := time.Now()
		var took [shops]time.Duration
		var open sync.WaitGroup
		for shop := range shops {
			open.Go(func() {
				priceOrder(texts[shop])
				took[shop] = time.Since(begin)
			})
		}
		open.Wait()
		for _, t := range took {
			if t > deadline {
				late++
			}
		}
		spent = append(spent, time.Since(begin))
		time.Sleep(interval - time.Since(begin))
	}
	rec.Stop()
	slices.Sort(spent)
	fmt.Fprintf(os.Stderr, "proof: %d bursts of %d orders, each priced within p50 %v, max %v; the answer is due after %v, %d late\n",
		bursts, shops, spent[bursts/2].Round(10*time.Microsecond), spent[bursts-1].Round(10*time.Microsecond), deadline, late)
}
