// Package throttle stops password guessing: so many failed logins a window and
// user, then the account is closed until the window is over.
package throttle

import (
	"crypto/sha256"
	"crypto/subtle"
	"errors"
	"sync"
	"time"
)

// Errors of Login.
var (
	ErrPassword = errors.New("throttle: wrong user or password")
	ErrLocked   = errors.New("throttle: too many attempts")
)

type counter struct {
	window int64
	failed int
}

// Gate checks logins.
type Gate struct {
	max    int
	window time.Duration

	mu    sync.Mutex
	users map[string][32]byte
	fails map[string]counter
}

// NewGate allows max failed logins within window.
func NewGate(max int, window time.Duration) *Gate {
	return &Gate{
		max:    max,
		window: window,
		users:  make(map[string][32]byte),
		fails:  make(map[string]counter),
	}
}

// SetPassword of a user.
func (g *Gate) SetPassword(user, pass string) {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.users[user] = sha256.Sum256([]byte(user + "\x00" + pass))
}

// slot is the number of the window that t is in.
func (g *Gate) slot(t time.Time) int64 { return t.UnixNano() / int64(g.window) }

// Login checks a password.
func (g *Gate) Login(user, pass string) error {
	g.mu.Lock()
	defer g.mu.Unlock()
	c := g.fails[user]
	if now := g.slot(time.Now()); c.window != now {
		c = counter{window: now}
	}
	if c.failed >= g.max {
		return ErrLocked
	}
	want, known := g.users[user]
	got := sha256.Sum256([]byte(user + "\x00" + pass))
	if known && subtle.ConstantTimeCompare(want[:], got[:]) == 1 {
		delete(g.fails, user)
		return nil
	}
	c.failed++
	g.fails[user] = c
	return ErrPassword
}
