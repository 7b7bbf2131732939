// Package ratelimit guards an API with one token bucket per client.
package ratelimit

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/hex"
	"sync"
	"time"
)

type bucket struct {
	tokens float64
	last   time.Time
}

// Limiter allows rate requests per second and client, and bursts.
type Limiter struct {
	rate  float64
	burst float64

	mu      sync.Mutex
	clients map[string]*bucket
}

// New returns a limiter; every client starts with a full bucket.
func New(rate float64, burst int) *Limiter {
	return &Limiter{rate: rate, burst: float64(burst), clients: make(map[string]*bucket)}
}

// Allow takes a token of the client's, if there is one.
func (l *Limiter) Allow(client string) bool {
	now := time.Now()
	l.mu.Lock()
	defer l.mu.Unlock()
	b := l.clients[client]
	if b == nil {
		b = &bucket{tokens: l.burst, last: now}
		l.clients[client] = b
	}
	b.tokens = min(l.burst, b.tokens+l.rate*now.Sub(b.last).Seconds())
	b.last = now
	if b.tokens < 1 {
		return false
	}
	b.tokens--
	return true
}

// API answers signed requests.
type API struct {
	Limiter *Limiter
	Key     []byte
}

// Status codes of Handle.
const (
	OK              = 200
	Forbidden       = 403
	TooManyRequests = 429
)

// Sign is the signature of a body (stretched, to make guessing slow).
func (a *API) Sign(body []byte) string {
	sum := body
	for range 200 {
		m := hmac.New(sha256.New, a.Key)
		m.Write(sum)
		sum = m.Sum(nil)
	}
	return hex.EncodeToString(sum)
}

// Handle checks rate and signature of a request.
func (a *API) Handle(client string, body []byte, sig string) int {
	if !a.Limiter.Allow(client) {
		return TooManyRequests
	}
	if !hmac.Equal([]byte(a.Sign(body)), []byte(sig)) {
		return Forbidden
	}
	return OK
}
