package events

import (
	"bytes"
	"io"
	"path/filepath"
	"testing"

	"github.com/gmpscope/gmpscope/analyze/input"
	"github.com/gmpscope/gmpscope/internal/testkit/stretch"
	"github.com/gmpscope/gmpscope/internal/testkit/tracetest"
)

// TestAllocations bounds what one more event allocates until it is handed on: the
// difference between a long trace and a short one of the same kind. Most of it is
// the tables of the generations. A generation of "dense" has about 10,000 events,
// one of "mixed" 2,700 and many more stacks.
func TestAllocations(t *testing.T) {
	for _, c := range []struct {
		name  string
		bound float64
	}{
		{"dense", 0.030},
		{"mixed", 0.31},
	} {
		l, err := stretch.Find(tracetest.Unpacked(t, filepath.Join("..", "..", "internal", "testkit", "stretch", "testdata", c.name+".trace.gz")))
		if err != nil {
			t.Fatal(err)
		}
		count := func(n int) (events, allocs float64) {
			var data bytes.Buffer
			if err := l.Write(&data, n); err != nil {
				t.Fatal(err)
			}
			allocs = testing.AllocsPerRun(1, func() { events = inOneGoroutine(t, data.Bytes()) })
			return events, allocs
		}
		shortEvents, shortAllocs := count(8)
		longEvents, longAllocs := count(16)
		each := (longAllocs - shortAllocs) / (longEvents - shortEvents)
		t.Logf("%s: %.4f allocations for each of %.0f more events", c.name, each, longEvents-shortEvents)
		if each > c.bound {
			t.Errorf("%s: %.4f allocations for each event, more than %v", c.name, each, c.bound)
		}
	}
}

// inOneGoroutine does what a Stream does, but decodes each generation before it
// looks at its events, so that what is allocated is the same each time.
func inOneGoroutine(t *testing.T, data []byte) (events float64) {
	t.Helper()
	src, err := input.New(bytes.NewReader(data), "memory")
	if err != nil {
		t.Fatal(err)
	}
	defer src.Close()
	s := &Stream{Tables: NewTables(), ctx: t.Context(), free: make(chan []Event, 2*queuedBlocks)}
	for {
		gen, err := src.Next()
		if err == io.EOF {
			return float64(s.stats.Events)
		}
		if err != nil {
			t.Fatal(err)
		}
		j := &job{gen: gen, blocks: make(chan *block, 100)}
		decode(anyWork(), gen, nil, false, s.free, func(b *block) bool {
			j.blocks <- b
			return true
		})
		close(j.blocks)
		s.order = make(chan *job, 1)
		s.order <- j
		close(s.order)
		for err == nil {
			_, err = s.Next()
		}
		if err != io.EOF {
			t.Fatal(err)
		}
	}
}
