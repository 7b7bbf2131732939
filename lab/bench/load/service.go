package main

import (
	"context"
	"io"
	"log"
	"net"
	"os"
	"runtime/trace"
	"sync"
	"time"
)

const (
	// requestRate is how many requests begin in a second: in each a goroutine and a
	// task.
	requestRate = 70_000
	parkedGoroutines,
	poolWorkers,
	tcpPairs = 2000, 32, 12
)

// server is what a service has as long as it runs.
type server struct {
	table sync.RWMutex
	rows  map[int][]byte // garbage, after a while
	jobs  chan chan<- struct{}
	log   *os.File
	conns []net.Conn // the clients' ends
}

// service is a busy server: size requests, each a goroutine with a task and
// regions that reads a table under a lock that some write under, and has its work
// done by a pool of workers, of which some write to a log; connections on which
// messages go to and fro; 2,000 goroutines that wait for work that does not come;
// and garbage.
func service(size int) func() {
	s := &server{rows: make(map[int][]byte), jobs: make(chan chan<- struct{}), log: scratchFile()}
	for range parkedGoroutines {
		go func() { select {} }()
	}
	for worker := range poolWorkers {
		go s.work(worker)
	}
	for range tcpPairs {
		s.conns = append(s.conns, echoing())
	}
	return func() {
		var talking sync.WaitGroup
		served := make(chan struct{})
		for _, c := range s.conns {
			talking.Go(func() { talk(c, served) })
		}
		s.serve(size)
		close(served)
		talking.Wait()
	}
}

// serve begins requests at their rate, as far as the machine keeps up.
func (s *server) serve(requests int) {
	var all sync.WaitGroup
	tick := time.NewTicker(time.Millisecond)
	defer tick.Stop()
	begin := time.Now()
	for begun := 0; begun < requests; {
		<-tick.C
		due := min(int(time.Since(begin)*requestRate/time.Second), requests)
		for ; begun < due; begun++ {
			number := begun
			all.Go(func() { s.request(number) })
		}
	}
	all.Wait()
}

func (s *server) request(number int) {
	ctx, task := trace.NewTask(context.Background(), "request")
	defer task.End()
	row := number % 4096
	trace.WithRegion(ctx, "read", func() {
		s.table.RLock()
		defer s.table.RUnlock()
		spin(1)
	})
	trace.WithRegion(ctx, "work", func() {
		done := make(chan struct{})
		s.jobs <- done
		<-done
	})
	if number%8 == 0 {
		trace.WithRegion(ctx, "write", func() {
			s.table.Lock()
			defer s.table.Unlock()
			s.rows[row] = make([]byte, 4<<10)
		})
	}
}

// work does what requests ask for. Every tenth leaves a line in the log.
func (s *server) work(worker int) {
	line := []byte("a request was served\n")
	for n := worker; ; n++ {
		done := <-s.jobs
		if err := deep(n%10, func() error {
			spin(2)
			if n%10 > 0 {
				return nil
			}
			_, err := s.log.Write(line)
			return err
		}); err != nil {
			log.Fatal(err)
		}
		close(done)
	}
}

// talk sends messages over c until stop is closed, one in a millisecond at most,
// and waits for each to come back.
func talk(c net.Conn, stop <-chan struct{}) {
	tick := time.NewTicker(time.Millisecond)
	defer tick.Stop()
	message := make([]byte, 64)
	for {
		select {
		case <-stop:
			return
		case <-tick.C:
		}
		if _, err := c.Write(message); err != nil {
			log.Fatal(err)
		}
		if _, err := io.ReadFull(c, message); err != nil {
			log.Fatal(err)
		}
	}
}

// echoing returns a connection whose other end sends back what it gets.
func echoing() net.Conn {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		log.Fatal(err)
	}
	defer l.Close()
	client, err := net.Dial("tcp", l.Addr().String())
	if err != nil {
		log.Fatal(err)
	}
	server, err := l.Accept()
	if err != nil {
		log.Fatal(err)
	}
	go func() {
		// Hide ReadFrom and WriteTo, which would have the kernel copy.
		if _, err := io.Copy(struct{ io.Writer }{server}, struct{ io.Reader }{server}); err != nil {
			log.Fatal(err)
		}
	}()
	return client
}

// scratchFile returns an empty file that nobody else sees, and that is gone with
// the process.
func scratchFile() *os.File {
	f, err := os.CreateTemp("", "load-*")
	if err != nil {
		log.Fatal(err)
	}
	if err := os.Remove(f.Name()); err != nil {
		log.Fatal(err)
	}
	return f
}
