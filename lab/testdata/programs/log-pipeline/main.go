// Log-pipeline takes access-log lines in chunks every 2 ms, and has three
// stages parse, enrich and encode them. The stages cost about the same, and
// are joined by buffered channels.
package main

import (
	"encoding/json"
	"fmt"
	"hash/fnv"
	"os"
	"slices"
	"strings"
	"time"

	"github.com/gmpscope/gmpscope/internal/testkit/rec"
)

const (
	chunks = 300
	lines  = 40
)

type entry struct {
	Client, Method, Path, Status string
	Region                       uint64
}

type chunk struct {
	came    time.Time
	raw     []string
	entries []entry
	encoded []byte
}

func main() {
	parsed, enriched, encoded := make(chan *chunk, 8), make(chan *chunk, 8), make(chan *chunk, 8)
	source := make(chan *chunk, 8)
	rec.Start()
	go readLog(source)
	go stage(source, parsed, parse)
	go stage(parsed, enriched, enrich)
	go stage(enriched, encoded, encode)
	var took []time.Duration
	for c := range encoded {
		took = append(took, time.Since(c.came))
	}
	rec.Stop()
	slices.Sort(took)
	fmt.Fprintf(os.Stderr, "proof: %d chunks through all stages in p50 %v, p99 %v\n",
		len(took), took[len(took)/2], took[len(took)*99/100])
}

func readLog(out chan<- *chunk) {
	defer close(out)
	ticker := time.NewTicker(2 * time.Millisecond)
	defer ticker.Stop()
	for n := range chunks {
		<-ticker.C
		c := &chunk{came: time.Now()}
		for i := range lines {
			c.raw = append(c.raw, fmt.Sprintf("10.0.%d.%d GET /articles/%d 200", n%256, i, n*i))
		}
		out <- c
	}
}

func stage(in <-chan *chunk, out chan<- *chunk, do func(*chunk)) {
	defer close(out)
	for c := range in {
		do(c)
		out <- c
	}
}

func parse(c *chunk) {
	for _, line := range c.raw {
		f := strings.Fields(line)
		c.entries = append(c.entries, entry{Client: f[0], Method: f[1], Path: f[2], Status: f[3]})
	}
}

func enrich(c *chunk) {
	for i := range c.entries {
		h := fnv.New64a()
		for range 12 {
			h.Write([]byte(c.entries[i].Client))
		}
		c.entries[i].Region = h.Sum64() % 16
	}
}

func encode(c *chunk) { c.encoded, _ = json.Marshal(c.entries) }
