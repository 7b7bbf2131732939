// Coupon-drop hands out coupons: every 90 ms a new one is announced, and forty
// customers come for it at once.
package main

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"os"
	"runtime/trace"
	"slices"
	"sync"
	"time"
)

const (
	drops     = 12
	customers = 40
)

type claim struct {
	drop, customer int
	at             time.Time
	code           chan string
}

type desk struct {
	key    []byte
	claims chan claim
	mu     sync.Mutex
	given  map[string]bool
}

func (d *desk) serve() {
	for c := range d.claims {
		c.code <- d.issue(c)
	}
}

func (d *desk) issue(c claim) string {
	mac := hmac.New(sha256.New, d.key)
	for page := range 100 {
		fmt.Fprintf(mac, "drop %d, customer %d, page %d", c.drop, c.customer, page)
	}
	code := hex.EncodeToString(mac.Sum(nil))[:16]
	d.mu.Lock()
	d.given[code] = true
	d.mu.Unlock()
	return code
}

func (d *desk) customer(drop, id int) time.Duration {
	c := claim{drop, id, time.Now(), make(chan string, 1)}
	d.claims <- c
	<-c.code
	return time.Since(c.at)
}

// audit counts the coupons now and then.
func (d *desk) audit(done chan struct{}) {
	tick := time.NewTicker(70 * time.Millisecond)
	defer tick.Stop()
	for {
		select {
		case <-tick.C:
			d.mu.Lock()
			n := len(d.given)
			d.mu.Unlock()
			fmt.Fprintf(os.Stdout, "%d coupons\n", n)
		case <-done:
			return
		}
	}
}

func main() {
	d := &desk{key: []byte("a key of the season"), claims: make(chan claim, customers), given: map[string]bool{}}
	var took []time.Duration
	var whole []time.Duration
	done := make(chan struct{})
	stop := startTrace()
	for range 4 {
		go d.serve()
	}
	go d.audit(done)
	for drop := range drops {
		begin := time.Now()
		waits := make([]time.Duration, customers)
		var open sync.WaitGroup
		for id := range customers {
			open.Go(func() { waits[id] = d.customer(drop, id) })
		}
		open.Wait()
		whole = append(whole, time.Since(begin))
		took = append(took, waits...)
		time.Sleep(90*time.Millisecond - time.Since(begin))
	}
	close(done)
	close(d.claims)
	stop()
	slices.Sort(took)
	fmt.Fprintf(os.Stderr, "proof: %d coupons in %d drops, a coupon after p50 %v, max %v; the longest drop was over after %v of 90 ms\n",
		len(d.given), drops, took[len(took)/2].Round(time.Microsecond), took[len(took)-1].Round(time.Microsecond), slices.Max(whole).Round(10*time.Microsecond))
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
