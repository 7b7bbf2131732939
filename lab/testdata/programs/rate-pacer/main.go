// Rate-pacer sends message batches at fixed slots, and renders status pages.
package main

import (
	"fmt"
	"os"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/gmpscope/gmpscope/internal/testkit/rec"
)

type pacer struct {
	next  time.Time
	every time.Duration
	spun  time.Duration
}

func (p *pacer) Wait() {
	start := time.Now()
	for time.Now().Before(p.next) {
	}
	p.next = p.next.Add(p.every)
	p.spun += time.Since(start)
}

func main() {
	p := &pacer{next: time.Now(), every: 15 * time.Millisecond}
	took := make([]time.Duration, 240)
	var pages, sender sync.WaitGroup
	rec.Start()
	p.next = time.Now()
	sent := 0
	sender.Go(func() { sent = sendBatches(p, 36) })
	ticker := time.NewTicker(2 * time.Millisecond)
	for i := range took {
		came := <-ticker.C
		pages.Go(func() {
			renderStatus(i)
			took[i] = time.Since(came)
		})
	}
	pages.Wait()
	sender.Wait()
	rec.Stop()
	slices.Sort(took)
	fmt.Fprintf(os.Stderr, "proof: %d batches, the pacer spun for %v of 540 ms; pages took p50 %v, p99 %v\n",
		sent, p.spun, took[len(took)/2], took[len(took)*99/100])
}

func sendBatches(p *pacer, n int) (sent int) {
	for range n {
		p.Wait()
		rec.Work(30)
		sent++
	}
	return sent
}

func renderStatus(i int) string {
	rec.Work(2100)
	return strings.Repeat(fmt.Sprintf("<li>%d</li>", i), 10)
}
