// Package permcache answers permission questions from a cache in front of the
// policy store.
package permcache

import (
	"encoding/json"
	"math/rand/v2"
	"sync"
	"time"
)

// Policy is the list of what a user may do.
type Policy struct {
	User    string   `json:"user"`
	Allowed []string `json:"allowed"`
}

// Store holds policies as JSON, as a database would, some network away.
type Store struct {
	latency time.Duration // at most, each way
	mu      sync.RWMutex
	rows    map[string][]byte
}

// NewStore returns an empty store.
func NewStore(latency time.Duration) *Store {
	return &Store{latency: latency, rows: make(map[string][]byte)}
}

func (s *Store) travel() { time.Sleep(rand.N(s.latency)) }

// Put writes a policy.
func (s *Store) Put(p Policy) error {
	b, err := json.Marshal(p)
	if err != nil {
		return err
	}
	s.travel()
	defer s.travel()
	s.mu.Lock()
	defer s.mu.Unlock()
	s.rows[p.User] = b
	return nil
}

// Get reads a policy; an unknown user's is empty.
func (s *Store) Get(user string) (p Policy, err error) {
	s.travel()
	s.mu.RLock()
	b := s.rows[user]
	s.mu.RUnlock()
	s.travel()
	if b == nil {
		return Policy{User: user}, nil
	}
	err = json.Unmarshal(b, &p)
	return p, err
}

// Cache is a read-through cache.
type Cache struct {
	store *Store
	mu    sync.Mutex
	users map[string]Policy
}

// NewCache returns an empty cache.
func NewCache(s *Store) *Cache { return &Cache{store: s, users: make(map[string]Policy)} }

// Grant replaces what a user may do and invalidates the cache.
func (c *Cache) Grant(user string, actions ...string) error {
	if err := c.store.Put(Policy{User: user, Allowed: actions}); err != nil {
		return err
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	delete(c.users, user)
	return nil
}

// May reports whether the user may do the action.
func (c *Cache) May(user, action string) (bool, error) {
	c.mu.Lock()
	p, ok := c.users[user]
	c.mu.Unlock()
	if !ok {
		var err error
		if p, err = c.store.Get(user); err != nil {
			return false, err
		}
		c.mu.Lock()
		c.users[user] = p
		c.mu.Unlock()
	}
	for _, a := range p.Allowed {
		if a == action {
			return true, nil
		}
	}
	return false, nil
}
