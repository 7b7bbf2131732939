// Holiday-calendar finds the value dates of a bank's standing orders: the next
// day that is no holiday where the payee's bank is.
package main

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"sync"
	"sync/atomic"
	"time"

	"github.com/gmpscope/gmpscope/internal/testkit/rec"
)

const (
	orders  = 40_000
	workers = 2
)

var countries = [...]string{"at", "be", "ch", "de", "fr", "it", "nl", "pl"}

type calendar struct {
	dir  string
	read atomic.Int64
}

func main() {
	dir, err := os.MkdirTemp("", "holidays")
	check(err)
	defer os.RemoveAll(dir)
	for _, country := range countries {
		var days bytes.Buffer
		for day := range 14 {
			fmt.Fprintf(&days, "%d\n", day*26%365)
		}
		check(os.WriteFile(filepath.Join(dir, country), days.Bytes(), 0o644))
	}
	cal := &calendar{dir: dir}
	// Warms the page cache up, and tells what an order costs without files.
	start := time.Now()
	days, err := os.ReadFile(filepath.Join(dir, "ch"))
	check(err)
	moved := 0
	for order := range orders {
		for day := order % 365; contains(days, day%365); day++ {
			moved++
		}
		rec.Work(4)
	}
	alone := time.Since(start)
	dates := make([]int, orders)
	rec.Start()
	start = time.Now()
	var open sync.WaitGroup
	for w := range workers {
		open.Go(func() {
			for order := w; order < orders; order += workers {
				dates[order] = valueDate(cal, order)
			}
		})
	}
	open.Wait()
	took := time.Since(start)
	rec.Stop()
	fmt.Fprintf(os.Stderr, "proof: %d orders took %v on 2 Ps, of which the workers spent %v each reading calendars; with the calendar in memory they take %v on one P\n",
		orders, took, time.Duration(cal.read.Load())/workers, alone)
}

// valueDate is the day of the year on which an order is due.
func valueDate(cal *calendar, order int) int {
	day := order % 365
	for cal.isHoliday(countries[order%len(countries)], day%365) {
		day++
	}
	rec.Work(4) // the rest of the order
	return day % 365
}

func (c *calendar) isHoliday(country string, day int) bool {
	start := time.Now()
	days, err := os.ReadFile(filepath.Join(c.dir, country))
	check(err)
	c.read.Add(int64(time.Since(start)))
	return contains(days, day)
}

func contains(days []byte, day int) bool {
	for line := range bytes.Lines(days) {
		if n, err := strconv.Atoi(string(bytes.TrimSpace(line))); err == nil && n == day {
			return true
		}
	}
	return false
}

func check(err error) {
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}
