// Order-dispatch passes orders on to a warehouse, whose answer takes 3 ms.
// Orders come at 400 a second. Before, a dispatcher passed them on one by one;
// after, each order has a goroutine of its own.
package main

import (
	"context"
	"crypto/sha256"
	"fmt"
	"os"
	"runtime/trace"
	"slices"
	"sync"
	"time"

	"github.com/gmpscope/gmpscope/internal/testkit/rec"
)

const orders = 220

type order struct {
	id   int
	came time.Time
	ctx  context.Context
	task *trace.Task
}

type dispatcher struct {
	queue chan order
	took  []time.Duration
	open  sync.WaitGroup
}

func main() {
	each := os.Getenv("SIDE") == "after"
	d := &dispatcher{queue: make(chan order, orders), took: make([]time.Duration, orders)}
	rec.Start()
	if !each {
		go d.run()
	}
	d.open.Add(orders)
	ticker := time.NewTicker(2500 * time.Microsecond)
	for id := range orders {
		<-ticker.C
		ctx, task := trace.NewTask(context.Background(), "order")
		o := order{id, time.Now(), ctx, task}
		if each {
			go d.passOn(o)
		} else {
			d.queue <- o
		}
	}
	d.open.Wait()
	rec.Stop()
	slices.Sort(d.took)
	fmt.Fprintf(os.Stderr, "proof: %d orders, p50 %v, p99 %v\n", orders, d.took[orders/2], d.took[orders*99/100])
}

func (d *dispatcher) run() {
	for o := range d.queue {
		d.passOn(o)
	}
}

func (d *dispatcher) passOn(o order) {
	defer d.open.Done()
	defer o.task.End()
	sum := sha256.Sum256(fmt.Appendf(nil, "order %d", o.id))
	trace.WithRegion(o.ctx, "warehouse", func() { askWarehouse(sum) })
	d.took[o.id] = time.Since(o.came)
}

// askWarehouse stands in for a call over the network.
func askWarehouse(sum [sha256.Size]byte) { time.Sleep(3 * time.Millisecond) }
