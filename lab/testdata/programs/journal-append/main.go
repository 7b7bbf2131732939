// Journal-append keeps orders in a journal file.
package main

import (
	"fmt"
	"os"
	"sync"
	"time"

	"github.com/gmpscope/gmpscope/internal/testkit/rec"
)

type journal struct {
	file   *os.File
	writes int
	inside time.Duration
}

func (j *journal) Append(order []byte) error {
	start := time.Now()
	defer func() { j.inside += time.Since(start) }()
	for i := range order {
		if _, err := j.file.Write(order[i : i+1]); err != nil {
			return err
		}
		j.writes++
	}
	return nil
}

func main() {
	file, err := os.CreateTemp("", "journal")
	if err != nil {
		panic(err)
	}
	defer os.Remove(file.Name())
	defer file.Close()
	j := &journal{file: file}
	took := make([]time.Duration, 100)
	var wg sync.WaitGroup
	rec.Start()
	start := time.Now()
	wg.Go(func() { writeOrders(j, 900) })
	for i := range took {
		came := time.Now()
		serveDepth()
		took[i] = time.Since(came)
		time.Sleep(2 * time.Millisecond)
	}
	wg.Wait()
	all := time.Since(start)
	rec.Stop()
	start = time.Now()
	for range 900 {
		if _, err := file.Write(make([]byte, 48)); err != nil {
			panic(err)
		}
	}
	fmt.Fprintf(os.Stderr, "proof: %d writes took %v of %v; the same with one write per order took %v\n", j.writes, j.inside, all, time.Since(start))
}

func writeOrders(j *journal, n int) {
	for i := range n {
		if err := j.Append(fmt.Appendf(nil, "order %06d buy 100 of item %06d at the best\n", i, i*7)); err != nil {
			panic(err)
		}
		if i%10 == 0 {
			time.Sleep(time.Millisecond)
		}
	}
}

func serveDepth() { rec.Work(100) }
