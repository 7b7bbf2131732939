// Tax-quote tells a shop the tax of a basket. The rules of a region are
// compiled from text. Before, this was done for each quote; after, compiled
// rules are kept.
package main

import (
	"fmt"
	"math/rand/v2"
	"os"
	"regexp"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/gmpscope/gmpscope/internal/testkit/rec"
)

const (
	quotes  = 400
	regions = 12
	period  = 1500 * time.Microsecond
)

type rules struct {
	exempt []*regexp.Regexp
	rate   int
}

type taxOffice struct {
	keep     bool
	mu       sync.Mutex
	compiled map[int]*rules
}

func main() {
	office := &taxOffice{keep: os.Getenv("SIDE") == "after", compiled: make(map[int]*rules)}
	took := make([]time.Duration, quotes)
	rng := rand.New(rand.NewPCG(11, 11))
	rec.Start()
	var open sync.WaitGroup
	ticker := time.NewTicker(period)
	for id := range quotes {
		<-ticker.C
		came, region := time.Now(), rng.IntN(regions)
		open.Go(func() {
			office.quote(region, "a loaf of bread", 450)
			took[id] = time.Since(came)
		})
	}
	open.Wait()
	rec.Stop()
	slices.Sort(took)
	fmt.Fprintf(os.Stderr, "proof: %d quotes, p50 %v, p99 %v\n", quotes, took[quotes/2], took[quotes*99/100])
}

func (t *taxOffice) quote(region int, goods string, cents int) int {
	r := t.rulesOf(region)
	for _, exempt := range r.exempt {
		if exempt.MatchString(goods) {
			return 0
		}
	}
	return cents * r.rate / 100
}

func (t *taxOffice) rulesOf(region int) *rules {
	if !t.keep {
		return compileRules(region)
	}
	t.mu.Lock()
	r := t.compiled[region]
	t.mu.Unlock()
	if r == nil {
		r = compileRules(region)
		t.mu.Lock()
		t.compiled[region] = r
		t.mu.Unlock()
	}
	return r
}

func compileRules(region int) *rules {
	r := &rules{rate: 5 + region}
	for n := range 60 {
		words := strings.Repeat("[a-z]+|", 4) + fmt.Sprintf("article%d-%d", region, n)
		r.exempt = append(r.exempt, regexp.MustCompile(`^(`+words+`)#\d{4}$`))
	}
	return r
}
