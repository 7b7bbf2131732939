// Tile-prefetch is the cache of a map viewer: it fetches tiles from a tile
// server, and also those around them, which the user may want next.
package main

import (
	"fmt"
	"io"
	"math/rand/v2"
	"net"
	"os"
	"slices"
	"sync"
	"time"

	"github.com/gmpscope/gmpscope/internal/testkit/rec"
)

const (
	fetchers  = 4
	backlog   = 96
	viewers   = 3
	radius    = 3
	serveTime = 2 * time.Millisecond
	session   = 1000 * time.Millisecond
)

type tileID struct{ x, y int }

type fetch struct {
	id   tileID
	done chan []byte // nil if nobody waits
}

type tileCache struct {
	queue   chan fetch
	mu      sync.Mutex
	tiles   map[tileID][]byte
	fetched int
}

// Tile returns a tile, from memory or from the server.
func (c *tileCache) Tile(id tileID) []byte {
	c.mu.Lock()
	data := c.tiles[id]
	c.mu.Unlock()
	if data != nil {
		return data
	}
	f := fetch{id, make(chan []byte, 1)}
	c.queue <- f
	return <-f.done
}

// Prefetch asks for all tiles around one, as long as there is room in the queue.
func (c *tileCache) Prefetch(center tileID) {
	for dx := -radius; dx <= radius; dx++ {
		for dy := -radius; dy <= radius; dy++ {
			select {
			case c.queue <- fetch{id: tileID{center.x + dx, center.y + dy}}:
			default:
				return
			}
		}
	}
}

// fetchLoop fetches what is in the queue over a connection of its own.
func (c *tileCache) fetchLoop(address string) {
	conn, err := net.Dial("tcp", address)
	check(err)
	for f := range c.queue {
		_, err := conn.Write([]byte{1})
		check(err)
		data := make([]byte, 2048)
		_, err = io.ReadFull(conn, data)
		check(err)
		c.mu.Lock()
		c.tiles[f.id] = data
		c.fetched++
		c.mu.Unlock()
		if f.done != nil {
			f.done <- data
		}
	}
}

// browse looks at one place after another until end.
func browse(c *tileCache, seed uint64, end time.Time) (took []time.Duration) {
	rng := rand.New(rand.NewPCG(seed, seed))
	for time.Now().Before(end) {
		at := tileID{rng.IntN(1 << 20), rng.IntN(1 << 20)}
		start := time.Now()
		tile := c.Tile(at)
		took = append(took, time.Since(start))
		drawTile(tile)
		c.Prefetch(at)
		time.Sleep(8 * time.Millisecond)
	}
	return took
}

func drawTile(tile []byte) { rec.Work(len(tile) / 20) }

func main() {
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	check(err)
	go serveTiles(listener)
	cache := &tileCache{queue: make(chan fetch, backlog), tiles: make(map[tileID][]byte)}
	rec.Start()
	for range fetchers {
		go cache.fetchLoop(listener.Addr().String())
	}
	end := time.Now().Add(session)
	waits := make([][]time.Duration, viewers)
	var all sync.WaitGroup
	for id := range viewers {
		all.Go(func() { waits[id] = browse(cache, uint64(id), end) })
	}
	all.Wait()
	rec.Stop()
	took := slices.Concat(waits...)
	slices.Sort(took)
	cache.mu.Lock()
	fetched := cache.fetched
	cache.mu.Unlock()
	fmt.Fprintf(os.Stderr, "proof: the tiles that users looked at took p50 %v, p90 %v (%v on the server); %d looked at, %d fetched\n",
		took[len(took)/2], took[len(took)*9/10], serveTime, len(took), fetched)
}

func serveTiles(listener net.Listener) {
	for {
		conn, err := listener.Accept()
		if err != nil {
			return
		}
		go func() {
			var request [1]byte
			for {
				if _, err := conn.Read(request[:]); err != nil {
					return
				}
				time.Sleep(serveTime)
				conn.Write(make([]byte, 2048))
			}
		}()
	}
}

func check(err error) {
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}
