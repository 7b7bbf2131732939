package main

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"strings"

	"github.com/coder/websocket"
	"github.com/gin-gonic/gin"
	"github.com/go-chi/chi/v5"
	"github.com/go-chi/chi/v5/middleware"
	"github.com/gorilla/mux"
	"github.com/labstack/echo/v4"
	"github.com/quic-go/quic-go/http3"
	"github.com/valyala/fasthttp"
	"go.etcd.io/bbolt"
)

var servers = map[string]func() (server, error){
	"nethttp":   web(plain),
	"gin":       web(withGin),
	"echo":      web(withEcho),
	"chi":       web(withChi),
	"bbolt":     withBbolt,
	"http2":     withHTTP2,
	"http3":     withHTTP3,
	"fasthttp":  withFasthttp,
	"websocket": withWebsocket,
	"grpc":      withGRPC,
	"nats":      withNATS,
	"redis":     withRedis,
	"mqtt":      withMQTT,
	"mux":       web(withMux),
	"redcon":    withRedcon,
	"dns":       withDNS,
	"yamux":     withYamux,
}

// answer is what servers send.
var answer = map[string]any{"name": strings.Repeat("gopher ", 20), "numbers": make([]int, 100)}

// web serves HTTP/1.
func web(handler func() http.Handler) func() (server, error) {
	return func() (server, error) {
		s := httptest.NewServer(handler())
		return browser(s.Client(), s.URL), nil
	}
}

// browser makes clients that share a pool of connections.
func browser(c *http.Client, url string) server {
	if t, ok := c.Transport.(*http.Transport); ok {
		t.MaxIdleConnsPerHost = *clients
	}
	return func() (func() error, error) {
		return func() error {
			r, err := c.Get(url)
			if err != nil {
				return err
			}
			defer r.Body.Close()
			_, err = io.Copy(io.Discard, r.Body)
			if err == nil && r.StatusCode != http.StatusOK {
				err = fmt.Errorf("status %s", r.Status)
			}
			return err
		}, nil
	}
}

func plain() http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { _ = json.NewEncoder(w).Encode(answer) })
}

func withGin() http.Handler {
	gin.SetMode(gin.ReleaseMode)
	g := gin.New()
	g.Use(gin.Recovery())
	g.GET("/", func(c *gin.Context) { c.JSON(http.StatusOK, answer) })
	return g
}

func withEcho() http.Handler {
	e := echo.New()
	e.GET("/", func(c echo.Context) error { return c.JSON(http.StatusOK, answer) })
	return e
}

func withChi() http.Handler {
	c := chi.NewRouter()
	c.Use(middleware.Recoverer, middleware.Throttle(8), middleware.Compress(5))
	c.Method(http.MethodGet, "/", plain())
	return c
}

func withMux() http.Handler {
	m := mux.NewRouter()
	m.Handle("/{name:[a-z]*}", plain())
	return m
}

// withBbolt writes to a database in a file at every tenth request.
func withBbolt() (server, error) {
	dir, err := os.MkdirTemp("", "servers")
	if err != nil {
		return nil, err
	}
	db, err := bbolt.Open(dir+"/db", 0o600, nil)
	if err != nil {
		return nil, err
	}
	if err := os.RemoveAll(dir); err != nil { // it stays open
		return nil, err
	}
	bucket := []byte("numbers")
	increment := func(tx *bbolt.Tx) error {
		b, err := tx.CreateBucketIfNotExists(bucket)
		if err != nil {
			return err
		}
		n, err := b.NextSequence()
		if err != nil {
			return err
		}
		return b.Put(fmt.Appendf(nil, "%d", n%1000), fmt.Append(nil, n))
	}
	if err := db.Update(increment); err != nil {
		return nil, err
	}
	requests := make(chan int, 1)
	requests <- 0
	return web(func() http.Handler {
		return http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
			n := <-requests
			requests <- n + 1
			if n%10 == 0 {
				if err := db.Batch(increment); err != nil {
					http.Error(w, err.Error(), http.StatusInternalServerError)
					return
				}
			}
			_ = db.View(func(tx *bbolt.Tx) error {
				return tx.Bucket(bucket).ForEach(func(k, v []byte) error {
					_, err := w.Write(append(k, v...))
					return err
				})
			})
		})
	})()
}

func withHTTP2() (server, error) {
	s := httptest.NewUnstartedServer(plain())
	s.EnableHTTP2 = true
	s.StartTLS()
	return browser(s.Client(), s.URL), nil
}

func withHTTP3() (server, error) {
	certified := httptest.NewTLSServer(nil)
	conn, err := net.ListenPacket("udp", "127.0.0.1:0")
	if err != nil {
		return nil, err
	}
	s := &http3.Server{Handler: plain(), TLSConfig: http3.ConfigureTLSConfig(certified.TLS)}
	go func() { _ = s.Serve(conn) }()
	transport := &http3.Transport{TLSClientConfig: certified.Client().Transport.(*http.Transport).TLSClientConfig}
	return browser(&http.Client{Transport: transport}, "https://"+conn.LocalAddr().String()), nil
}

func withFasthttp() (server, error) {
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return nil, err
	}
	go func() {
		_ = fasthttp.Serve(listener, func(c *fasthttp.RequestCtx) { _ = json.NewEncoder(c).Encode(answer) })
	}()
	client := &fasthttp.HostClient{Addr: listener.Addr().String()}
	return func() (func() error, error) {
		return func() error {
			_, _, err := client.Get(nil, "http://"+client.Addr)
			return err
		}, nil
	}, nil
}

func withWebsocket() (server, error) {
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		c, err := websocket.Accept(w, r, nil)
		for err == nil {
			var kind websocket.MessageType
			var text []byte
			if kind, text, err = c.Read(r.Context()); err == nil {
				err = c.Write(r.Context(), kind, text)
			}
		}
	}))
	ctx := context.Background()
	return func() (func() error, error) {
		c, _, err := websocket.Dial(ctx, s.URL, nil)
		return func() error {
			if err := c.Write(ctx, websocket.MessageText, []byte("a message")); err != nil {
				return err
			}
			_, _, err := c.Read(ctx)
			return err
		}, err
	}, nil
}
