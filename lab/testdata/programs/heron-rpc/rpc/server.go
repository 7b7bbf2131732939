package rpc

import (
	"net"
	"sync"
)

// A Server answers the calls that come over connections.
type Server struct {
	Spread bool // a goroutine per call: the remedy
	Handle func(body []byte) []byte
}

func (s *Server) Serve(listener net.Listener) {
	for {
		conn, err := listener.Accept()
		if err != nil {
			return
		}
		go s.serveConn(conn)
	}
}

func (s *Server) serveConn(conn net.Conn) {
	defer conn.Close()
	var mu sync.Mutex
	for {
		f, err := readFrame(conn)
		if err != nil {
			return
		}
		if s.Spread {
			go s.answer(conn, &mu, f)
		} else {
			s.answer(conn, &mu, f)
		}
	}
}

func (s *Server) answer(conn net.Conn, mu *sync.Mutex, f frame) {
	f.body = s.Handle(f.body)
	mu.Lock()
	defer mu.Unlock()
	writeFrame(conn, f)
}
