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
	lines := 60
	if string(ctx.Path()) == "/sitemap" {
		lines = 7000
	}
	r.render(lines)
	ctx.WriteString("page")
}

func visitor(address string, end time.Time) {
	client := &fasthttp.HostClient{Addr: address}
	for time.Now().Before(end) {
		path := "/page"
		if rand.IntN(40) == 0 {
			path = "/sitemap"
		}
		_, _, err := client.Get(nil, "http://"+address+path)
		mark.Check(err)
		time.Sleep(time.Duration(3+rand.IntN(6)) * time.Millisecond)
	}
}

func main() {
	r := &renderer{}
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	mark.Check(err)
	go fasthttp.Serve(listener, r.page)
	mark.Start()
	end := time.Now().Add(time.Second)
	var visitors sync.WaitGroup
	for range 6 {
		visitors.Go(func() { visitor(listener.Addr().String(), end) })
	}
	visitors.Wait()
	mark.Stop()
}
