// Matrix-batch turns a matrix in rounds, each half in a goroutine of its own: the job was given
// two workers, so that the other Ps are for others.
package main

import (
	"fmt"
	"os"
	"runtime/trace"
	"sync"
	"time"
)

type matrix struct{ rows [][]float64 }

// rotate turns a few rows.
func (m *matrix) rotate(from, to int) {
	for range 30 {
		for r := from; r < to; r++ {
			row := m.rows[r]
			for c := range row {
				row[c] = row[c]*0.99 + float64(c)
			}
		}
	}
}

func main() {
	m := &matrix{}
	for range 1000 {
		m.rows = append(m.rows, make([]float64, 1000))
	}
	stop := startTrace()
	b := time.Now()
	for range 20 {
		var all sync.WaitGroup
		for w := range 2 {
			all.Go(func() { m.rotate(w*500, w*500+500) })
		}
		all.Wait()
	}
	d := time.Since(b)
	stop()
	fmt.Fprintf(os.Stderr, "proof: 20 rounds in %v with two workers\n", d)
}

func startTrace() (stop func()) {
	file, err := os.Create(os.Args[1])
	check(err)
	check(trace.Start(file))
	return func() {
		trace.Stop()
		check(file.Close())
	}
}

func check(err error) {
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}
