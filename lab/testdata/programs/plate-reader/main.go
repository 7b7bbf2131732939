// Plate-reader checks the plates that the cameras of a toll road take. Each
// camera sends those of a while together.
package main

import (
	"fmt"
	"os"
	"slices"
	"sync"
	"time"

	"github.com/gmpscope/gmpscope/internal/testkit/rec"
	"github.com/gmpscope/gmpscope/lab/testdata/programs/plate-reader/plates"
)

const (
	cameras = 4
	rolls   = 60  // of each
	taken   = 130 // on each roll
	period  = 10 * time.Millisecond
)

func main() {
	rec.Start()
	took := watchAll(plates.Check)
	rec.Stop()
	mended := watchAll(plates.CheckInTurn)
	fmt.Fprintf(os.Stderr, "proof: %d rolls of %d plates, p50 %v, p90 %v; if fields are checked in turn, untraced: p50 %v, p90 %v\n",
		len(took), taken, took[len(took)/2], took[len(took)*9/10], mended[len(mended)/2], mended[len(mended)*9/10])
}

func watchAll(check func(plates.Plate) bool) []time.Duration {
	took := make([][]time.Duration, cameras)
	var open sync.WaitGroup
	for camera := range cameras {
		open.Go(func() { took[camera] = watch(camera, check) })
	}
	open.Wait()
	return slices.Sorted(slices.Values(slices.Concat(took...)))
}

// watch checks what a camera takes.
func watch(camera int, check func(plates.Plate) bool) (took []time.Duration) {
	ticker := time.NewTicker(period)
	defer ticker.Stop()
	for roll := range rolls {
		<-ticker.C
		begin := time.Now()
		for n := range taken {
			letters := string([]byte{'A' + byte(n%26), 'A' + byte(roll%26)})
			check(plates.Plate{Country: "DK", Letters: letters, Digits: fmt.Sprint(10000*(camera+1) + n)})
		}
		took = append(took, time.Since(begin))
	}
	return took
}
