// Tariff-cache prices parcels for 24 callers from a tariff document that is
// valid for a while, and then read again.
package main

import (
	"encoding/json"
	"fmt"
	"os"
	"runtime/trace"
	"slices"
	"sync"
	"sync/atomic"
	"time"
)

const (
	callers  = 24
	validity = 220 * time.Millisecond
	phase    = 1200 * time.Millisecond
)

type tariff struct {
	Zone  string
	Limit int
	Cents []int
}

type tariffs struct {
	document []byte
	mu       sync.RWMutex
	table    map[string]tariff
	expires  time.Time
	reloads  atomic.Int64
}

func (t *tariffs) lookup(zone string) tariff {
	t.mu.RLock()
	table, expires := t.table, t.expires
	t.mu.RUnlock()
	if time.Now().After(expires) {
		table = t.reload()
	}
	return table[zone]
}

func (t *tariffs) reload() map[string]tariff {
	t.reloads.Add(1)
	time.Sleep(5 * time.Millisecond) // the document store
	var list []tariff
	check(json.Unmarshal(t.document, &list))
	table := make(map[string]tariff, len(list))
	for _, entry := range list {
		table[entry.Zone] = entry
	}
	t.mu.Lock()
	t.table, t.expires = table, time.Now().Add(validity)
	t.mu.Unlock()
	return table
}

func pricer(t *tariffs, id int, end time.Time) (took []time.Duration) {
	for n := id; time.Now().Before(end); n++ {
		begin := time.Now()
		entry := t.lookup(fmt.Sprintf("zone-%d", n%700))
		if _, ok := slices.BinarySearch(entry.Cents, n%4000); ok {
			n++
		}
		took = append(took, time.Since(begin))
		time.Sleep(3 * time.Millisecond)
	}
	return took
}

func flushStats(t *tariffs, done chan struct{}) {
	tick := time.NewTicker(100 * time.Millisecond)
	defer tick.Stop()
	for {
		select {
		case <-tick.C:
			fmt.Fprintf(os.Stdout, "reloads %d\n", t.reloads.Load())
		case <-done:
			return
		}
	}
}

func main() {
	var list []tariff
	for z := range 700 {
		entry := tariff{Zone: fmt.Sprintf("zone-%d", z), Limit: z}
		for w := range 40 {
			entry.Cents = append(entry.Cents, 100*w+z)
		}
		list = append(list, entry)
	}
	document, err := json.Marshal(list)
	check(err)
	t := &tariffs{document: document}
	t.reload()
	begin := time.Now()
	t.reload()
	once := time.Since(begin)
	t.reloads.Store(0)
	took := make([][]time.Duration, callers)
	done := make(chan struct{})
	stop := startTrace()
	go flushStats(t, done)
	end := time.Now().Add(phase)
	var open sync.WaitGroup
	for id := range callers {
		open.Go(func() { took[id] = pricer(t, 100*id, end) })
	}
	open.Wait()
	close(done)
	stop()
	all := slices.Concat(took...)
	slices.Sort(all)
	slow := 0
	for _, d := range all {
		if d > 2*once {
			slow++
		}
	}
	fmt.Fprintf(os.Stderr, "proof: %d lookups, %d reloads where the validity allows %d, one reload alone takes %v, %d lookups took more than twice that, the longest %v\n",
		len(all), t.reloads.Load(), phase/validity+1, once.Round(10*time.Microsecond), slow, all[len(all)-1].Round(time.Millisecond))
}

func startTrace() (stop func()) {
	file, err := os.Create(os.Args[1])
	check(err)
	check(trace.Start(file))
	return func() {
		trace.Stop()
		check(file.Close())
	}
}

func check(err error) {
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}
