// Ledger-close is a nightly batch job. It reads the day's bookings from CSV
// sheets, one after the other because each sheet opens with the balances that
// the last one closed with, and writes the closing balances to a file.
package main

import (
	"bytes"
	"encoding/csv"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"time"

	"github.com/gmpscope/gmpscope/internal/testkit/rec"
)

const (
	sheets   = 120
	bookings = 40000
)

type ledger struct {
	balances map[string]int64
	closed   int
}

func main() {
	dir, err := os.MkdirTemp("", "ledger")
	check(err)
	defer os.RemoveAll(dir)
	sheet := makeSheet()
	book := &ledger{balances: make(map[string]int64)}

	rec.Start()
	begin := time.Now()
	var took []time.Duration
	for range sheets {
		start := time.Now()
		book.closeSheet(bytes.NewReader(sheet))
		took = append(took, time.Since(start))
	}
	book.save(filepath.Join(dir, "closing.csv"))
	total := time.Since(begin)
	rec.Stop()
	slices.Sort(took)
	fmt.Fprintf(os.Stderr, "proof: %d sheets in %v, p50 %v, longest %v\n",
		book.closed, total.Round(time.Millisecond), took[sheets/2], took[sheets-1])
}

func makeSheet() []byte {
	var b bytes.Buffer
	for i := range bookings {
		fmt.Fprintf(&b, "2026-03-%02d,ACC-%04d,%d,card payment\n", i%28+1, i%900, i%7919-3000)
	}
	return b.Bytes()
}

func (l *ledger) closeSheet(sheet io.Reader) {
	rows := csv.NewReader(sheet)
	rows.ReuseRecord = true
	for {
		row, err := rows.Read()
		if err == io.EOF {
			break
		}
		check(err)
		cents, err := strconv.ParseInt(row[2], 10, 64)
		check(err)
		l.balances[row[1]] += cents
	}
	l.closed++
}

func (l *ledger) save(path string) {
	var b bytes.Buffer
	for account, cents := range l.balances {
		fmt.Fprintf(&b, "%s,%d\n", account, cents)
	}
	check(os.WriteFile(path, b.Bytes(), 0o600))
}

func check(err error) {
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}
