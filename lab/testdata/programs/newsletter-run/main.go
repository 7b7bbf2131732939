// Newsletter-run sends a newsletter at the rate the provider allows, 200 a
// second, and has until the evening for it.
package main

import (
	"bytes"
	"fmt"
	"mime/quotedprintable"
	"os"
	"runtime/trace"
	"slices"
	"sync"
	"time"
)

const (
	rate    = 200
	phase   = 1500 * time.Millisecond
	readers = 300
	senders = 3
)

type mail struct {
	to   string
	body []byte
}

type run struct {
	mails  chan mail
	tokens chan time.Time
	mu     sync.Mutex
	late   []time.Duration
}

func (r *run) compose() {
	defer close(r.mails)
	for n := range readers {
		var body bytes.Buffer
		w := quotedprintable.NewWriter(&body)
		fmt.Fprintf(w, "Dear reader %d,\n%s", n, bytes.Repeat([]byte("this is the news – of the week.\n"), 40))
		check(w.Close())
		r.mails <- mail{fmt.Sprintf("reader%d@example.com", n), body.Bytes()}
	}
}

// allow is the rate that the provider has agreed to.
func (r *run) allow(end time.Time) {
	defer close(r.tokens)
	for due := time.Now(); due.Before(end); due = due.Add(time.Second / rate) {
		time.Sleep(time.Until(due))
		r.tokens <- due
	}
}

func (r *run) send() {
	for due := range r.tokens {
		m, ok := <-r.mails
		if !ok {
			return
		}
		r.deliver(m)
		r.mu.Lock()
		r.late = append(r.late, time.Since(due))
		r.mu.Unlock()
	}
}

func (r *run) deliver(m mail) {
	time.Sleep(2 * time.Millisecond) // the provider's answer
	if len(m.body) == 0 {
		panic(m.to)
	}
}

func main() {
	r := &run{mails: make(chan mail, 20), tokens: make(chan time.Time)}
	stop := startTrace()
	begin := time.Now()
	var open sync.WaitGroup
	open.Go(r.compose)
	open.Go(func() { r.allow(begin.Add(phase)) })
	for range senders {
		open.Go(r.send)
	}
	open.Wait()
	took := time.Since(begin)
	stop()
	slices.Sort(r.late)
	fmt.Fprintf(os.Stderr, "proof: %d mails in %v, %.1f a second of %d allowed; each was sent p50 %v, max %v after it was allowed, 2 ms of it the provider's\n",
		len(r.late), took.Round(time.Millisecond), float64(len(r.late))/took.Seconds(), rate, r.late[len(r.late)/2].Round(10*time.Microsecond), r.late[len(r.late)-1].Round(10*time.Microsecond))
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
