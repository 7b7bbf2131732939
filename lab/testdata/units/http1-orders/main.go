// Http1-orders takes orders over HTTP/1.1, and keeps a journal of them elsewhere.
package main

import (
	"fmt"
	"io"
	"math/rand/v2"
	"net"
	"net/http"
	"net/textproto"
	"sync"
	"time"

	"github.com/gmpscope/gmpscope/lab/testdata/units/backend"
	"github.com/gmpscope/gmpscope/lab/testdata/units/mark"
)

type journal struct {
	mu      sync.Mutex
	entries int
	remote  *textproto.Conn
}

func (j *journal) append() {
	j.mu.Lock()
	defer j.mu.Unlock()
	mark.Work(10)
	if j.entries++; j.entries%120 == 0 {
		j.flush()
	}
}

// flush is called with the lock held.
func (j *journal) flush() {
	mark.Check(j.remote.PrintfLine("9000"))
	_, err := j.remote.ReadLine()
	mark.Check(err)
}

type shop struct{ journal *journal }

func (s *shop) order(w http.ResponseWriter, r *http.Request) {
	defer mark.Begin("order").End()
	mark.Work(150)
	s.journal.append()
	fmt.Fprintln(w, "ordered")
}

func (s *shop) price(w http.ResponseWriter, r *http.Request) {
	defer mark.Begin("price").End()
	mark.Work(120)
	fmt.Fprintln(w, "12.50")
}

func customer(url string, end time.Time) {
	client := &http.Client{Transport: &http.Transport{}}
	for n := 0; time.Now().Before(end); n++ {
		path := "/order"
		if n%3 == 2 {
			path = "/price"
		}
		answer, err := client.Get(url + path)
		mark.Check(err)
		_, err = io.Copy(io.Discard, answer.Body)
		mark.Check(err)
		answer.Body.Close()
		time.Sleep(time.Duration(3+rand.IntN(6)) * time.Millisecond)
	}
}

func main() {
	s := &shop{&journal{remote: backend.Dial()}}
	mux := http.NewServeMux()
	mux.HandleFunc("/order", s.order)
	mux.HandleFunc("/price", s.price)
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	mark.Check(err)
	go http.Serve(listener, mux)
	mark.Start()
	end := time.Now().Add(time.Second)
	var customers sync.WaitGroup
	for range 6 {
		customers.Go(func() { customer("http://"+listener.Addr().String(), end) })
	}
	customers.Wait()
	mark.Stop()
}
