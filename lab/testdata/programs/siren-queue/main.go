// Siren-queue receives alarms of sirens, and hands them to operators, who had
// a long night.
package main

import (
	"fmt"
	"os"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/gmpscope/gmpscope/internal/testkit/rec"
	"github.com/gmpscope/gmpscope/lab/testdata/programs/siren-queue/backlog"
)

const (
	leftOver = 60_000
	phase    = 700 * time.Millisecond
)

func receiveAlarms(q *backlog.Queue, siren int, end time.Time) (took []time.Duration) {
	for time.Now().Before(end) {
		a := backlog.Alarm{Siren: siren, At: time.Now().UnixNano()}
		begin := time.Now()
		q.Put(a)
		took = append(took, time.Since(begin))
		time.Sleep(time.Millisecond)
	}
	return took
}

func handleAlarms(q *backlog.Queue, end time.Time, handled *atomic.Int64) {
	for time.Now().Before(end) {
		if a, ok := q.Take(); ok && a.Siren >= 0 {
			handled.Add(1)
		}
		time.Sleep(500 * time.Microsecond)
	}
}

func watch(q *backlog.Queue) (received int, p50, p99 time.Duration, done int64) {
	for n := range leftOver {
		q.Put(backlog.Alarm{Siren: n % 8})
	}
	var handled atomic.Int64
	took := make([][]time.Duration, 6)
	end := time.Now().Add(phase)
	var open sync.WaitGroup
	for siren := range took {
		open.Go(func() { took[siren] = receiveAlarms(q, siren, end) })
	}
	for range 3 {
		open.Go(func() { handleAlarms(q, end, &handled) })
	}
	open.Wait()
	all := slices.Concat(took...)
	slices.Sort(all)
	return len(all), all[len(all)/2], all[len(all)*99/100], handled.Load()
}

func main() {
	q := new(backlog.Queue)
	rec.Start()
	received, p50, p99, handled := watch(q)
	rec.Stop()
	received2, p502, p992, handled2 := watch(&backlog.Queue{Ring: true})
	fmt.Fprintf(os.Stderr, "proof: %d alarms received, each in p50 %v, p99 %v, %d handled; with a queue that is not moved, untraced: %d, p50 %v, p99 %v, %d handled\n",
		received, p50, p99, handled, received2, p502, p992, handled2)
}
