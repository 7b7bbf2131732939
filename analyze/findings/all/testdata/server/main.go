// Server is an HTTP server on loopback that has little to do: two clients ask
// for something small every five milliseconds.
//
// All is well: nearly all of the time nobody wants a P.
//
//gmpscope:case procs=1 go=go1.26.8 want=
//gmpscope:case procs=2 go=go1.26.8 want=
//gmpscope:case procs=2 go=go1.24.9 want=
package main

import (
	"io"
	"log"
	"net"
	"net/http"
	"sync"
	"time"

	"github.com/gmpscope/gmpscope/internal/testkit/rec"
)

func main() {
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		log.Fatal(err)
	}
	server := &http.Server{Handler: http.HandlerFunc(handle)}
	go func() { log.Fatal(server.Serve(listener)) }()
	rec.Start()
	var wg sync.WaitGroup
	for i := 0; i < 2; i++ {
		wg.Add(1)
		go client("http://"+listener.Addr().String(), &wg)
	}
	wg.Wait()
	rec.Stop()
}

func handle(w http.ResponseWriter, _ *http.Request) {
	rec.Work(100)
	_, _ = io.WriteString(w, "well") // the client may have gone
}

func client(url string, wg *sync.WaitGroup) {
	for i := 0; i < 60; i++ {
		response, err := http.Get(url)
		if err != nil {
			log.Fatal(err)
		}
		if _, err := io.Copy(io.Discard, response.Body); err != nil {
			log.Fatal(err)
		}
		response.Body.Close()
		time.Sleep(5 * time.Millisecond)
	}
	wg.Done()
}
