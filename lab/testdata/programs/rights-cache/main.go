// Rights-cache answers whether a user may do something. It remembers the
// rights of 160000 users, and asks the directory for those of others.
package main

import (
	"fmt"
	"os"
	"slices"
	"sync"
	"time"

	"github.com/gmpscope/gmpscope/internal/testkit/rec"
	"github.com/gmpscope/gmpscope/lab/testdata/programs/rights-cache/rights"
)

const (
	limit  = 160000
	checks = 700
	period = time.Millisecond
	asking = 3 * time.Millisecond // what the directory takes
)

func main() {
	c := fill(0)
	rec.Start()
	took := checkAll(c)
	rec.Stop()
	mended := checkAll(fill(32))
	fmt.Fprintf(os.Stderr, "proof: %d checks of known users, p50 %v, p90 %v; if one of a sample of 32 is forgotten, untraced: p50 %v, p90 %v\n",
		len(took), took[len(took)/2], took[len(took)*9/10], mended[len(mended)/2], mended[len(mended)*9/10])
}

func fill(sample int) *rights.Cache {
	c := rights.NewCache(limit)
	c.Sample = sample
	for user := range limit {
		c.Put(user, &rights.Grants{Roles: []string{"reader"}})
	}
	return c
}

// checkAll returns how long the checks of known users took, sorted.
func checkAll(c *rights.Cache) []time.Duration {
	took := make([]time.Duration, checks)
	var open sync.WaitGroup
	ticker := time.NewTicker(period)
	defer ticker.Stop()
	for n := range checks {
		<-ticker.C
		came := time.Now()
		open.Go(func() {
			if n%3 == 0 {
				check(c, limit+n)
				return
			}
			check(c, limit-1-n)
			took[n] = time.Since(came)
		})
	}
	open.Wait()
	took = slices.DeleteFunc(took, func(d time.Duration) bool { return d == 0 })
	slices.Sort(took)
	return took
}

func check(c *rights.Cache, user int) bool {
	g, ok := c.Get(user)
	if !ok {
		g = askDirectory(user)
		c.Put(user, g)
	}
	rec.Work(20)
	return slices.Contains(g.Roles, "reader")
}

func askDirectory(user int) *rights.Grants {
	time.Sleep(asking)
	return &rights.Grants{Roles: []string{"reader", fmt.Sprint("team ", user%90)}}
}
