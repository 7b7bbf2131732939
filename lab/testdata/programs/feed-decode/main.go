// Feed-decode takes in product feeds of shops beside a large catalogue in memory,
// and answers look-ups in it. Its garbage collector is
// told to save memory.
package main

import (
	"fmt"
	"os"
	"runtime/debug"
	"runtime/metrics"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/gmpscope/gmpscope/internal/testkit/rec"
)

type product struct {
	name   string
	fields map[string]string
	next   *product
}

type catalogue struct {
	first *product
	byID  []*product
}

func main() {
	debug.SetGCPercent(10)
	c := &catalogue{}
	for id := range 60000 {
		c.first = &product{name: fmt.Sprint("product ", id), fields: map[string]string{"id": fmt.Sprint(id)}, next: c.first}
		c.byID = append(c.byID, c.first)
	}
	var feeds, lookups sync.WaitGroup
	var took []time.Duration
	before := readGC()
	rec.Start()
	start := time.Now()
	for shop := range 3 {
		feeds.Go(func() { takeFeed(shop) })
	}
	lookups.Go(func() { took = serveLookups(c) })
	feeds.Wait()
	lookups.Wait()
	elapsed := time.Since(start)
	rec.Stop()
	after := readGC()
	slices.Sort(took)
	fmt.Fprintf(os.Stderr, "proof: %d GC cycles in %v, %v of assists; look-ups of 0.1 ms took p50 %v, p95 %v\n", after.cycles-before.cycles,
		elapsed, after.assist-before.assist, took[len(took)/2], took[len(took)*95/100])
}

func takeFeed(shop int) {
	for n := range 40 {
		decodeFeed(strings.Repeat(fmt.Sprintf("id=%d;price=%d.99;shop=%d;stock=4\n", n, n, shop), 700))
		time.Sleep(4 * time.Millisecond)
	}
}

// decodeFeed makes a map of each line.
func decodeFeed(feed string) []product {
	var products []product
	for line := range strings.Lines(feed) {
		p := product{fields: make(map[string]string)}
		for _, field := range strings.Split(strings.TrimSpace(line), ";") {
			key, value, _ := strings.Cut(field, "=")
			p.fields[strings.Clone(key)] = strings.Clone(value)
		}
		products = append(products, p)
	}
	return products
}

// serveLookups returns how long each look-up took, from when it was due.
func serveLookups(c *catalogue) []time.Duration {
	took := make([]time.Duration, 0, 150)
	due := time.Now()
	for n := range 150 {
		due = due.Add(3 * time.Millisecond)
		time.Sleep(time.Until(due))
		if c.byID[n*389%len(c.byID)].fields["id"] == "" {
			panic("no such product")
		}
		rec.Work(100)
		took = append(took, time.Since(due))
	}
	return took
}

type gcCount struct {
	cycles uint64
	assist time.Duration
}

func readGC() gcCount {
	s := []metrics.Sample{{Name: "/gc/cycles/total:gc-cycles"}, {Name: "/cpu/classes/gc/mark/assist:cpu-seconds"}}
	metrics.Read(s)
	return gcCount{s[0].Value.Uint64(), time.Duration(s[1].Value.Float64() * 1e9)}
}
