// Hook-sender signs web hooks and sends them. Before, the senders read jobs
// from a channel in a closure; after, a type of its own does that, with a
// method for each step.
package main

import (
	"bytes"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"runtime/trace"
	"slices"
	"sync"
	"time"
)

const (
	senders = 6
	phase   = time.Second
	period  = 2 * time.Millisecond
)

type hook struct {
	ID    int
	Event string
	due   time.Time
}

type target struct {
	client *http.Client
	url    string
	mu     sync.Mutex
	took   []time.Duration
}

func sign(body []byte) string {
	mac := hmac.New(sha256.New, []byte("a secret"))
	mac.Write(body)
	return hex.EncodeToString(mac.Sum(nil))
}

func (t *target) post(body []byte, signature string) {
	request, err := http.NewRequest("POST", t.url, bytes.NewReader(body))
	check(err)
	request.Header.Set("X-Signature", signature)
	answer, err := t.client.Do(request)
	check(err)
	io.Copy(io.Discard, answer.Body)
	answer.Body.Close()
}

func (t *target) note(h hook) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.took = append(t.took, time.Since(h.due))
}

type sender struct {
	target *target
	hooks  <-chan hook
}

func (s *sender) run() {
	for h := range s.hooks {
		s.handle(h)
	}
}

func (s *sender) handle(h hook) {
	body := s.encode(h)
	s.target.post(body, sign(body))
	s.target.note(h)
}

func (s *sender) encode(h hook) []byte {
	body, err := json.Marshal(h)
	check(err)
	return body
}

func main() {
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	check(err)
	go http.Serve(listener, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		io.Copy(io.Discard, r.Body)
		time.Sleep(4 * time.Millisecond)
	}))
	t := &target{url: "http://" + listener.Addr().String()}
	t.client = &http.Client{Transport: &http.Transport{MaxIdleConnsPerHost: senders}}
	hooks := make(chan hook, 32)
	stop := startTrace()
	begin := time.Now()
	var open sync.WaitGroup
	for range senders {
		if os.Getenv("SIDE") == "after" {
			s := &sender{t, hooks}
			open.Go(s.run)
			continue
		}
		open.Go(func() {
			for h := range hooks {
				body, err := json.Marshal(h)
				check(err)
				t.post(body, sign(body))
				t.note(h)
			}
		})
	}
	n := 0
	for due := begin; due.Before(begin.Add(phase)); due = due.Add(period) {
		time.Sleep(time.Until(due))
		hooks <- hook{n, "order.paid", due}
		n++
	}
	close(hooks)
	open.Wait()
	stop()
	slices.Sort(t.took)
	fmt.Fprintf(os.Stderr, "proof: %d hooks, p50 %v, p99 %v\n", len(t.took), t.took[n/2].Round(10*time.Microsecond), t.took[n*99/100].Round(10*time.Microsecond))
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
