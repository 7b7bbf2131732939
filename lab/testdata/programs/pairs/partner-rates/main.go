// Partner-rates asks a partner for exchange rates on behalf of sixteen desks.
// Before, the transport allowed two connections to a host; after, sixteen.
package main

import (
	"encoding/json"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"runtime/trace"
	"slices"
	"sync"
	"sync/atomic"
	"time"
)

const (
	desks = 16
	phase = time.Second
)

type rate struct {
	Pair string
	Rate float64
}

type rates struct {
	client  *http.Client
	partner string
	now     atomic.Int64
	most    atomic.Int64
}

func (r *rates) ask(pair string) (answer rate) {
	response, err := r.client.Get(r.partner + "/rate?pair=" + pair)
	check(err)
	defer response.Body.Close()
	check(json.NewDecoder(response.Body).Decode(&answer))
	io.Copy(io.Discard, response.Body)
	return answer
}

func (r *rates) quote(w http.ResponseWriter, request *http.Request) {
	if n := r.now.Add(1); n > r.most.Load() {
		r.most.Store(n)
	}
	time.Sleep(8 * time.Millisecond)
	r.now.Add(-1)
	json.NewEncoder(w).Encode(rate{request.FormValue("pair"), 1.0825})
}

func (r *rates) desk(id int, end time.Time) (took []time.Duration) {
	for time.Now().Before(end) {
		begin := time.Now()
		r.ask(fmt.Sprintf("EUR%03d", id))
		took = append(took, time.Since(begin))
		time.Sleep(20 * time.Millisecond)
	}
	return took
}

func main() {
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	check(err)
	r := &rates{partner: "http://" + listener.Addr().String()}
	go http.Serve(listener, http.HandlerFunc(r.quote))
	connections := 2
	if os.Getenv("SIDE") == "after" {
		connections = desks
	}
	r.client = &http.Client{Transport: &http.Transport{MaxConnsPerHost: connections, MaxIdleConnsPerHost: connections}}
	took := make([][]time.Duration, desks)
	stop := startTrace()
	end := time.Now().Add(phase)
	var open sync.WaitGroup
	for id := range desks {
		open.Go(func() { took[id] = r.desk(id, end) })
	}
	open.Wait()
	stop()
	all := slices.Concat(took...)
	slices.Sort(all)
	fmt.Fprintf(os.Stderr, "proof: %d rates, at most %d asked for at a time, p50 %v, p99 %v\n", len(all), r.most.Load(), all[len(all)/2].Round(10*time.Microsecond), all[len(all)*99/100].Round(10*time.Microsecond))
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
