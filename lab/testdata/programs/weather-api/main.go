// Weather-api serves forecasts over HTTP to a handful of clients.
package main

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"slices"
	"sync"
	"time"

	"github.com/gmpscope/gmpscope/internal/testkit/rec"
)

type forecast struct {
	Place string    `json:"place"`
	Hours []float64 `json:"hours"`
}

type service struct {
	mu    sync.RWMutex
	cache map[string][]float64
}

func (s *service) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	place := r.URL.Query().Get("place")
	w.Header().Set("Content-Type", "application/json")
	if err := json.NewEncoder(w).Encode(forecast{place, s.hours(place)}); err != nil {
		http.Error(w, err.Error(), http.StatusInternalServerError)
	}
}

func (s *service) hours(place string) []float64 {
	s.mu.RLock()
	hours, ok := s.cache[place]
	s.mu.RUnlock()
	if ok {
		return hours
	}
	hours = make([]float64, 24)
	for h := range hours {
		hours[h] = 10 + float64((h*len(place))%9)
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.cache[place] = hours
	return hours
}

func main() {
	server := httptest.NewServer(&service{cache: make(map[string][]float64)})
	defer server.Close()
	took := make([][]time.Duration, 4)
	var clients sync.WaitGroup
	rec.Start()
	for id := range took {
		clients.Go(func() { took[id] = runClient(server.URL, id) })
	}
	clients.Wait()
	rec.Stop()
	all := slices.Concat(took...)
	slices.Sort(all)
	fmt.Fprintf(os.Stderr, "proof: %d requests took p50 %v, p99 %v\n", len(all), all[len(all)/2], all[len(all)*99/100])
}

// runClient asks every 12 ms, and returns how long each answer took.
func runClient(url string, id int) []time.Duration {
	client := &http.Client{Transport: &http.Transport{}}
	defer client.CloseIdleConnections()
	var took []time.Duration
	for n := range 40 {
		start := time.Now()
		response, err := client.Get(fmt.Sprintf("%s/?place=town-%d-%d", url, id, n%5))
		if err != nil {
			panic(err)
		}
		if _, err := io.Copy(io.Discard, response.Body); err != nil {
			panic(err)
		}
		response.Body.Close()
		took = append(took, time.Since(start))
		time.Sleep(12 * time.Millisecond)
	}
	return took
}
