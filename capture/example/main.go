// Example is a service that stalls now and then, and keeps a trace of it.
//
// Requests take some µs. Every two seconds a rebuild of an index keeps all Ps
// busy for 300 ms, so that requests wait for one. The capture's budget breaks, and
// the name of a trace is printed:
//
//	go run ./example -dir traces
//	gmpscope traces/svc-*.trace
package main

import (
	"flag"
	"fmt"
	"hash/crc32"
	"log"
	"net/http"
	"net/http/httptest"
	"runtime"
	"sync"
	"time"

	"github.com/gmpscope/gmpscope/capture"
)

func main() {
	log.SetFlags(0)
	dir := flag.String("dir", "traces", "`folder` for the traces")
	count := flag.Int("n", 1, "end after so many traces")
	flag.Parse()

	captured := make(chan capture.Trace)
	r, err := capture.Start(capture.Options{
		Dir:       *dir,
		Name:      "svc",
		Budget:    capture.Budget{Latency: 20 * time.Millisecond},
		Window:    2 * time.Second,
		Cooldown:  time.Second,
		OnCapture: func(t capture.Trace) { captured <- t },
		OnError:   func(err error) { log.Print(err) },
	})
	if err != nil {
		log.Fatal(err)
	}

	srv := httptest.NewServer(http.HandlerFunc(handle))
	for range 8 {
		go client(srv.URL)
	}
	go func() {
		for range time.Tick(2 * time.Second) {
			rebuildIndex(300 * time.Millisecond)
		}
	}()
	for range *count {
		t := <-captured
		fmt.Printf("%s\n\t%s\n", t.File, t.Reason)
	}
	r.Stop()
}

func handle(w http.ResponseWriter, _ *http.Request) { fmt.Fprintln(w, "hello") }

func client(url string) {
	for range time.Tick(5 * time.Millisecond) {
		if resp, err := http.Get(url); err == nil {
			resp.Body.Close()
		}
	}
}

// rebuildIndex keeps all Ps busy, with several goroutines each.
func rebuildIndex(d time.Duration) {
	var wg sync.WaitGroup
	end := time.Now().Add(d)
	for range 4 * runtime.GOMAXPROCS(0) {
		wg.Go(func() {
			page := make([]byte, 64<<10)
			for time.Now().Before(end) {
				crc32.ChecksumIEEE(page)
			}
		})
	}
	wg.Wait()
}
