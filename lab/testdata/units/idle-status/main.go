// Idle-status is a server that is asked for its status now and then.
package main

import (
	"fmt"
	"io"
	"net"
	"net/http"
	"net/textproto"
	"time"

	"github.com/gmpscope/gmpscope/lab/testdata/units/backend"
	"github.com/gmpscope/gmpscope/lab/testdata/units/mark"
)

type status struct {
	store *textproto.Conn
	n     int
}

func (s *status) show(w http.ResponseWriter, r *http.Request) {
	defer mark.Begin("show").End()
	mark.Work(100)
	s.probe()
	fmt.Fprintln(w, "up")
}

// probe has each tenth request wait for the store.
func (s *status) probe() {
	if s.n++; s.n%10 == 0 {
		mark.Check(s.store.PrintfLine("9000"))
		_, err := s.store.ReadLine()
		mark.Check(err)
	}
}

func main() {
	s := &status{store: backend.Dial()}
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	mark.Check(err)
	go http.Serve(listener, http.HandlerFunc(s.show))
	mark.Start()
	for range 60 {
		time.Sleep(25 * time.Millisecond)
		answer, err := http.Get("http://" + listener.Addr().String())
		mark.Check(err)
		_, err = io.Copy(io.Discard, answer.Body)
		mark.Check(err)
		answer.Body.Close()
	}
	mark.Stop()
}
