// Fasthttp-pages renders pages. One renderer serves all connections.
package main

import (
	"math/rand/v2"
	"net"
	"sync"
	"time"

	"github.com/valyala/fasthttp"

	"github.com/gmpscope/gmpscope/lab/testdata/units/mark"
)

type renderer struct{ mu sync.Mutex }

func (r *renderer) render(lines int) {
	r.mu.Lock()
	defer r.mu.Unlock()
	mark.Work(lines)
}

func (r *renderer) page(ctx *fasthttp.RequestCtx) {
	defer mark.Begin("page").End()
	mark.Work(50)
	r.render(60)
	ctx.WriteString("page")
}

// sitemap renders all pages in one go.
func (r *renderer) sitemap() {
	for range time.Tick(80 * time.Millisecond) {
		r.render(9000)
	}
}

func visitor(address string, end time.Time) {
	client := &fasthttp.HostClient{Addr: address}
	for time.Now().Before(end) {
		_, _, err := client.Get(nil, "http://"+address)
		mark.Check(err)
		time.Sleep(time.Duration(3+rand.IntN(6)) * time.Millisecond)
	}
}

func main() {
	r := &renderer{}
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	mark.Check(err)
	go fasthttp.Serve(listener, r.page)
	go r.sitemap()
	mark.Start()
	end := time.Now().Add(time.Second)
	var visitors sync.WaitGroup
	for range 6 {
		visitors.Go(func() { visitor(listener.Addr().String(), end) })
	}
	visitors.Wait()
	mark.Stop()
}
