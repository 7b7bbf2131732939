// Auction-timeouts asks twelve bidders, services in another process, for each
// auction and takes the best bid that has come within the time allowed. Some
// bidders never make it in time, for which the time limit is there.
package main

import (
	"bufio"
	"context"
	"fmt"
	"net"
	"os"
	"slices"
	"sync"
	"time"

	"github.com/gmpscope/gmpscope/internal/testkit/rec"
)

const (
	auctions = 50
	period   = 12 * time.Millisecond
	allowed  = 25 * time.Millisecond
	bidders  = 12
)

type bidder struct {
	asks    chan ask
	conn    net.Conn
	replies *bufio.Scanner
}

type ask struct {
	auction int
	bids    chan<- int
}

func main() {
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	check(err)
	house := make([]*bidder, bidders)
	for i := range house {
		conn, err := net.Dial("tcp", listener.Addr().String())
		check(err)
		peer, err := listener.Accept()
		check(err)
		go runRemote(peer, i)
		house[i] = &bidder{make(chan ask), conn, bufio.NewScanner(conn)}
		go house[i].serve()
	}
	over := make([]time.Duration, auctions)
	answers := 0
	var mu sync.Mutex
	rec.Start()
	var open sync.WaitGroup
	ticker := time.NewTicker(period)
	for n := range auctions {
		<-ticker.C
		came := time.Now()
		open.Go(func() {
			got := holdAuction(house, n)
			over[n] = time.Since(came) - allowed
			mu.Lock()
			answers += got
			mu.Unlock()
		})
	}
	open.Wait()
	rec.Stop()
	slices.Sort(over)
	fmt.Fprintf(os.Stderr, "proof: %d auctions with a limit of %v each were over it by p50 %v, p90 %v; %.1f bids came in time for each, and 10 of the %d bidders are fast enough\n",
		auctions, allowed, over[auctions/2], over[auctions*9/10], float64(answers)/auctions, bidders)
}

// holdAuction returns the number of bids that came in time.
func holdAuction(house []*bidder, auction int) (got int) {
	ctx, cancel := context.WithTimeout(context.Background(), allowed)
	defer cancel()
	bids := make(chan int, len(house))
	for _, b := range house {
		select {
		case b.asks <- ask{auction, bids}:
		default: // it still has the last
		}
	}
	best := 0
	for {
		select {
		case bid := <-bids:
			best = max(best, bid)
			got++
		case <-ctx.Done():
			rec.Work(60)
			return got
		}
	}
}

// serve passes asks on to a bidder and its bids back.
func (b *bidder) serve() {
	for a := range b.asks {
		fmt.Fprintf(b.conn, "auction %d\n", a.auction)
		if !b.replies.Scan() {
			return
		}
		a.bids <- len(b.replies.Text())
	}
}

// runRemote stands for a bidder. Numbers 10 and 11 are too slow.
func runRemote(conn net.Conn, id int) {
	think := time.Duration(3+id/2) * time.Millisecond
	if id >= 10 {
		think = 2 * allowed
	}
	for lines := bufio.NewScanner(conn); lines.Scan(); {
		time.Sleep(think)
		fmt.Fprintln(conn, "bid")
	}
}

func check(err error) {
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}
