// Package orders keeps orders in a database, and has them paid.
package orders

import (
	"fmt"
	"io"
	"net/http"
	"time"
)

// A conn is a connection to the database.
type conn struct{ queries int }

func (c *conn) query(takes time.Duration) {
	c.queries++
	time.Sleep(takes)
}

// A Service has a few connections.
type Service struct {
	Early bool // give back the connection while the order is paid: the remedy
	pay   string
	free  chan *conn
}

// New returns a service that has orders paid at an address.
func New(conns int, pay string) *Service {
	s := &Service{pay: pay, free: make(chan *conn, conns)}
	for range conns {
		s.free <- &conn{}
	}
	return s
}

func (s *Service) acquire() *conn  { return <-s.free }
func (s *Service) release(c *conn) { s.free <- c }

// Show reads an order.
func (s *Service) Show(order int) string {
	c := s.acquire()
	defer s.release(c)
	c.query(500 * time.Microsecond)
	return fmt.Sprint("order ", order)
}

// Place writes an order when it is paid.
func (s *Service) Place(order int) error {
	c := s.acquire()
	c.query(500 * time.Microsecond)
	if s.Early {
		s.release(c)
	}
	err := s.charge(order)
	if s.Early {
		c = s.acquire()
	}
	defer s.release(c)
	if err != nil {
		return err
	}
	c.query(time.Millisecond)
	return nil
}

func (s *Service) charge(order int) error {
	answer, err := http.Get(fmt.Sprintf("%s/charge?order=%d", s.pay, order))
	if err != nil {
		return err
	}
	defer answer.Body.Close()
	_, err = io.Copy(io.Discard, answer.Body)
	return err
}
