// Customs-proxy asks the customs office about parcels for a web shop. The
// office is another process, and slow.
package main

import (
	"bufio"
	"context"
	"fmt"
	"net"
	"net/http"
	"os"
	"os/exec"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/gmpscope/gmpscope/internal/testkit/rec"
)

const (
	parcels = 240
	period  = 4 * time.Millisecond
	asking  = 45 * time.Millisecond // what the office takes for the quickest
	role    = "CUSTOMS_OFFICE"
)

func main() {
	if os.Getenv(role) != "" {
		office()
		return
	}
	addr, stop := startOffice()
	defer stop()
	p := &proxy{office: addr, client: &http.Client{Transport: &http.Transport{MaxIdleConnsPerHost: parcels}}}
	took := make([]time.Duration, parcels)
	rec.Start()
	var open sync.WaitGroup
	ticker := time.NewTicker(period)
	for n := range parcels {
		<-ticker.C
		open.Go(func() { took[n] = p.declare(n) })
	}
	open.Wait()
	rec.Stop()
	slices.Sort(took)
	own := time.Duration(p.own.Load() / parcels)
	fmt.Fprintf(os.Stderr, "proof: %d parcels, p50 %v, p99 %v, of which the office takes %v to %v; %v each besides on average\n",
		parcels, took[parcels/2], took[parcels*99/100], asking, 2*asking, own)
}

type proxy struct {
	office string
	client *http.Client
	own    atomic.Int64 // nanoseconds beyond what the office says it took
}

func (p *proxy) declare(parcel int) time.Duration {
	begin := time.Now()
	ctx, cancel := context.WithTimeout(context.Background(), time.Second)
	defer cancel()
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, fmt.Sprintf("http://%s/?parcel=%d", p.office, parcel), nil)
	if err != nil {
		return 0
	}
	answer, err := p.client.Do(request)
	if err != nil {
		return 0
	}
	defer answer.Body.Close()
	line, _ := bufio.NewReader(answer.Body).ReadString('\n')
	office, _ := time.ParseDuration(strings.TrimSpace(line))
	rec.Work(60)
	took := time.Since(begin)
	p.own.Add(int64(took - office))
	return took
}

// office is the customs office, until its standard input ends.
func office() {
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		os.Exit(1)
	}
	var calls atomic.Int64
	go http.Serve(listener, http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		begin := time.Now()
		time.Sleep(asking + time.Duration(calls.Add(1)*17%45)*time.Millisecond)
		fmt.Fprintln(w, time.Since(begin))
	}))
	fmt.Println(listener.Addr())
	bufio.NewReader(os.Stdin).ReadByte()
}

func startOffice() (addr string, stop func()) {
	c := exec.Command(os.Args[0])
	c.Env = append(os.Environ(), role+"=1", "GOMAXPROCS=1")
	in, err := c.StdinPipe()
	if err != nil {
		panic(err)
	}
	out, err := c.StdoutPipe()
	if err != nil {
		panic(err)
	}
	if err := c.Start(); err != nil {
		panic(err)
	}
	line, err := bufio.NewReader(out).ReadString('\n')
	if err != nil {
		panic(err)
	}
	return strings.TrimSpace(line), func() {
		in.Close()
		c.Wait()
	}
}
