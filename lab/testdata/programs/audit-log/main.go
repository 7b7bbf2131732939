// Audit-log books transfers, and writes an entry for each to the log collector
// at the other end of a pipe.
package main

import (
	"fmt"
	"io"
	"os"
	"strings"
	"sync"
	"time"

	"github.com/gmpscope/gmpscope/internal/testkit/rec"
)

type auditLog struct {
	mu      sync.Mutex
	out     *os.File
	entries int
	waited  time.Duration
	held    time.Duration
}

func (l *auditLog) Append(entry []byte) error {
	came := time.Now()
	l.mu.Lock()
	defer l.mu.Unlock()
	start := time.Now()
	l.waited += start.Sub(came)
	l.entries++
	_, err := l.out.Write(entry)
	l.held += time.Since(start)
	return err
}

func (l *auditLog) Count() int {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.entries
}

func main() {
	r, w, err := os.Pipe()
	if err != nil {
		panic(err)
	}
	l := &auditLog{out: w}
	var wg, collector sync.WaitGroup
	rec.Start()
	collector.Go(func() { collect(r) })
	for account := range 8 {
		wg.Go(func() {
			for n := range 12 {
				handleTransfer(l, account, n)
				time.Sleep(3 * time.Millisecond)
			}
		})
	}
	wg.Wait()
	w.Close()
	collector.Wait()
	rec.Stop()
	fmt.Fprintf(os.Stderr, "proof: %d transfers waited %v in sum for the mutex; Append held it for %v\n", l.Count(), l.waited, l.held)
}

func handleTransfer(l *auditLog, account, n int) {
	rec.Work(100)
	entry := fmt.Appendf(nil, "account %d transfer %d %s\n", account, n, strings.Repeat(".", 16<<10))
	if err := l.Append(entry); err != nil {
		panic(err)
	}
}

// collect forwards 64 kB every 20 ms.
func collect(r *os.File) {
	buf := make([]byte, 64<<10)
	for {
		if _, err := io.ReadFull(r, buf); err != nil {
			return
		}
		time.Sleep(20 * time.Millisecond)
	}
}
