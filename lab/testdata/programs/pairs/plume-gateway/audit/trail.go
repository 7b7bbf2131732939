// Package audit writes down who asked for what.
package audit

import (
	"encoding/json"
	"io"
	"sync"
)

type Entry struct {
	Who, What string
	Fields    map[string]string
}

// A Trail has one entry written at a time.
type Trail struct {
	Each bool // whether an entry is on the disk before the next is written
	mu   sync.Mutex
	to   io.Writer
	sync func() error
}

func NewTrail(to io.Writer, sync func() error) *Trail { return &Trail{to: to, sync: sync} }

func (t *Trail) Write(e Entry) error {
	t.mu.Lock()
	defer t.mu.Unlock()
	if err := json.NewEncoder(t.to).Encode(e); err != nil {
		return err
	}
	if t.Each {
		return t.sync()
	}
	return nil
}
