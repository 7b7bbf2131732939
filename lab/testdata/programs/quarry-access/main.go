// Quarry-access answers short requests and logs them to a pipe, from which a
// shipper takes them to a collector.
package main

import (
	"fmt"
	"io"
	"os"
	"slices"
	"sync"
	"time"

	"github.com/gmpscope/gmpscope/internal/testkit/rec"
	"github.com/gmpscope/gmpscope/lab/testdata/programs/quarry-access/accesslog"
)

const (
	requests = 800
	period   = time.Millisecond
	piece    = 4 << 10
	shipping = 6 * time.Millisecond // what the collector takes for a piece
)

func main() {
	rec.Start()
	took, _ := serve(0)
	rec.Stop()
	mended, lost := serve(200)
	fmt.Fprintf(os.Stderr, "proof: %d requests, p50 %v, p90 %v; if lines are lost that do not fit, untraced: p50 %v, p90 %v, %d lost\n",
		requests, took[requests/2], took[requests*9/10], mended[requests/2], mended[requests*9/10], lost)
}

func serve(lines int) (took []time.Duration, lost int64) {
	r, w, err := os.Pipe()
	if err != nil {
		panic(err)
	}
	defer r.Close()
	go ship(r)
	log := accesslog.New(w, lines)
	took = make([]time.Duration, requests)
	var open sync.WaitGroup
	ticker := time.NewTicker(period)
	defer ticker.Stop()
	for n := range requests {
		<-ticker.C
		came := time.Now()
		open.Go(func() {
			handle(log, n)
			took[n] = time.Since(came)
		})
	}
	open.Wait()
	slices.Sort(took)
	return took, log.Lost.Load()
}

func handle(log *accesslog.Log, stone int) {
	came := time.Now()
	rec.Work(50)
	log.Print(fmt.Sprint("/stones/", stone), time.Since(came))
}

// ship takes what was logged to the collector, a piece at a time.
func ship(r io.Reader) {
	buf := make([]byte, piece)
	for {
		if _, err := io.ReadFull(r, buf); err != nil {
			return
		}
		time.Sleep(shipping)
	}
}
