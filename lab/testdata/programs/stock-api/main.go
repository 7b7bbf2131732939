// Stock-api answers questions about the stock over HTTP, about 1000 a second.
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
	"strconv"
	"sync"
	"time"
)

const (
	shops  = 6
	phase  = time.Second
	period = 6 * time.Millisecond
)

type position struct {
	Article, Count int
	Place          string
}

type warehouse struct {
	mu    sync.RWMutex
	stock map[int][]position
}

func (h *warehouse) find(w http.ResponseWriter, r *http.Request) {
	article, err := strconv.Atoi(r.FormValue("article"))
	if err != nil {
		http.Error(w, err.Error(), http.StatusBadRequest)
		return
	}
	h.mu.RLock()
	positions := slices.Clone(h.stock[article])
	h.mu.RUnlock()
	json.NewEncoder(w).Encode(positions)
}

func (h *warehouse) deliveries(end time.Time) {
	for n := 0; time.Now().Before(end); n++ {
		h.mu.Lock()
		h.stock[n%500] = append(h.stock[n%500][:n%3], position{n % 500, n, "gate"})
		h.mu.Unlock()
		time.Sleep(10 * time.Millisecond)
	}
}

func shop(id int, client *http.Client, address string, end time.Time) (took []time.Duration) {
	n := 0
	for due := time.Now().Add(time.Duration(id) * time.Millisecond); due.Before(end); due = due.Add(period) {
		time.Sleep(time.Until(due))
		begin := time.Now()
		answer, err := client.Get(fmt.Sprintf("%s/find?article=%d", address, (100*id+n)%500))
		check(err)
		_, err = io.Copy(io.Discard, answer.Body)
		check(err)
		answer.Body.Close()
		took = append(took, time.Since(begin))
		n++
	}
	return took
}

func main() {
	h := &warehouse{stock: map[int][]position{}}
	for article := range 500 {
		for place := range 3 {
			h.stock[article] = append(h.stock[article], position{article, 10 * place, fmt.Sprintf("shelf %d", place)})
		}
	}
	mux := http.NewServeMux()
	mux.HandleFunc("/find", h.find)
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	check(err)
	go http.Serve(listener, mux)
	client := &http.Client{Transport: &http.Transport{MaxIdleConnsPerHost: shops}}
	address := "http://" + listener.Addr().String()
	shop(0, client, address, time.Now().Add(50*time.Millisecond))
	took := make([][]time.Duration, shops)
	stop := startTrace()
	end := time.Now().Add(phase)
	var open sync.WaitGroup
	open.Go(func() { h.deliveries(end) })
	for id := range shops {
		open.Go(func() { took[id] = shop(id, client, address, end) })
	}
	open.Wait()
	stop()
	all := slices.Concat(took...)
	slices.Sort(all)
	fmt.Fprintf(os.Stderr, "proof: %d requests of %d due, p50 %v, p99 %v, max %v\n",
		len(all), shops*int(phase/period), all[len(all)/2].Round(time.Microsecond), all[len(all)*99/100].Round(time.Microsecond), all[len(all)-1].Round(time.Microsecond))
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
