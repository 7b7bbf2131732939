// Budget-stripes accounts for what the campaigns of an ad exchange spend. The
// sums are kept in 16 stripes with a mutex each, and each new sum is reported
// to the pacing service in another process before the next may change it.
package main

import (
	"bufio"
	"fmt"
	"hash/fnv"
	"net"
	"os"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/gmpscope/gmpscope/internal/testkit/rec"
)

const (
	bidders = 12
	bids    = 24
	answer  = 2 * time.Millisecond
)

type stripe struct {
	mu    sync.Mutex
	spent map[string]int
}

type budgets struct {
	stripes [16]stripe
	waited  atomic.Int64
}

func main() {
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	check(err)
	go servePacing(listener)
	var b budgets
	for i := range b.stripes {
		b.stripes[i].spent = make(map[string]int)
	}
	clients := make([]*pacing, bidders)
	for i := range clients {
		conn, err := net.Dial("tcp", listener.Addr().String())
		check(err)
		clients[i] = &pacing{conn, bufio.NewReader(conn)}
	}
	alone := time.Now()
	for i := range 10 {
		b.Spend(clients[0], fmt.Sprintf("warmup/%d", i), 1)
	}
	one := time.Since(alone) / 10
	rec.Start()
	start := time.Now()
	var open sync.WaitGroup
	for id, client := range clients {
		open.Go(func() { bid(&b, client, id) })
	}
	open.Wait()
	took := time.Since(start)
	rec.Stop()
	waited := time.Duration(b.waited.Load())
	fmt.Fprintf(os.Stderr, "proof: %d bidders with a campaign each made %d bids each in %v; %v of the %v of their time they waited for a stripe; one bid alone takes %v\n",
		bidders, bids, took, waited, bidders*took, one)
}

func bid(b *budgets, client *pacing, id int) {
	for n := range bids {
		b.Spend(client, fmt.Sprintf("northwind/campaign-%d", id), 10+n)
		rec.Work(50)
	}
}

// Spend adds to what the campaign has spent, and tells the pacing service.
func (b *budgets) Spend(client *pacing, campaign string, cents int) {
	s := b.stripeOf(campaign)
	start := time.Now()
	s.mu.Lock()
	defer s.mu.Unlock()
	b.waited.Add(int64(time.Since(start)))
	s.spent[campaign] += cents
	client.report(campaign, s.spent[campaign])
}

func (b *budgets) stripeOf(campaign string) *stripe {
	advertiser, _, _ := strings.Cut(campaign, "/")
	h := fnv.New32a()
	h.Write([]byte(advertiser))
	return &b.stripes[h.Sum32()%16]
}

type pacing struct {
	conn    net.Conn
	replies *bufio.Reader
}

func (p *pacing) report(campaign string, spent int) {
	_, err := fmt.Fprintf(p.conn, "%s %d\n", campaign, spent)
	check(err)
	_, err = p.replies.ReadString('\n')
	check(err)
}

func servePacing(listener net.Listener) {
	for {
		conn, err := listener.Accept()
		if err != nil {
			return
		}
		go func() {
			lines := bufio.NewScanner(conn)
			for lines.Scan() {
				time.Sleep(answer)
				fmt.Fprintln(conn, "ok")
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
