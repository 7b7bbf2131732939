// Osprey-ledger counts sightings of birds that eight observers send.
package main

import (
	"crypto/sha256"
	"encoding/json"
	"fmt"
	"os"
	"slices"
	"sync"
	"time"

	"github.com/gmpscope/gmpscope/internal/testkit/rec"
	"github.com/gmpscope/gmpscope/lab/testdata/programs/osprey-ledger/tally"
)

const (
	observers = 8
	sightings = 350 // of each
	period    = 2 * time.Millisecond
)

type sighting struct {
	Region string `json:"region"`
	Birds  []int  `json:"birds"` // by species
	Notes  []byte `json:"notes"`
}

func main() {
	totals := tally.NewTotals()
	took := make([][]time.Duration, observers)
	body, _ := json.Marshal(sighting{"north shore", make([]int, 60), make([]byte, 1500)})
	rec.Start()
	var open sync.WaitGroup
	for n := range observers {
		open.Go(func() { took[n] = observe(totals, body) })
	}
	open.Wait()
	rec.Stop()
	all := slices.Sorted(slices.Values(slices.Concat(took...)))
	fmt.Fprintf(os.Stderr, "proof: %d sightings, p50 %v, p99 %v; the lock was not free for %d of them, which waited %v together\n",
		len(all), all[len(all)/2], all[len(all)*99/100], totals.Met.Load(), time.Duration(totals.Waited.Load()))
}

// observe takes what an observer sends.
func observe(totals *tally.Totals, body []byte) (took []time.Duration) {
	ticker := time.NewTicker(period)
	defer ticker.Stop()
	for range sightings {
		<-ticker.C
		begin := time.Now()
		record(totals, body)
		took = append(took, time.Since(begin))
	}
	return took
}

func record(totals *tally.Totals, body []byte) {
	var s sighting
	if json.Unmarshal(body, &s) != nil {
		return
	}
	sum := sha256.Sum256(s.Notes)
	for species, birds := range s.Birds {
		totals.Add(fmt.Sprint(s.Region, int(sum[0])+species), birds)
	}
}
