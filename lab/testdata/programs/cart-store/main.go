// Cart-store serves shopping carts over HTTP, and reserves what is put into
// them with an inventory service.
package main

import (
	"encoding/json"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"os"
	"runtime/trace"
	"slices"
	"sync"
	"sync/atomic"
	"time"
)

const phase = time.Second

type carts struct {
	inventory string
	mu        sync.Mutex
	items     map[string][]string
}

func (c *carts) add(w http.ResponseWriter, r *http.Request) {
	cart, item := r.FormValue("cart"), r.FormValue("item")
	c.mu.Lock()
	defer c.mu.Unlock()
	c.items[cart] = append(c.items[cart], item)
	if len(c.items[cart]) > 50 {
		c.items[cart] = c.items[cart][:0]
	}
	if err := c.reserve(item); err != nil {
		http.Error(w, err.Error(), http.StatusBadGateway)
		return
	}
	json.NewEncoder(w).Encode(len(c.items[cart]))
}

func (c *carts) reserve(item string) error {
	answer, err := client.PostForm(c.inventory, url.Values{"item": {item}})
	if err != nil {
		return err
	}
	defer answer.Body.Close()
	_, err = io.Copy(io.Discard, answer.Body)
	return err
}

func (c *carts) show(w http.ResponseWriter, r *http.Request) {
	c.mu.Lock()
	items := slices.Clone(c.items[r.FormValue("cart")])
	c.mu.Unlock()
	json.NewEncoder(w).Encode(items)
}

type inventory struct{ now, most, calls atomic.Int64 }

func (i *inventory) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	i.calls.Add(1)
	if n := i.now.Add(1); n > i.most.Load() {
		i.most.Store(n)
	}
	time.Sleep(6 * time.Millisecond)
	i.now.Add(-1)
	io.WriteString(w, "reserved")
}

var client = &http.Client{Transport: &http.Transport{MaxIdleConnsPerHost: 64}}

func serve(h http.Handler) string {
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	check(err)
	go http.Serve(listener, h)
	return "http://" + listener.Addr().String()
}

func visit(address string, pause time.Duration, end time.Time) (took []time.Duration) {
	for time.Now().Before(end) {
		begin := time.Now()
		answer, err := client.Get(address)
		check(err)
		io.Copy(io.Discard, answer.Body)
		answer.Body.Close()
		took = append(took, time.Since(begin))
		time.Sleep(pause)
	}
	return took
}

func main() {
	stock := &inventory{}
	c := &carts{inventory: serve(stock), items: map[string][]string{}}
	mux := http.NewServeMux()
	mux.HandleFunc("/add", c.add)
	mux.HandleFunc("/show", c.show)
	shop := serve(mux)
	var adds, shows [5][]time.Duration
	stop := startTrace()
	end := time.Now().Add(phase)
	var open sync.WaitGroup
	for id := range adds {
		open.Go(func() { adds[id] = visit(fmt.Sprintf("%s/add?cart=%d&item=%d", shop, id, id), 8*time.Millisecond, end) })
		open.Go(func() { shows[id] = visit(fmt.Sprintf("%s/show?cart=%d", shop, id), 5*time.Millisecond, end) })
	}
	open.Wait()
	stop()
	add, show := slices.Concat(adds[:]...), slices.Concat(shows[:]...)
	slices.Sort(add)
	slices.Sort(show)
	fmt.Fprintf(os.Stderr, "proof: %d reservations of 6 ms, at most %d at a time; add p50 %v, show p50 %v, which does nothing but copy a cart\n",
		stock.calls.Load(), stock.most.Load(), add[len(add)/2].Round(10*time.Microsecond), show[len(show)/2].Round(10*time.Microsecond))
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
