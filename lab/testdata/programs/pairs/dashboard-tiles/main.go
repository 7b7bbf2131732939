// Dashboard-tiles puts together pages of eight tiles, which a service computes.
// Before, each tile was awaited where it was begun.
package main

import (
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"runtime/trace"
	"slices"
	"sync"
	"time"
)

const (
	tiles = 8
	users = 4
	phase = time.Second
)

type board struct {
	client  *http.Client
	service string
	after   bool
}

func (b *board) tile(name string) string {
	answer, err := b.client.Get(b.service + "/tile?name=" + name)
	check(err)
	defer answer.Body.Close()
	text, err := io.ReadAll(answer.Body)
	check(err)
	return string(text)
}

func (b *board) begin(name string) <-chan string {
	ready := make(chan string, 1)
	go func() { ready <- b.tile(name) }()
	return ready
}

func (b *board) assemble(user int) (page string) {
	if b.after {
		var begun []<-chan string
		for n := range tiles {
			begun = append(begun, b.begin(fmt.Sprintf("tile-%d-%d", user, n)))
		}
		for _, ready := range begun {
			page += <-ready
		}
		return page
	}
	for n := range tiles {
		ready := b.begin(fmt.Sprintf("tile-%d-%d", user, n))
		page += <-ready
	}
	return page
}

func (b *board) user(id int, end time.Time) (took []time.Duration) {
	for time.Now().Before(end) {
		begin := time.Now()
		b.assemble(id)
		took = append(took, time.Since(begin))
		time.Sleep(15 * time.Millisecond)
	}
	return took
}

func main() {
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	check(err)
	go http.Serve(listener, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		time.Sleep(6 * time.Millisecond)
		fmt.Fprintf(w, "<div>%s</div>", r.FormValue("name"))
	}))
	b := &board{service: "http://" + listener.Addr().String(), after: os.Getenv("SIDE") == "after"}
	b.client = &http.Client{Transport: &http.Transport{MaxIdleConnsPerHost: tiles * users}}
	took := make([][]time.Duration, users)
	stop := startTrace()
	end := time.Now().Add(phase)
	var open sync.WaitGroup
	for id := range users {
		open.Go(func() { took[id] = b.user(id, end) })
	}
	open.Wait()
	stop()
	all := slices.Concat(took...)
	slices.Sort(all)
	fmt.Fprintf(os.Stderr, "proof: %d pages, p50 %v, p99 %v\n", len(all), all[len(all)/2].Round(10*time.Microsecond), all[len(all)*99/100].Round(10*time.Microsecond))
}

func startTrace() (stop func()) {
	file, err := os.Create(os.Args[1])
	check(err)
	check(trace.Start(file))
	return func() {
		trace.Stop()
		check(file.Close())
	}
}

func check(err error) {
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}
