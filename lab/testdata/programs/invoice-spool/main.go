// Invoice-spool stores invoices for printing, line by line, and such that a
// loss of power does not lose any.
package main

import (
	"fmt"
	"os"
	"path/filepath"
	"runtime/trace"
	"slices"
	"sync"
	"sync/atomic"
	"time"
)

const (
	spoolers = 4
	lines    = 60
	phase    = 1200 * time.Millisecond
)

type invoice struct {
	number int
	items  []string
	at     time.Time
}

type spool struct {
	dir     string
	queue   chan invoice
	writes  atomic.Int64
	writing atomic.Int64
	mu      sync.Mutex
	took    []time.Duration
}

func (s *spool) run() {
	for in := range s.queue {
		s.store(in)
		s.mu.Lock()
		s.took = append(s.took, time.Since(in.at))
		s.mu.Unlock()
	}
}

func (s *spool) store(in invoice) {
	name := filepath.Join(s.dir, fmt.Sprintf("%06d.txt", in.number))
	file, err := os.OpenFile(name, os.O_CREATE|os.O_WRONLY|os.O_SYNC, 0o600)
	check(err)
	total := 0
	for i, item := range in.items {
		total += 100 + i
		s.append(file, fmt.Sprintf("%4d %-30s %8d\n", i, item, 100+i))
	}
	s.append(file, fmt.Sprintf("total %d\n", total))
	check(file.Close())
}

func (s *spool) append(file *os.File, line string) {
	begin := time.Now()
	_, err := file.WriteString(line)
	check(err)
	s.writing.Add(int64(time.Since(begin)))
	s.writes.Add(1)
}

func (s *spool) accept(end time.Time) (n int) {
	items := slices.Repeat([]string{"paper, white, 500 sheets"}, lines)
	for due := time.Now(); due.Before(end); due = due.Add(5 * time.Millisecond) {
		time.Sleep(time.Until(due))
		s.queue <- invoice{n, items, due}
		n++
	}
	close(s.queue)
	return n
}

func main() {
	dir, err := os.MkdirTemp("", "spool")
	check(err)
	defer os.RemoveAll(dir)
	s := &spool{dir: dir, queue: make(chan invoice, 1000)}
	stop := startTrace()
	begin := time.Now()
	var open sync.WaitGroup
	for range spoolers {
		open.Go(s.run)
	}
	n := s.accept(begin.Add(phase))
	left := len(s.queue)
	for range s.queue { // the rest is for another day
	}
	open.Wait()
	stop()
	slices.Sort(s.took)
	// The same bytes in one write.
	var once []time.Duration
	for i := range 20 {
		at := time.Now()
		file, err := os.OpenFile(filepath.Join(dir, fmt.Sprintf("once%d", i)), os.O_CREATE|os.O_WRONLY|os.O_SYNC, 0o600)
		check(err)
		_, err = file.Write(make([]byte, 45*lines))
		check(err)
		check(file.Close())
		once = append(once, time.Since(at))
	}
	slices.Sort(once)
	fmt.Fprintf(os.Stderr, "proof: %d invoices, %d left at the end of accepting, p50 %v from due to stored; %d writes of %v each; an invoice in one write takes %v\n",
		n, left, s.took[len(s.took)/2].Round(time.Millisecond), s.writes.Load(), time.Duration(s.writing.Load()/s.writes.Load()).Round(time.Microsecond), once[len(once)/2].Round(10*time.Microsecond))
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
