// Package auditlog writes who did what as lines of JSON, in the background so
// that callers need not wait for the disk.
package auditlog

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"sync"
)

// Record of an action.
type Record struct {
	Seq    int    `json:"seq"`
	User   string `json:"user"`
	Action string `json:"action"`
	Target string `json:"target,omitempty"`
}

// ErrClosed is returned after Close.
var ErrClosed = errors.New("auditlog: closed")

// Log is an open audit log.
type Log struct {
	file *os.File
	ch   chan Record

	mu     sync.Mutex
	seq    int
	closed bool
}

// Open appends to the file.
func Open(path string) (*Log, error) {
	f, err := os.OpenFile(path, os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o600)
	if err != nil {
		return nil, err
	}
	l := &Log{file: f, ch: make(chan Record, 256)}
	go l.write()
	return l, nil
}

func (l *Log) write() {
	defer l.file.Close()
	enc := json.NewEncoder(l.file)
	for r := range l.ch {
		if err := enc.Encode(r); err != nil {
			return
		}
	}
}

// Add queues a record.
func (l *Log) Add(user, action, target string) error {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.closed {
		return ErrClosed
	}
	l.seq++
	l.ch <- Record{l.seq, user, action, target}
	return nil
}

// Close ends the log: no record can be added any more, and what was queued is
// written. A marker beside the file tells the shipper that it may take it.
func (l *Log) Close() error {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.closed {
		return ErrClosed
	}
	l.closed = true
	close(l.ch)
	return os.WriteFile(l.file.Name()+".closed", fmt.Appendf(nil, "%d\n", l.seq), 0o600)
}
