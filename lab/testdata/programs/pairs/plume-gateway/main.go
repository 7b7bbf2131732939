// Plume-gateway lets callers through and writes an audit trail. Before, the
// trail is synced ten times a second; after, an entry is on the disk before
// its caller is let through.
package main

import (
	"fmt"
	"os"
	"slices"
	"sync"
	"time"

	"github.com/gmpscope/gmpscope/internal/testkit/rec"
	"github.com/gmpscope/gmpscope/lab/testdata/programs/pairs/plume-gateway/audit"
)

const (
	calls  = 300
	period = 3 * time.Millisecond
	disk   = 4 * time.Millisecond // what a sync takes besides
)

func main() {
	file, err := os.CreateTemp("", "trail-")
	if err != nil {
		panic(err)
	}
	defer os.Remove(file.Name())
	// The disk of the server is not the one of this machine.
	slow := func() error {
		defer time.Sleep(disk)
		return file.Sync()
	}
	trail := audit.NewTrail(file, slow)
	trail.Each = os.Getenv("SIDE") == "after"
	took := make([]time.Duration, calls)
	done := make(chan struct{})
	rec.Start()
	var open, calling sync.WaitGroup
	if !trail.Each {
		open.Go(func() { syncOften(slow, done) })
	}
	ticker := time.NewTicker(period)
	for n := range calls {
		<-ticker.C
		came := time.Now()
		calling.Go(func() {
			pass(trail, n)
			took[n] = time.Since(came)
		})
	}
	calling.Wait()
	close(done)
	open.Wait()
	rec.Stop()
	slices.Sort(took)
	fmt.Fprintf(os.Stderr, "proof: %d calls, p50 %v, p90 %v\n", calls, took[calls/2], took[calls*9/10])
}

func syncOften(sync func() error, done <-chan struct{}) {
	ticker := time.NewTicker(100 * time.Millisecond)
	defer ticker.Stop()
	for {
		select {
		case <-ticker.C:
			sync()
		case <-done:
			return
		}
	}
}

func pass(trail *audit.Trail, call int) {
	rec.Work(200)
	trail.Write(audit.Entry{Who: fmt.Sprint("client ", call%20), What: "GET /plumes", Fields: map[string]string{"zone": "7"}})
}
