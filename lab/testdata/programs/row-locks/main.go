// Row-locks is the transaction layer of a database: a transfer locks the row
// of the paying account at its first statement and keeps it until the client,
// an application in another process, has committed.
package main

import (
	"bufio"
	"fmt"
	"net"
	"os"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/gmpscope/gmpscope/internal/testkit/rec"
)

const (
	clients   = 10
	transfers = 10
	think     = 5 * time.Millisecond
)

type rowLocks struct {
	mu     sync.Mutex
	rows   map[string]chan struct{}
	waited atomic.Int64
}

// acquire waits until the row is free, and takes it.
func (l *rowLocks) acquire(row string) (release func()) {
	l.mu.Lock()
	lock := l.rows[row]
	if lock == nil {
		lock = make(chan struct{}, 1)
		l.rows[row] = lock
	}
	l.mu.Unlock()
	start := time.Now()
	lock <- struct{}{}
	l.waited.Add(int64(time.Since(start)))
	return func() { <-lock }
}

func main() {
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	check(err)
	locks := &rowLocks{rows: make(map[string]chan struct{})}
	go func() {
		for {
			conn, err := listener.Accept()
			if err != nil {
				return
			}
			go (&session{conn, bufio.NewScanner(conn), locks}).serve()
		}
	}()
	rec.Start()
	start := time.Now()
	var open sync.WaitGroup
	for id := range clients {
		open.Go(func() { runClient(listener.Addr().String(), id) })
	}
	open.Wait()
	took := time.Since(start)
	rec.Stop()
	fmt.Fprintf(os.Stderr, "proof: %d clients made %d transfers each in %v; their sessions waited %v of %v for the row; a transfer alone takes little more than %v\n",
		clients, transfers, took, time.Duration(locks.waited.Load()), clients*took, think)
}

type session struct {
	conn       net.Conn
	statements *bufio.Scanner
	locks      *rowLocks
}

func (s *session) serve() {
	defer s.conn.Close()
	for s.statements.Scan() {
		if row, ok := strings.CutPrefix(s.statements.Text(), "debit "); ok {
			s.transfer(row)
		}
	}
}

// transfer executes the statements of one transaction up to its commit.
func (s *session) transfer(row string) {
	release := s.locks.acquire(row)
	defer release()
	rec.Work(30)
	fmt.Fprintln(s.conn, "debited")
	for s.statements.Scan() {
		if s.statements.Text() == "commit" {
			rec.Work(30)
			fmt.Fprintln(s.conn, "committed")
			return
		}
	}
}

// runClient stands for an application, which validates the payee between
// its statements.
func runClient(address string, id int) {
	conn, err := net.Dial("tcp", address)
	check(err)
	defer conn.Close()
	replies := bufio.NewScanner(conn)
	for range transfers {
		fmt.Fprintln(conn, "debit house-account")
		replies.Scan()
		time.Sleep(think)
		fmt.Fprintln(conn, "commit")
		replies.Scan()
	}
}

func check(err error) {
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}
