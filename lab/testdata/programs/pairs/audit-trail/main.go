// Audit-trail writes a line of JSON for every access to a record. Before, the
// line was encoded under the trail's lock; after, it is encoded first, and the
// lock is held to append it.
package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"slices"
	"sync"
	"time"

	"github.com/gmpscope/gmpscope/internal/testkit/rec"
)

const (
	handlers = 6
	accesses = 1500
)

type access struct {
	User   string            `json:"user"`
	Record int               `json:"record"`
	At     time.Time         `json:"at"`
	Header map[string]string `json:"header"`
	Fields []string          `json:"fields"`
}

type trail struct {
	mu           sync.Mutex
	lines        bytes.Buffer
	encodeBefore bool
}

func main() {
	t := &trail{encodeBefore: os.Getenv("SIDE") == "after"}
	took := make([]time.Duration, handlers*accesses)
	rec.Start()
	begin := time.Now()
	var open sync.WaitGroup
	for id := range handlers {
		open.Go(func() { readRecords(t, id, took[id*accesses:][:accesses]) })
	}
	open.Wait()
	total := time.Since(begin)
	rec.Stop()
	slices.Sort(took)
	fmt.Fprintf(os.Stderr, "proof: %d accesses in %v, p50 %v, p99 %v\n", len(took), total.Round(time.Millisecond),
		took[len(took)/2], took[len(took)*99/100])
}

func readRecords(t *trail, id int, took []time.Duration) {
	header := make(map[string]string)
	for i := range 24 {
		header[fmt.Sprintf("X-Header-%d", i)] = fmt.Sprintf("value %d of %d", i, id)
	}
	fields := make([]string, 600)
	for i := range fields {
		fields[i] = fmt.Sprintf("field %d <of the record>", i)
	}
	for n := range took {
		begin := time.Now()
		t.log(access{fmt.Sprintf("user %d", id), n, begin, header, fields})
		took[n] = time.Since(begin)
	}
}

func (t *trail) log(a access) {
	if t.encodeBefore {
		line := encode(a)
		t.mu.Lock()
		t.append(line)
		t.mu.Unlock()
		return
	}
	t.mu.Lock()
	t.append(encode(a))
	t.mu.Unlock()
}

// append keeps the last megabyte.
func (t *trail) append(line []byte) {
	if t.lines.Len() > 1<<20 {
		t.lines.Reset()
	}
	t.lines.Write(line)
}

func encode(a access) []byte {
	line, err := json.Marshal(a)
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	return append(line, '\n')
}
