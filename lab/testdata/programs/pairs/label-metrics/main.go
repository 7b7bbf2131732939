// Label-metrics is a search service. After the change each search is also
// counted by its labels in a registry that all searches share; the registry
// brings the labels into order under its lock.
package main

import (
	"fmt"
	"os"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/gmpscope/gmpscope/internal/testkit/rec"
)

const (
	users    = 6
	searches = 700
)

type registry struct {
	mu     sync.Mutex
	counts map[string]int
}

type engine struct {
	articles []string
	metrics  *registry
}

func main() {
	e := &engine{}
	for i := range 500 {
		e.articles = append(e.articles, fmt.Sprintf("article %d about gardens, number %d of many", i, i*i))
	}
	if os.Getenv("SIDE") == "after" {
		e.metrics = &registry{counts: make(map[string]int)}
	}
	took := make([]time.Duration, users*searches)
	rec.Start()
	begin := time.Now()
	var open sync.WaitGroup
	for id := range users {
		open.Go(func() {
			for n := range searches {
				begin := time.Now()
				e.search(id, n)
				took[id*searches+n] = time.Since(begin)
			}
		})
	}
	open.Wait()
	total := time.Since(begin)
	rec.Stop()
	slices.Sort(took)
	fmt.Fprintf(os.Stderr, "proof: %d searches in %v, p50 %v, p99 %v\n", len(took), total.Round(time.Millisecond),
		took[len(took)/2], took[len(took)*99/100])
}

func (e *engine) search(user, n int) (hits int) {
	term := fmt.Sprintf("number %d", n)
	for _, article := range e.articles {
		if strings.Contains(strings.ToUpper(article), strings.ToUpper(term)) {
			hits++
		}
	}
	if e.metrics != nil {
		e.metrics.count(user, n, hits)
	}
	return hits
}

func (r *registry) count(user, n, hits int) {
	r.mu.Lock()
	defer r.mu.Unlock()
	labels := make([]string, 0, 300)
	for i := range 300 {
		labels = append(labels, fmt.Sprintf("label_%d=%d", (i*7919+n)%300, user+hits))
	}
	slices.Sort(labels)
	r.counts[strings.Join(labels, ",")[:64]]++
}
