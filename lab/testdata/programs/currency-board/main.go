// Currency-board answers what money is worth, from a board that is made anew
// when it is older than 180 ms.
package main

import (
	"fmt"
	"os"
	"slices"
	"sync"
	"time"

	"github.com/gmpscope/gmpscope/internal/testkit/rec"
	"github.com/gmpscope/gmpscope/lab/testdata/programs/currency-board/rates"
)

const (
	ticks   = 900
	perTick = 4
	period  = time.Millisecond
	life    = 180 * time.Millisecond
	bank    = 6 * time.Millisecond // what the central bank takes to answer
)

func main() {
	rec.Start()
	took, made := ask(false)
	rec.Stop()
	mended, made2 := ask(true)
	fmt.Fprintf(os.Stderr, "proof: %d questions, p50 %v, p90 %v, the board made %d times; if one makes it for all, untraced: p50 %v, p90 %v, %d times\n",
		len(took), took[len(took)/2], took[len(took)*9/10], made, mended[len(mended)/2], mended[len(mended)*9/10], made2)
}

func ask(once bool) (took []time.Duration, made int64) {
	board := rates.NewBoard(life, fetchBase)
	board.Once = once
	took = make([]time.Duration, ticks*perTick)
	var open sync.WaitGroup
	begin := time.Now()
	for n := range took {
		came := begin.Add(time.Duration(n/perTick) * period) // even if we are late
		time.Sleep(time.Until(came))
		open.Go(func() {
			answer(board, n%40)
			took[n] = time.Since(came)
		})
	}
	open.Wait()
	slices.Sort(took)
	return took, board.Made.Load()
}

func answer(board *rates.Board, currency int) string {
	return fmt.Sprintf("%.4f", board.Get()[currency][0])
}

// fetchBase asks the central bank.
func fetchBase() (base [40]float64) {
	time.Sleep(bank)
	for n := range base {
		base[n] = 1 + float64(n)/7
	}
	return base
}
