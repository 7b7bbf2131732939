// Stocktake adds up the pieces of all items in the bins of a warehouse.
package main

import (
	"fmt"
	"os"
	"sync/atomic"
	"time"

	"github.com/gmpscope/gmpscope/internal/testkit/rec"
	"github.com/gmpscope/gmpscope/lab/testdata/programs/stocktake/recount"
)

const (
	halls   = 6
	perHall = 30_000
)

func readHall(hall int) (rows []recount.Row) {
	for n := range perHall {
		rows = append(rows, recount.Row{Bin: hall*1000 + n%977, Item: n * 31 % 512, Pieces: n%9 + 1})
	}
	return rows
}

type inventory [512]atomic.Int64

func (i *inventory) count(row recount.Row) {
	if row.Bin%50 != 49 { // the quarantine
		i[row.Item].Add(int64(row.Pieces))
	}
}

func main() {
	var all [][]recount.Row
	for hall := range halls {
		all = append(all, readHall(hall))
	}
	var stock inventory
	var took time.Duration
	rec.Start()
	for _, rows := range all {
		begin := time.Now()
		recount.Each(rows, 64, stock.count)
		took += time.Since(begin)
		time.Sleep(15 * time.Millisecond)
	}
	rec.Stop()
	begin := time.Now()
	for _, rows := range all {
		for _, row := range rows {
			stock.count(row)
		}
	}
	fmt.Fprintf(os.Stderr, "proof: %d rows with a goroutine each took %v, in a plain loop, untraced, %v\n",
		halls*perHall, took.Round(100*time.Microsecond), time.Since(begin).Round(10*time.Microsecond))
}
