// Peat-sensors takes the readings of probes in a bog through three steps:
// calibration, a check against the neighbours, and the alarm.
package main

import (
	"fmt"
	"os"
	"slices"
	"sync"
	"time"

	"github.com/gmpscope/gmpscope/internal/testkit/rec"
	"github.com/gmpscope/gmpscope/lab/testdata/programs/peat-sensors/inbox"
)

const (
	readings = 220
	period   = 4300 * time.Microsecond
	every    = 25 * time.Millisecond
)

func main() {
	rec.Start()
	took := watch(func() *inbox.Queue { return &inbox.Queue{Every: every} })
	rec.Stop()
	mended := watch(func() *inbox.Queue { return &inbox.Queue{Bell: make(chan struct{}, 1)} })
	fmt.Fprintf(os.Stderr, "proof: %d readings judged, p50 %v, p99 %v after they came; if a bell rings for each, untraced: p50 %v, p99 %v\n",
		readings, took[readings/2], took[readings*99/100], mended[readings/2], mended[readings*99/100])
}

func watch(queue func() *inbox.Queue) []time.Duration {
	raw, calibrated, checked := queue(), queue(), queue()
	var took []time.Duration
	var open sync.WaitGroup
	open.Go(func() { step(raw, calibrated, calibrate) })
	open.Go(func() { step(calibrated, checked, compare) })
	open.Go(func() { took = alarm(checked) })
	ticker := time.NewTicker(period)
	defer ticker.Stop()
	for n := range readings {
		<-ticker.C
		raw.Put(inbox.Reading{Probe: n % 40, Moisture: float64(n % 97), Came: time.Now()})
	}
	raw.End()
	open.Wait()
	slices.Sort(took)
	return took
}

func step(in, out *inbox.Queue, do func(*inbox.Reading)) {
	for {
		items, ok := in.Take()
		for n := range items {
			do(&items[n])
			out.Put(items[n])
		}
		if !ok {
			out.End()
			return
		}
	}
}

func calibrate(r *inbox.Reading) {
	r.Moisture = r.Moisture*0.98 + float64(rec.Work(60)%2)
}

func compare(r *inbox.Reading) {
	r.Moisture += float64(rec.Work(90) % 2)
}

func alarm(in *inbox.Queue) (took []time.Duration) {
	for {
		items, ok := in.Take()
		for _, r := range items {
			took = append(took, time.Since(r.Came))
		}
		if !ok {
			return took
		}
	}
}
