// Chess-ladder rates the games of a club; all raters share one ladder.
package main

import (
	"fmt"
	"math"
	"os"
	"sync"
	"sync/atomic"
	"time"

	"github.com/gmpscope/gmpscope/internal/testkit/rec"
	"github.com/gmpscope/gmpscope/lab/testdata/programs/chess-ladder/ladder"
)

const (
	players = 200
	games   = 9000
	raters  = 4
)

// reviewGame guesses from the moves how well a game was played.
func reviewGame(game int, edge float64) (points float64) {
	for move := range 6000 {
		points += 1 / (1 + math.Exp(edge/400+float64(game*move%13)-6))
	}
	return points / 6000
}

func main() {
	l := ladder.New(players)
	var next, locking atomic.Int64
	rec.Start()
	begin := time.Now()
	var open sync.WaitGroup
	for range raters {
		open.Go(func() {
			for game := int(next.Add(1)); game <= games; game = int(next.Add(1)) {
				white, black := game%players, game*7%players
				start := time.Now()
				edge := l.Rating(white) - l.Rating(black)
				locking.Add(int64(time.Since(start)))
				points := reviewGame(game, edge)
				start = time.Now()
				l.Record(white, black, points)
				locking.Add(int64(time.Since(start)))
				if game%4 == 0 {
					time.Sleep(time.Millisecond) // the arbiter's clock
				}
			}
		})
	}
	open.Wait()
	took := time.Since(begin)
	rec.Stop()
	fmt.Fprintf(os.Stderr, "proof: %d games in %v; %d raters spent %v (summed) with the ladder and its lock\n",
		games, took.Round(time.Millisecond), raters, time.Duration(locking.Load()).Round(10*time.Microsecond))
}
