// Tramline-jobs tells passengers about delays, and checks with the makers of
// the trams what must be serviced, which takes long.
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
	"github.com/gmpscope/gmpscope/lab/testdata/programs/tramline-jobs/jobs"
)

const (
	workers = 5
	notices = 230
	period  = 4 * time.Millisecond
	makers  = 110 * time.Millisecond // what a maker takes to answer
)

func main() {
	maker := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		time.Sleep(makers)
		fmt.Fprintln(w, "nothing to service")
	}))
	defer maker.Close()
	rec.Start()
	shared := jobs.NewPool(workers)
	took := drive(maker.URL, shared, shared)
	shared.Close()
	rec.Stop()
	quick, patient := jobs.NewPool(workers), jobs.NewPool(workers)
	mended := drive(maker.URL, quick, patient)
	quick.Close()
	fmt.Fprintf(os.Stderr, "proof: %d notices told, p50 %v, p90 %v; if checks have workers of their own, untraced: p50 %v, p90 %v\n",
		notices, took[notices/2], took[notices*9/10], mended[notices/2], mended[notices*9/10])
}

// drive has notices told by one pool, and trams checked by another or the same.
func drive(maker string, telling, checking *jobs.Pool) []time.Duration {
	took := make([]time.Duration, notices)
	var open sync.WaitGroup
	ticker := time.NewTicker(period)
	defer ticker.Stop()
	for n := range notices {
		<-ticker.C
		if n%5 == 0 {
			checking.Submit(func() { checkTram(maker, n) })
		}
		came := time.Now()
		open.Add(1)
		telling.Submit(func() {
			defer open.Done()
			tellPassengers(n)
			took[n] = time.Since(came)
		})
	}
	open.Wait()
	slices.Sort(took)
	return took
}

func tellPassengers(line int) string {
	rec.Work(150)
	return fmt.Sprintf("Line %d is late.", line%12)
}

func checkTram(maker string, tram int) {
	answer, err := http.Get(fmt.Sprintf("%s/?tram=%d", maker, tram))
	if err == nil {
		answer.Body.Close()
	}
}
