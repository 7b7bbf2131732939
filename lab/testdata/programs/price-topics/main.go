// Price-topics publishes the prices of a few stocks to five subscribers, each
// with a buffered channel; who falls behind loses the oldest price.
package main

import (
	"fmt"
	"math"
	"os"
	"slices"
	"sync"
	"time"

	"github.com/gmpscope/gmpscope/internal/testkit/rec"
)

const (
	subscribers = 5
	prices      = 200
	period      = 3 * time.Millisecond
)

type price struct {
	symbol string
	value  float64
	at     time.Time
}

type topic struct {
	subscriptions []chan price
	lost          int
}

type trader struct {
	name    string
	average float64
	delays  []time.Duration
}

func main() {
	t := &topic{}
	var traders []*trader
	var trading sync.WaitGroup
	rec.Start()
	for i := range subscribers {
		tr := &trader{name: fmt.Sprintf("desk %d", i)}
		traders = append(traders, tr)
		inbox := t.subscribe()
		trading.Go(func() { tr.follow(inbox) })
	}
	t.publishPrices()
	trading.Wait()
	rec.Stop()
	var delays []time.Duration
	for _, tr := range traders {
		delays = append(delays, tr.delays...)
	}
	slices.Sort(delays)
	fmt.Fprintf(os.Stderr, "proof: %d prices handled, %d lost, known after p50 %v, p99 %v\n", len(delays), t.lost,
		delays[len(delays)/2], delays[len(delays)*99/100])
}

func (t *topic) subscribe() <-chan price {
	c := make(chan price, 16)
	t.subscriptions = append(t.subscriptions, c)
	return c
}

func (t *topic) publishPrices() {
	ticker := time.NewTicker(period)
	defer ticker.Stop()
	for n := range prices {
		<-ticker.C
		p := price{[]string{"AAA", "BBB", "CCC"}[n%3], 100 + 5*math.Sin(float64(n)/9), time.Now()}
		for _, s := range t.subscriptions {
			select {
			case s <- p:
			default:
				<-s
				t.lost++
				s <- p
			}
		}
	}
	for _, s := range t.subscriptions {
		close(s)
	}
}

func (t *trader) follow(inbox <-chan price) {
	for p := range inbox {
		t.delays = append(t.delays, time.Since(p.at))
		for i := range 2000 {
			t.average += (p.value - t.average) / float64(10+i)
		}
	}
}
