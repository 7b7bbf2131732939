// Package quotes asks a price server over HTTP for quotes.
package quotes

import (
	"encoding/json"
	"fmt"
	"hash/crc32"
	"net/http"
	"net/url"
	"time"
)

// Quote is a price in cents.
type Quote struct {
	Symbol string `json:"symbol"`
	Cents  int    `json:"cents"`
}

// Client asks a server.
type Client struct {
	base string
	http *http.Client
}

// NewClient gives every request the timeout.
func NewClient(base string, timeout time.Duration) *Client {
	return &Client{base: base, http: &http.Client{Timeout: timeout}}
}

// Get returns the quote of a symbol.
func (c *Client) Get(symbol string) (Quote, error) {
	var q Quote
	resp, err := c.http.Get(c.base + "/quote?s=" + url.QueryEscape(symbol))
	if err != nil {
		return q, fmt.Errorf("quotes: %s: %w", symbol, err)
	}
	defer resp.Body.Close()
	if resp.StatusCode != http.StatusOK {
		return q, fmt.Errorf("quotes: %s: %s", symbol, resp.Status)
	}
	if err := json.NewDecoder(resp.Body).Decode(&q); err != nil {
		return q, fmt.Errorf("quotes: %s: %w", symbol, err)
	}
	return q, nil
}

// Server answers with prices that its model computes.
type Server struct {
	Rounds int // of the model: more is better and slower
}

// Price of a symbol according to the model.
func (s *Server) Price(symbol string) int {
	h := crc32.ChecksumIEEE([]byte(symbol))
	buf := make([]byte, 4096)
	for range s.Rounds {
		buf[h%4096]++
		h = crc32.Update(h, crc32.IEEETable, buf)
	}
	return int(h%100000) + 1
}

// ServeHTTP answers /quote?s=SYMBOL.
func (s *Server) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	sym := r.URL.Query().Get("s")
	if sym == "" {
		http.Error(w, "no symbol", http.StatusBadRequest)
		return
	}
	w.Header().Set("Content-Type", "application/json")
	json.NewEncoder(w).Encode(Quote{Symbol: sym, Cents: s.Price(sym)})
}
