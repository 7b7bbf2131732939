// Price-book keeps the prices of 120,000 articles, which feeds change, in a
// process whose memory is limited.
package main

import (
	"encoding/json"
	"fmt"
	"os"
	"runtime"
	"runtime/debug"
	"runtime/metrics"
	"runtime/trace"
	"sync"
	"sync/atomic"
	"time"
)

const phase = time.Second

type article struct {
	SKU   string
	Names map[string]string
	Cents *int
}

type book struct {
	mu       sync.RWMutex
	articles map[string]*article
	updates  atomic.Int64
	reads    atomic.Int64
}

func (b *book) feed(id int, end time.Time) {
	for n := id; time.Now().Before(end); n += 7 {
		b.update(fmt.Appendf(nil, `{"SKU":"sku-%d","Names":{"en":"Article %d","de":"Artikel %d"},"Cents":%d}`, n%articles, n, n, n))
		if n%8 == 0 {
			time.Sleep(200 * time.Microsecond)
		}
	}
}

func (b *book) update(message []byte) {
	var a article
	check(json.Unmarshal(message, &a))
	b.mu.Lock()
	b.articles[a.SKU] = &a
	b.mu.Unlock()
	b.updates.Add(1)
}

func (b *book) quote(end time.Time) {
	for n := 0; time.Now().Before(end); n++ {
		b.mu.RLock()
		a := b.articles[fmt.Sprintf("sku-%d", n*31%articles)]
		b.mu.RUnlock()
		if a != nil && *a.Cents >= 0 {
			b.reads.Add(1)
		}
		time.Sleep(time.Millisecond)
	}
}

const articles = 120_000

// work is a phase of three feeds and two readers; it tells the updates and the GCs.
func (b *book) work() (updates int64, gcs uint64) {
	samples := []metrics.Sample{{Name: "/gc/cycles/total:gc-cycles"}}
	metrics.Read(samples)
	before := samples[0].Value.Uint64()
	b.updates.Store(0)
	end := time.Now().Add(phase)
	var open sync.WaitGroup
	for id := range 3 {
		open.Go(func() { b.feed(id, end) })
	}
	for range 2 {
		open.Go(func() { b.quote(end) })
	}
	open.Wait()
	metrics.Read(samples)
	return b.updates.Load(), samples[0].Value.Uint64() - before
}

func main() {
	b := &book{articles: make(map[string]*article, articles)}
	for n := range articles {
		b.update(fmt.Appendf(nil, `{"SKU":"sku-%d","Names":{"en":"Article %d","de":"Artikel %d"},"Cents":%d}`, n, n, n, n))
	}
	runtime.GC()
	debug.FreeOSMemory()
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	// What the container gives, less than a tenth above what the articles take.
	debug.SetMemoryLimit(int64(m.Sys-m.HeapReleased) + 4<<20)
	stop := startTrace()
	updates, gcs := b.work()
	stop()
	debug.SetMemoryLimit(1 << 40)
	updates2, gcs2 := b.work()
	fmt.Fprintf(os.Stderr, "proof: %d updates and %d GCs in %v; the same without the limit afterwards: %d updates, %d GCs\n", updates, gcs, phase, updates2, gcs2)
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
