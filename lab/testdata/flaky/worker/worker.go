// Package worker sends mails in the background and finishes its outbox when
// it is stopped.
package worker

import (
	"errors"
	"fmt"
	"strings"
	"sync"
)

// Mail to send.
type Mail struct {
	To, Subject, Body string
}

// Transport delivers a rendered mail.
type Transport interface {
	Deliver(to, text string) error
}

// ErrFull is returned when the outbox is full.
var ErrFull = errors.New("worker: outbox is full")

// Sender delivers mails in the background.
type Sender struct {
	transport Transport
	outbox    chan Mail
	stop      chan struct{}
	wg        sync.WaitGroup

	mu     sync.Mutex
	failed []error
}

// NewSender returns a sender; Start starts it.
func NewSender(t Transport, size int) *Sender {
	return &Sender{transport: t, outbox: make(chan Mail, size), stop: make(chan struct{})}
}

// Start the background goroutine.
func (s *Sender) Start() { s.wg.Go(s.run) }

// Enqueue puts a mail into the outbox.
func (s *Sender) Enqueue(m Mail) error {
	select {
	case s.outbox <- m:
		return nil
	default:
		return ErrFull
	}
}

func render(m Mail) string {
	var b strings.Builder
	fmt.Fprintf(&b, "To: %s\r\nSubject: %s\r\n\r\n%s\r\n", m.To, m.Subject, m.Body)
	return b.String()
}

func (s *Sender) run() {
	for {
		select {
		case m := <-s.outbox:
			if err := s.transport.Deliver(m.To, render(m)); err != nil {
				s.mu.Lock()
				s.failed = append(s.failed, fmt.Errorf("%s: %w", m.To, err))
				s.mu.Unlock()
			}
		case <-s.stop:
			return
		}
	}
}

// Stop waits for the goroutine and returns what went wrong.
func (s *Sender) Stop() error {
	close(s.stop)
	s.wg.Wait()
	s.mu.Lock()
	defer s.mu.Unlock()
	return errors.Join(s.failed...)
}
