// Webhook-limiter delivers webhooks for many accounts. Each account has a token
// bucket, so that none floods its receiver.
package main

import (
	"fmt"
	"os"
	"sync"
	"time"

	"github.com/gmpscope/gmpscope/internal/testkit/rec"
)

const (
	accounts = 9
	burst    = 4
	hour     = 900 * time.Millisecond
)

type bucket struct {
	tokens   float64
	perSec   float64
	refilled time.Time
}

func (b *bucket) refill(now time.Time) {
	b.tokens = min(burst, b.tokens+now.Sub(b.refilled).Seconds()*b.perSec)
	b.refilled = now
}

// A rateLimiter has one bucket for each account.
type rateLimiter struct {
	mu      sync.Mutex
	buckets map[string]*bucket
}

func newRateLimiter() *rateLimiter {
	return &rateLimiter{buckets: make(map[string]*bucket)}
}

func (l *rateLimiter) bucketOf(account string) *bucket {
	b := l.buckets[account]
	if b == nil {
		b = &bucket{tokens: burst, perSec: 110, refilled: time.Now()}
		l.buckets[account] = b
	}
	return b
}

// Wait returns when the account may send its next webhook.
func (l *rateLimiter) Wait(account string) {
	l.mu.Lock()
	defer l.mu.Unlock()
	b := l.bucketOf(account)
	b.refill(time.Now())
	if b.tokens < 1 {
		missing := (1 - b.tokens) / b.perSec
		time.Sleep(time.Duration(missing * float64(time.Second)))
		b.refill(time.Now())
	}
	b.tokens--
}

type sender struct {
	account         string
	pause           time.Duration
	sent            int
	waited, longest time.Duration
}

// deliver sends the account's webhooks as they come up, every pause.
func (s *sender) deliver(limiter *rateLimiter, end time.Time) {
	for time.Now().Before(end) {
		start := time.Now()
		limiter.Wait(s.account)
		wait := time.Since(start)
		s.waited += wait
		s.longest = max(s.longest, wait)
		signPayload()
		s.sent++
		time.Sleep(s.pause)
	}
}

func signPayload() { rec.Work(40) }

func main() {
	limiter := newRateLimiter()
	senders := make([]*sender, accounts)
	for i := range senders {
		senders[i] = &sender{account: fmt.Sprintf("acct-%02d", i), pause: 10 * time.Millisecond}
	}
	// One account imports its whole catalog today.
	senders[0].pause = 300 * time.Microsecond
	var all sync.WaitGroup
	rec.Start()
	end := time.Now().Add(hour)
	for _, s := range senders {
		all.Go(func() { s.deliver(limiter, end) })
	}
	all.Wait()
	rec.Stop()
	var waited, longest time.Duration
	sent := 0
	for _, s := range senders[1:] {
		waited += s.waited
		sent += s.sent
		longest = max(longest, s.longest)
	}
	fmt.Fprintf(os.Stderr, "proof: %d accounts within their limits waited %v of %v for %d webhooks, at most %v; the importing one sent %d\n",
		accounts-1, waited, (accounts-1)*hour, sent, longest, senders[0].sent)
}
