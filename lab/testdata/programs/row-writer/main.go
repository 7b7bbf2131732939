// Row-writer scans eight partitions and writes their rows to one file.
package main

import (
	"bufio"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"strings"
	"sync"
	"time"

	"github.com/gmpscope/gmpscope/internal/testkit/rec"
)

type row struct {
	Partition, Number int
	Payload           string
}

type tableWriter struct {
	rows chan row
	out  *bufio.Writer
	busy time.Duration
	done chan struct{}
}

func (t *tableWriter) loop() {
	defer close(t.done)
	for r := range t.rows {
		start := time.Now()
		t.out.Write(t.encode(r))
		t.busy += time.Since(start)
	}
	t.out.Flush()
}

func (t *tableWriter) encode(r row) []byte {
	b, err := json.Marshal(r)
	if err != nil {
		panic(err)
	}
	sum := sha256.Sum256(b)
	for range 40 {
		sum = sha256.Sum256(append(b, sum[:]...))
	}
	return hex.AppendEncode(b, sum[:])
}

func main() {
	t := &tableWriter{rows: make(chan row, 2), out: bufio.NewWriter(io.Discard), done: make(chan struct{})}
	var waited [8]time.Duration
	var wg sync.WaitGroup
	rec.Start()
	begin := time.Now()
	go t.loop()
	for p := range waited {
		wg.Go(func() { waited[p] = scanPartition(t, p) })
	}
	wg.Wait()
	close(t.rows)
	<-t.done
	took := time.Since(begin)
	rec.Stop()
	fmt.Fprintf(os.Stderr, "proof: of %v, the writer was busy for %v; the scanners waited in sends for %v\n", took, t.busy, waited)
}

func scanPartition(t *tableWriter, p int) (waited time.Duration) {
	for n := range 600 {
		r := row{p, n, strings.Repeat("v", 2000)}
		start := time.Now()
		t.rows <- r
		waited += time.Since(start)
	}
	return waited
}
