// Storefront serves item pages as JSON over HTTP. A monitor on the same host
// asks for a page every 8 ms, as a few visitors would.
package main

import (
	"encoding/json"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"slices"
	"strconv"
	"time"

	"github.com/gmpscope/gmpscope/internal/testkit/rec"
)

type item struct {
	ID    int      `json:"id"`
	Title string   `json:"title"`
	Price int      `json:"price_cents"`
	Tags  []string `json:"tags"`
}

type catalog map[int]item

func main() {
	shop := make(catalog)
	for id := range 500 {
		shop[id] = item{id, fmt.Sprintf("Garden chair no. %d", id), 4900 + 10*id, []string{"garden", "wood", "new"}}
	}
	mux := http.NewServeMux()
	mux.HandleFunc("GET /item/{id}", shop.handleItem)
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	server := &http.Server{Handler: mux}
	go server.Serve(listener)

	client := &http.Client{Timeout: time.Second}
	base := "http://" + listener.Addr().String() + "/item/"
	fetch(client, base+"1")
	rec.Start()
	latencies := monitor(client, base, 80)
	rec.Stop()
	server.Close()
	slices.Sort(latencies)
	fmt.Fprintf(os.Stderr, "proof: %d requests, p50 %v, p99 %v\n", len(latencies),
		latencies[len(latencies)/2], latencies[len(latencies)*99/100])
}

func (c catalog) handleItem(w http.ResponseWriter, r *http.Request) {
	id, err := strconv.Atoi(r.PathValue("id"))
	page, ok := c[id]
	if err != nil || !ok {
		http.NotFound(w, r)
		return
	}
	w.Header().Set("Content-Type", "application/json")
	json.NewEncoder(w).Encode(page)
}

func monitor(client *http.Client, base string, requests int) []time.Duration {
	ticker := time.NewTicker(8 * time.Millisecond)
	defer ticker.Stop()
	var latencies []time.Duration
	for i := range requests {
		<-ticker.C
		begin := time.Now()
		fetch(client, base+strconv.Itoa(i%500))
		latencies = append(latencies, time.Since(begin))
	}
	return latencies
}

func fetch(client *http.Client, url string) {
	resp, err := client.Get(url)
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	io.Copy(io.Discard, resp.Body)
	resp.Body.Close()
}
