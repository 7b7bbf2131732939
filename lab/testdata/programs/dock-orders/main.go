// Dock-orders serves a shop for ships: most ask for an order, some place one,
// which is paid at a provider by HTTP.
package main

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"slices"
	"sync"
	"time"

	"github.com/gmpscope/gmpscope/internal/testkit/rec"
	"github.com/gmpscope/gmpscope/lab/testdata/programs/dock-orders/orders"
)

const (
	requests = 400
	period   = 2 * time.Millisecond
	conns    = 4
	paying   = 30 * time.Millisecond // what the provider takes
)

func main() {
	provider := httptest.NewServer(http.HandlerFunc(charge))
	defer provider.Close()
	rec.Start()
	took := serve(provider.URL, false)
	rec.Stop()
	mended := serve(provider.URL, true)
	fmt.Fprintf(os.Stderr, "proof: %d orders shown, p50 %v, p90 %v; if the connection is given back while an order is paid, untraced: p50 %v, p90 %v\n",
		len(took), took[len(took)/2], took[len(took)*9/10], mended[len(mended)/2], mended[len(mended)*9/10])
}

// charge is the provider's side.
func charge(w http.ResponseWriter, r *http.Request) {
	time.Sleep(paying)
	fmt.Fprintln(w, "paid", r.FormValue("order"))
}

// serve returns how long it took to show orders.
func serve(pay string, early bool) []time.Duration {
	s := orders.New(conns, pay)
	s.Early = early
	took := make([]time.Duration, requests)
	var open sync.WaitGroup
	ticker := time.NewTicker(period)
	defer ticker.Stop()
	for n := range requests {
		<-ticker.C
		came := time.Now()
		open.Go(func() {
			if n%3 == 0 {
				s.Place(n)
				return
			}
			s.Show(n)
			took[n] = time.Since(came)
		})
	}
	open.Wait()
	took = slices.DeleteFunc(took, func(d time.Duration) bool { return d == 0 })
	slices.Sort(took)
	return took
}
