// Status-server answers health checks on a TCP port. Hardly anybody asks: a
// load balancer does so every 150 ms.
package main

import (
	"bufio"
	"fmt"
	"net"
	"os"
	"slices"
	"time"

	"github.com/gmpscope/gmpscope/internal/testkit/rec"
)

type server struct {
	listener net.Listener
	started  time.Time
}

func main() {
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	check(err)
	s := &server{listener, time.Now()}
	go s.serve()
	rec.Start()
	var checks []time.Duration
	for range 6 {
		time.Sleep(150 * time.Millisecond)
		begin := time.Now()
		s.probe()
		checks = append(checks, time.Since(begin))
	}
	rec.Stop()
	listener.Close()
	slices.Sort(checks)
	fmt.Fprintf(os.Stderr, "proof: %d checks answered, longest %v\n", len(checks), checks[len(checks)-1])
}

func (s *server) serve() {
	for {
		conn, err := s.listener.Accept()
		if err != nil {
			return
		}
		go s.handleCheck(conn)
	}
}

func (s *server) handleCheck(conn net.Conn) {
	defer conn.Close()
	if _, err := bufio.NewReader(conn).ReadString('\n'); err != nil {
		return
	}
	fmt.Fprintf(conn, "up %v\n", time.Since(s.started).Round(time.Millisecond))
}

// probe is what the load balancer does.
func (s *server) probe() {
	conn, err := net.Dial("tcp", s.listener.Addr().String())
	check(err)
	defer conn.Close()
	fmt.Fprintln(conn, "status")
	_, err = bufio.NewReader(conn).ReadString('\n')
	check(err)
}

func check(err error) {
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}
