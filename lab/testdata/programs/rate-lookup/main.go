// Rate-lookup prices quotes by rates that it fetches from another process.
package main

import (
	"fmt"
	"io"
	"net"
	"os"
	"os/exec"
	"sync"
	"time"

	"github.com/gmpscope/gmpscope/internal/testkit/rec"
)

type rateClient struct {
	mu    sync.Mutex
	conn  net.Conn
	asked time.Duration
}

func (c *rateClient) Fetch(pair byte) byte {
	c.mu.Lock()
	defer c.mu.Unlock()
	start := time.Now()
	b := []byte{pair}
	if _, err := c.conn.Write(b); err != nil {
		panic(err)
	}
	if _, err := io.ReadFull(c.conn, b); err != nil {
		panic(err)
	}
	c.asked += time.Since(start)
	return b[0]
}

func main() {
	if address := os.Getenv("RATE_SERVICE"); address != "" {
		answerRates(address)
		return
	}
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		panic(err)
	}
	service := exec.Command(os.Args[0])
	service.Env = append(os.Environ(), "RATE_SERVICE="+l.Addr().String())
	if err := service.Start(); err != nil {
		panic(err)
	}
	conn, err := l.Accept()
	if err != nil {
		panic(err)
	}
	c := &rateClient{conn: conn}
	var took [6]time.Duration
	var wg sync.WaitGroup
	rec.Start()
	start := time.Now()
	for i := range took {
		wg.Go(func() { took[i] = handleQuotes(c, byte(i)) })
	}
	wg.Wait()
	all := time.Since(start)
	rec.Stop()
	conn.Close()
	service.Wait()
	fmt.Fprintf(os.Stderr, "proof: of %v the connection was in use for %v; 10 quotes of each handler took %v\n", all, c.asked, took)
}

func handleQuotes(c *rateClient, pair byte) (took time.Duration) {
	for range 10 {
		start := time.Now()
		handleQuote(c, pair)
		took += time.Since(start)
	}
	return took
}

func handleQuote(c *rateClient, pair byte) {
	rec.Work(100 + int(c.Fetch(pair)))
}

// answerRates is the other process.
func answerRates(address string) {
	conn, err := net.Dial("tcp", address)
	if err != nil {
		panic(err)
	}
	b := make([]byte, 1)
	for {
		if _, err := conn.Read(b); err != nil {
			return
		}
		time.Sleep(8 * time.Millisecond)
		conn.Write(b)
	}
}
