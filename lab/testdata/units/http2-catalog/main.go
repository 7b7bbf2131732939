// Http2-catalog searches a catalog over HTTP/2 without encryption, many streams a connection.
package main

import (
	"fmt"
	"io"
	"math/rand/v2"
	"net"
	"net/http"
	"sync"
	"time"

	"github.com/gmpscope/gmpscope/lab/testdata/units/mark"
)

// shards of the catalog: one is far larger than the others.
var shards = [...]int{250, 300, 250, 300, 350, 250, 300, 6000}

func search(w http.ResponseWriter, r *http.Request) {
	defer mark.Begin("search").End()
	shard := 0
	if _, err := fmt.Sscan(r.URL.Query().Get("shard"), &shard); err != nil {
		http.Error(w, err.Error(), http.StatusBadRequest)
		return
	}
	scan(shards[shard])
	fmt.Fprintln(w, "found")
}

func scan(entries int) { mark.Work(entries) }

func reader(client *http.Client, url string, end time.Time) {
	for time.Now().Before(end) {
		shard := rand.IntN(len(shards) - 1)
		if rand.IntN(16) == 0 {
			shard = len(shards) - 1
		}
		answer, err := client.Get(fmt.Sprintf("%s/search?shard=%d", url, shard))
		mark.Check(err)
		_, err = io.Copy(io.Discard, answer.Body)
		mark.Check(err)
		answer.Body.Close()
		time.Sleep(time.Duration(4+rand.IntN(8)) * time.Millisecond)
	}
}

func main() {
	var plain http.Protocols
	plain.SetUnencryptedHTTP2(true)
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	mark.Check(err)
	server := &http.Server{Handler: http.HandlerFunc(search), Protocols: &plain}
	go server.Serve(listener)
	client := &http.Client{Transport: &http.Transport{Protocols: &plain}}
	mark.Start()
	end := time.Now().Add(time.Second)
	var readers sync.WaitGroup
	for range 6 {
		readers.Go(func() { reader(client, "http://"+listener.Addr().String(), end) })
	}
	readers.Wait()
	mark.Stop()
}
