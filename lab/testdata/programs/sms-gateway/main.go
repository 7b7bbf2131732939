// Sms-gateway takes messages from many tenants and passes them on to the
// carrier, at most so many at a time.
package main

import (
	"fmt"
	"os"
	"sync"
	"sync/atomic"
	"time"

	"github.com/gmpscope/gmpscope/internal/testkit/rec"
)

const (
	maxInFlight = 2
	carrierTime = 7 * time.Millisecond
	tenants     = 12
	perTenant   = 8
)

type carrier struct {
	slots  chan struct{}
	waited atomic.Int64
	inUse  atomic.Int64
}

func newCarrier() *carrier { return &carrier{slots: make(chan struct{}, maxInFlight)} }

// Send passes one message on, and returns when the carrier has taken it.
func (c *carrier) Send(to string, text []byte) {
	came := time.Now()
	c.slots <- struct{}{}
	start := time.Now()
	c.waited.Add(int64(start.Sub(came)))
	defer func() {
		c.inUse.Add(int64(time.Since(start)))
		<-c.slots
	}()
	c.submit(to, text)
}

// submit stands for the request to the carrier, which answers after a while.
func (c *carrier) submit(string, []byte) { time.Sleep(carrierTime) }

func main() {
	c := newCarrier()
	var open sync.WaitGroup
	rec.Start()
	start := time.Now()
	for tenant := range tenants {
		open.Go(func() { serveTenant(c, tenant) })
	}
	open.Wait()
	took := time.Since(start)
	rec.Stop()
	fmt.Fprintf(os.Stderr, "proof: %d messages waited %v in sum for one of %d slots, which were in use for %v of %d × %v\n", tenants*perTenant,
		time.Duration(c.waited.Load()), maxInFlight, time.Duration(c.inUse.Load()), maxInFlight, took)
}

func serveTenant(c *carrier, tenant int) {
	for n := range perTenant {
		to, text := encodeMessage(tenant, n)
		c.Send(to, text)
	}
}

func encodeMessage(tenant, n int) (to string, text []byte) {
	rec.Work(80)
	return fmt.Sprintf("+49151%07d", tenant*1000+n), fmt.Appendf(nil, "Your code is %06d", n*7919)
}
