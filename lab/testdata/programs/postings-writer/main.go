// Postings-writer writes the postings of an account book in the order of their
// numbers, which one goroutine has to do; the tellers need not wait for it.
package main

import (
	"bufio"
	"encoding/json"
	"fmt"
	"hash/crc32"
	"os"
	"runtime/trace"
	"slices"
	"sync"
	"time"
)

const (
	tellers = 5
	phase   = time.Second
	period  = 4 * time.Millisecond
)

type posting struct {
	Number        int
	Debit, Credit string
	Cents         int
	Previous      uint32
	at            time.Time
}

type writer struct {
	in    chan posting
	out   *bufio.Writer
	chain uint32
	busy  time.Duration
	late  []time.Duration
	most  int
}

func (w *writer) run() {
	for p := range w.in {
		w.most = max(w.most, len(w.in))
		begin := time.Now()
		w.write(p)
		w.busy += time.Since(begin)
		w.late = append(w.late, time.Since(p.at))
	}
	check(w.out.Flush())
}

// write chains each posting to the one before.
func (w *writer) write(p posting) {
	p.Number, p.Previous = len(w.late), w.chain
	for page := range 150 {
		p.Cents += page
		line, err := json.Marshal(p)
		check(err)
		w.chain = crc32.Update(w.chain, crc32.IEEETable, line)
		w.out.Write(line)
	}
}

func (w *writer) teller(id int, end time.Time) (longest time.Duration) {
	for due := time.Now().Add(time.Duration(id) * 700 * time.Microsecond); due.Before(end); due = due.Add(period) {
		time.Sleep(time.Until(due))
		begin := time.Now()
		w.in <- posting{Debit: fmt.Sprintf("till %d", id), Credit: "sales", Cents: 100 * id, at: begin}
		longest = max(longest, time.Since(begin))
	}
	return longest
}

func main() {
	file, err := os.CreateTemp("", "postings")
	check(err)
	defer os.Remove(file.Name())
	w := &writer{in: make(chan posting, 256), out: bufio.NewWriter(file)}
	var longest [tellers]time.Duration
	var open, writing sync.WaitGroup
	stop := startTrace()
	end := time.Now().Add(phase)
	writing.Go(w.run)
	for id := range tellers {
		open.Go(func() { longest[id] = w.teller(id, end) })
	}
	open.Wait()
	close(w.in)
	writing.Wait()
	stop()
	slices.Sort(w.late)
	fmt.Fprintf(os.Stderr, "proof: %d postings, the writer busy for %v of %v, written after p50 %v, p99 %v, at most %d queued; no teller waited longer than %v\n",
		len(w.late), w.busy.Round(time.Millisecond), phase, w.late[len(w.late)/2].Round(time.Microsecond), w.late[len(w.late)*99/100].Round(time.Microsecond), w.most, slices.Max(longest[:]).Round(time.Microsecond))
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
