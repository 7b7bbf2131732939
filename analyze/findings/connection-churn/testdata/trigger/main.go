// The program connection-churn/trigger has eight workers ask one server over a transport that keeps
// no connections, as one does whose answers are not read to their end.
//
//gmpscope:case procs=2 go=go1.26.8 want=connection-churn:warning may=starvation,convoy,gc-assist-wait,gc-displacement,os-preemption,work-conservation,blocked-on-others
//gmpscope:case procs=2 go=go1.22.12 want=connection-churn:warning may=starvation,convoy,gc-assist-wait,gc-displacement,os-preemption,work-conservation,blocked-on-others
package main

import (
	"io"
	"net/http"
	"net/http/httptest"
	"sync"

	"github.com/gmpscope/gmpscope/internal/testkit/rec"
)

const (
	workers  = 8
	requests = 25 // of each
)

func fetch(client *http.Client, url string) {
	answer, err := client.Get(url)
	if err != nil {
		panic(err)
	}
	io.Copy(io.Discard, answer.Body)
	answer.Body.Close()
}

func worker(client *http.Client, url string, wg *sync.WaitGroup) {
	defer wg.Done()
	for range requests {
		fetch(client, url)
		rec.Work(200)
	}
}

func main() {
	server := httptest.NewTLSServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		io.WriteString(w, "an answer")
	}))
	client := server.Client()
	client.Transport.(*http.Transport).DisableKeepAlives = true

	rec.Start()
	var wg sync.WaitGroup
	for range workers {
		wg.Add(1)
		go worker(client, server.URL, &wg)
	}
	wg.Wait()
	rec.Stop()
}
