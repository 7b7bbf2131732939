// Price-import takes price lists of suppliers when they come: a list has
// between ten and a few hundred prices, and is checked in pieces of ten. The
// two releases differ in the currency that is written by default only.
package main

import (
	"fmt"
	"math/rand/v2"
	"os"
	"regexp"
	"slices"
	"sync"
	"time"

	"github.com/gmpscope/gmpscope/internal/testkit/rec"
)

const (
	lists = 40
	piece = 10
)

var pricePattern = regexp.MustCompile(`^([a-z ]+) (\d+)\.(\d\d) ([A-Z]{3})$`)

type importer struct {
	currency string
	rejected sync.Map
}

func main() {
	im := &importer{currency: "EUR"}
	if os.Getenv("SIDE") == "after" {
		im.currency = "CHF"
	}
	took := make([]time.Duration, lists)
	rec.Start()
	var open sync.WaitGroup
	for id := range lists {
		time.Sleep(time.Duration(rand.IntN(26)) * time.Millisecond)
		came := time.Now()
		list := im.receive(piece * (1 + int(rand.ExpFloat64()*12)))
		open.Go(func() {
			im.importList(list)
			took[id] = time.Since(came)
		})
	}
	open.Wait()
	rec.Stop()
	slices.Sort(took)
	fmt.Fprintf(os.Stderr, "proof: %d lists, p50 %v, longest %v\n", lists, took[lists/2], took[lists-1])
}

func (im *importer) receive(prices int) []string {
	list := make([]string, prices)
	for i := range list {
		list[i] = fmt.Sprintf("garden chair with arms %d.%02d %s", i*13, i%100, im.currency)
	}
	return list
}

func (im *importer) importList(list []string) {
	var checking sync.WaitGroup
	for from := 0; from < len(list); from += piece {
		checking.Go(func() { im.checkPrices(list[from : from+piece]) })
	}
	checking.Wait()
}

func (im *importer) checkPrices(prices []string) {
	for _, p := range prices {
		for range 12 {
			if !pricePattern.MatchString(p) {
				im.rejected.Store(p, true)
			}
		}
	}
}
