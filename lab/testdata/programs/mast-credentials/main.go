// Mast-credentials signs calls to a cluster with a token that a helper program
// makes, and that is valid for a short time.
package main

import (
	"crypto/hmac"
	"crypto/sha256"
	"fmt"
	"os"
	"slices"
	"sync"
	"time"

	"github.com/gmpscope/gmpscope/internal/testkit/rec"
	"github.com/gmpscope/gmpscope/lab/testdata/programs/mast-credentials/creds"
)

const (
	calls  = 450
	period = 2 * time.Millisecond
	life   = 130 * time.Millisecond
)

func main() {
	rec.Start()
	took := callAll(false)
	rec.Stop()
	mended := callAll(true)
	fmt.Fprintf(os.Stderr, "proof: %d calls signed, p50 %v, p90 %v; if the token is renewed before it expires, untraced: p50 %v, p90 %v\n",
		calls, took[calls/2], took[calls*9/10], mended[calls/2], mended[calls*9/10])
}

func callAll(early bool) []time.Duration {
	p := creds.NewProvider(life, "sh", "-c", "sleep 0.05; echo token-$$")
	p.Renew()
	took := make([]time.Duration, calls)
	done := make(chan struct{})
	var open sync.WaitGroup
	if early {
		open.Go(func() { keep(p, done) })
	}
	ticker := time.NewTicker(period)
	defer ticker.Stop()
	var signing sync.WaitGroup
	for n := range calls {
		<-ticker.C
		came := time.Now()
		signing.Go(func() {
			sign(p, n)
			took[n] = time.Since(came)
		})
	}
	signing.Wait()
	close(done)
	open.Wait()
	slices.Sort(took)
	return took
}

// keep renews the token at half its life.
func keep(p *creds.Provider, done <-chan struct{}) {
	ticker := time.NewTicker(life / 3)
	defer ticker.Stop()
	for {
		select {
		case <-ticker.C:
			p.Renew()
		case <-done:
			return
		}
	}
}

func sign(p *creds.Provider, call int) []byte {
	mac := hmac.New(sha256.New, []byte(p.Token()))
	for range 100 {
		fmt.Fprintf(mac, "GET /api/v1/pods/%d", call)
	}
	return mac.Sum(nil)
}
