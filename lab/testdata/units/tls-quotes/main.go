// Tls-quotes gives quotes over TLS. What it needs for them comes over a pool of connections.
package main

import (
	"crypto/tls"
	"fmt"
	"io"
	"math/rand/v2"
	"net/http"
	"net/http/httptest"
	"net/textproto"
	"sync"
	"time"

	"github.com/gmpscope/gmpscope/lab/testdata/units/backend"
	"github.com/gmpscope/gmpscope/lab/testdata/units/mark"
)

// pool is of two connections, for eight clients.
type pool chan *textproto.Conn

func (p pool) get() *textproto.Conn { return <-p }

func (p pool) put(c *textproto.Conn) { p <- c }

func (p pool) ask(micros int) {
	c := p.get()
	defer p.put(c)
	mark.Check(c.PrintfLine("%d", micros))
	_, err := c.ReadLine()
	mark.Check(err)
}

// archive keeps a connection for long, now and then.
func (p pool) archive() {
	for range time.Tick(50 * time.Millisecond) {
		p.ask(14000)
	}
}

func (p pool) quote(w http.ResponseWriter, r *http.Request) {
	defer mark.Begin("quote").End()
	p.ask(1000)
	mark.Work(100)
	fmt.Fprintln(w, "101.3")
}

func trader(config *tls.Config, url string, end time.Time) {
	client := &http.Client{Transport: &http.Transport{TLSClientConfig: config}}
	for time.Now().Before(end) {
		answer, err := client.Get(url)
		mark.Check(err)
		_, err = io.Copy(io.Discard, answer.Body)
		mark.Check(err)
		answer.Body.Close()
		time.Sleep(time.Duration(6+rand.IntN(8)) * time.Millisecond)
	}
}

func main() {
	p := make(pool, 2)
	for range cap(p) {
		p.put(backend.Dial())
	}
	server := httptest.NewTLSServer(http.HandlerFunc(p.quote))
	config := server.Client().Transport.(*http.Transport).TLSClientConfig
	for range cap(p) {
		go p.archive()
	}
	mark.Start()
	end := time.Now().Add(time.Second)
	var traders sync.WaitGroup
	for range 8 {
		traders.Go(func() { trader(config, server.URL, end) })
	}
	traders.Wait()
	mark.Stop()
}
