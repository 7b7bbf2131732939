// Package kv keeps values that can be watched.
package kv

import "sync"

type value struct {
	text    string
	version int
}

// A Store tells those who watch when something changes.
type Store struct {
	PerKey  bool // tell only those that watch the key: the remedy
	mu      sync.RWMutex
	values  map[string]value
	changed chan struct{}            // closed at the next change
	keys    map[string]chan struct{} // the same of a key
}

func NewStore() *Store {
	return &Store{values: make(map[string]value), changed: make(chan struct{}), keys: make(map[string]chan struct{})}
}

func (s *Store) Set(key, text string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.values[key] = value{text, s.values[key].version + 1}
	if s.PerKey {
		if c, ok := s.keys[key]; ok {
			close(c)
			delete(s.keys, key)
		}
		return
	}
	close(s.changed)
	s.changed = make(chan struct{})
}

// Next waits for a version of a key that is newer than the one known. It
// returns false if done is closed before.
func (s *Store) Next(key string, known int, done <-chan struct{}) (text string, version int, ok bool) {
	for {
		v, changed := s.look(key)
		if v.version > known {
			return v.text, v.version, true
		}
		select {
		case <-changed:
		case <-done:
			return "", known, false
		}
	}
}

func (s *Store) look(key string) (value, <-chan struct{}) {
	if s.PerKey {
		s.mu.Lock()
		defer s.mu.Unlock()
		c, ok := s.keys[key]
		if !ok {
			c = make(chan struct{})
			s.keys[key] = c
		}
		return s.values[key], c
	}
	s.mu.RLock()
	defer s.mu.RUnlock()
	return s.values[key], s.changed
}
