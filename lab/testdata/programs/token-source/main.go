// Token-source serves calls to a partner's API, each of which needs a bearer
// token. The tokens are short-lived, and are fetched from the identity provider.
package main

import (
	"bufio"
	"fmt"
	"net"
	"os"
	"strings"
	"sync"
	"time"

	"github.com/gmpscope/gmpscope/internal/testkit/rec"
)

const (
	lifetime = 30 * time.Millisecond
	issuing  = 20 * time.Millisecond
)

type tokenSource struct {
	mu        sync.Mutex
	provider  net.Conn
	replies   *bufio.Reader
	token     string
	expires   time.Time
	refreshes int
	held      time.Duration
}

// Token returns a token that is still valid.
func (s *tokenSource) Token() (string, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if time.Now().Before(s.expires) {
		return s.token, nil
	}
	start := time.Now()
	err := s.refresh()
	s.held += time.Since(start)
	return s.token, err
}

func (s *tokenSource) refresh() error {
	if _, err := fmt.Fprintln(s.provider, "grant client_credentials"); err != nil {
		return err
	}
	line, err := s.replies.ReadString('\n')
	if err != nil {
		return err
	}
	s.token, s.expires = strings.TrimSpace(line), time.Now().Add(lifetime)
	s.refreshes++
	return nil
}

func main() {
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	check(err)
	go serveIdentity(listener)
	conn, err := net.Dial("tcp", listener.Addr().String())
	check(err)
	s := &tokenSource{provider: conn, replies: bufio.NewReader(conn)}
	var callers sync.WaitGroup
	waited := make([]time.Duration, 10)
	rec.Start()
	for id := range waited {
		callers.Go(func() {
			for range 100 {
				waited[id] += callPartner(s)
				time.Sleep(2 * time.Millisecond)
			}
		})
	}
	callers.Wait()
	rec.Stop()
	sum := time.Duration(0)
	for _, d := range waited {
		sum += d
	}
	fmt.Fprintf(os.Stderr, "proof: 1000 calls waited %v in sum for a token; %d refreshes held the mutex for %v\n", sum, s.refreshes, s.held)
}

// callPartner returns how long the call waited for its token.
func callPartner(s *tokenSource) time.Duration {
	start := time.Now()
	_, err := s.Token()
	check(err)
	waited := time.Since(start)
	rec.Work(60)
	return waited
}

func serveIdentity(listener net.Listener) {
	conn, err := listener.Accept()
	check(err)
	requests := bufio.NewScanner(conn)
	for n := 0; requests.Scan(); n++ {
		time.Sleep(issuing)
		fmt.Fprintf(conn, "token-%d\n", n)
	}
}

func check(err error) {
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}
