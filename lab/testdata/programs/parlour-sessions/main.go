// Parlour-sessions lets people play a short game of cards.
package main

import (
	"fmt"
	"os"
	"runtime"
	"slices"
	"sync"
	"time"

	"github.com/gmpscope/gmpscope/internal/testkit/rec"
	"github.com/gmpscope/gmpscope/lab/testdata/programs/parlour-sessions/parlour"
)

const (
	games  = 450
	period = 2500 * time.Microsecond
	game   = 15 * time.Millisecond
)

func main() {
	mended, left := playAll(true)
	rec.Start()
	took, left2 := playAll(false)
	rec.Stop()
	fmt.Fprintf(os.Stderr, "proof: %d moves, p50 %v, p90 %v, p99 %v, %d goroutines left; if sessions end, untraced: p50 %v, p90 %v, p99 %v, %d left\n",
		games, took[games/2], took[games*9/10], took[games*99/100], left2, mended[games/2], mended[games*9/10], mended[games*99/100], left)
}

// playAll returns how long it took to answer the move of each game.
func playAll(stops bool) (took []time.Duration, left int) {
	took = make([]time.Duration, games)
	var open sync.WaitGroup
	begin := time.Now()
	for n := range games {
		due := begin.Add(time.Duration(n) * period)
		time.Sleep(time.Until(due))
		open.Go(func() {
			s := parlour.Open(n, stops)
			defer s.Close()
			move(s)
			took[n] = time.Since(due)
			time.Sleep(game)
		})
	}
	open.Wait()
	slices.Sort(took)
	return took, runtime.NumGoroutine()
}

func move(s *parlour.Session) int { return int(rec.Work(120)) % (s.Player + 1) }
