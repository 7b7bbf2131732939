// Planted is an HTTP server, with clients in the same process, of which one handler does EXTRA times its
// work. It records itself into the file that GMPSCOPE_TRACE names:
//
//	go -C lab build -o planted ./testdata/planted
//	gmpscope record --alternate --runs 5 -o 1.2.1 -- env EXTRA=1 GOMAXPROCS=2 ./planted --and env EXTRA=1.2 GOMAXPROCS=2 ./planted
package main

import (
	"bytes"
	"io"
	"math/rand"
	"net/http"
	"net/http/httptest"
	"os"
	"runtime/trace"
	"strconv"
	"sync"
	"time"
)

var sink uint64

func work(n int) {
	x := uint64(1)
	for range n {
		x = x*6364136223846793005 + 1442695040888963407
	}
	if x == 1 {
		sink++
	}
}

type api struct {
	mu    sync.Mutex
	hits  map[string]int
	extra float64
}

func (a *api) count(what string) { a.mu.Lock(); a.hits[what]++; a.mu.Unlock() }

func (a *api) report(w http.ResponseWriter, r *http.Request) {
	work(int(400_000 * a.extra))
	a.count("report")
	io.WriteString(w, "report")
}
func (a *api) list(w http.ResponseWriter, r *http.Request) {
	work(80_000)
	a.count("list")
	io.WriteString(w, "list")
}

func main() {
	extra, _ := strconv.ParseFloat(os.Getenv("EXTRA"), 64)
	a := &api{hits: map[string]int{}, extra: max(extra, 1)}
	mux := http.NewServeMux()
	mux.HandleFunc("/report", a.report)
	mux.HandleFunc("/list", a.list)
	srv := httptest.NewServer(mux)
	var b bytes.Buffer
	trace.Start(&b)
	var wg sync.WaitGroup
	until := time.Now().Add(800 * time.Millisecond)
	for c := range 2 {
		wg.Add(1)
		go func() {
			defer wg.Done()
			rnd := rand.New(rand.NewSource(int64(c)))
			for time.Now().Before(until) {
				path := "/report"
				if rnd.Intn(2) == 0 {
					path = "/list"
				}
				resp, err := http.Get(srv.URL + path)
				if err != nil {
					panic(err)
				}
				io.Copy(io.Discard, resp.Body)
				resp.Body.Close()
				time.Sleep(time.Duration(rnd.Intn(3)) * time.Millisecond)
			}
		}()
	}
	wg.Wait()
	trace.Stop()
	os.WriteFile(os.Getenv("GMPSCOPE_TRACE"), b.Bytes(), 0o644)
}
