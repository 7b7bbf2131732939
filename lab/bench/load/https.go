package main

import (
	"io"
	"log"
	"net/http"
	"net/http/httptest"
	"sync"
)

// https serves size requests over TLS, each of which leaves garbage.
func https(size int) func() {
	const clients = 32
	server := httptest.NewTLSServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		rows := make([][]byte, 16)
		for i := range rows {
			rows[i] = make([]byte, 4<<10)
		}
		if _, err := w.Write(rows[0]); err != nil {
			log.Print(err)
		}
	}))
	client := server.Client()
	client.Transport.(*http.Transport).MaxIdleConnsPerHost = clients
	return func() {
		var all sync.WaitGroup
		for range clients {
			all.Go(func() {
				for range size / clients {
					r, err := client.Get(server.URL)
					if err != nil {
						log.Fatal(err)
					}
					if _, err := io.Copy(io.Discard, r.Body); err != nil {
						log.Fatal(err)
					}
					r.Body.Close()
				}
			})
		}
		all.Wait()
	}
}
