package bench

import (
	"bytes"
	"context"
	"io"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"testing"
	"time"

	"github.com/gmpscope/gmpscope/analyze"
	"github.com/gmpscope/gmpscope/analyze/breakdown"
	"github.com/gmpscope/gmpscope/analyze/events"
	"github.com/gmpscope/gmpscope/analyze/fairness"
	"github.com/gmpscope/gmpscope/analyze/findings"
	"github.com/gmpscope/gmpscope/analyze/findings/all"
	"github.com/gmpscope/gmpscope/analyze/input"
	"github.com/gmpscope/gmpscope/analyze/ledger"
	"github.com/gmpscope/gmpscope/analyze/procs"
	"github.com/gmpscope/gmpscope/analyze/reconstruct"
	"github.com/gmpscope/gmpscope/analyze/timeline"
	"github.com/gmpscope/gmpscope/analyze/waits"
	"github.com/gmpscope/gmpscope/internal/testkit/stretch"
	"github.com/gmpscope/gmpscope/internal/testkit/tracetest"
	"github.com/gmpscope/gmpscope/reference"
)

// stretched returns a recorded trace with its repeatable part n times more.
func stretched(t *testing.T, name string, n int) []byte {
	t.Helper()
	l, err := stretch.Find(tracetest.Unpacked(t, filepath.Join("..", "..", "internal", "testkit", "stretch", "testdata", name+".trace.gz")))
	if err != nil {
		t.Fatal(err)
	}
	var b bytes.Buffer
	if err := l.Write(&b, n); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

func analysed(t *testing.T, data []byte) *analyze.Result {
	t.Helper()
	src, err := input.New(bytes.NewReader(data), "memory")
	if err != nil {
		t.Fatal(err)
	}
	defer src.Close()
	r, err := analyze.Run(t.Context(), src, analyze.Options{})
	if err != nil {
		t.Fatal(err)
	}
	if n := len(r.Trace.Warnings); n > 0 {
		t.Fatalf("warnings about the trace: %v", r.Trace.Warnings)
	}
	return r
}

// pipeline is the steps of an analysis that keep something, put together as in
// [analyze.Run], but one after the other: what they hold is the same each time.
type pipeline struct {
	tables    *events.Tables
	rec       *reconstruct.Reconstructor
	feed      *ledger.Feed
	waits     *waits.Accumulator
	procs     *procs.Accumulator
	fair      *fairness.Accumulator
	breakdown *breakdown.Accumulator
	timeline  *timeline.Accumulator
	found     *findings.Set
	marked    []timeline.Marked
}

func newPipeline(tables *events.Tables) *pipeline {
	s := &pipeline{
		tables: tables, procs: procs.New(),
		fair: fairness.New(), breakdown: breakdown.New(ledger.Part{}), timeline: timeline.New(timeline.Options{}),
		found: findings.NewSet(all.Detectors(all.Default())),
	}
	s.waits = waits.New(waits.Options{
		Text: func(h int32) string { return tables.Name(events.Handle(h)) },
		Frames: func(h int32) (lines []string) {
			for _, f := range tables.Frames(events.Handle(h)) {
				lines = append(lines, f.Func)
			}
			return lines
		},
	})
	s.feed = ledger.NewFeed(s.waits.Add, s.procs.Add, s.fair.Add, s.breakdown.Add, func(b *ledger.Block) {
		s.marked = s.marked[:0]
		for _, w := range s.waits.Longest {
			s.marked = append(s.marked, timeline.Marked{At: w.At, From: w.From, To: w.To})
		}
		s.timeline.Add(b, nil, 0, s.marked...)
	}, s.found.Add)
	s.rec = reconstruct.New(tables, reconstruct.Options{Rules: reference.RulesFor(26), Emit: s.take})
	return s
}

func (s *pipeline) take(ds []reference.Decision) []reference.Decision {
	s.feed.AddAll(ds)
	return ds[:0]
}

// decoded calls see with all events of a trace, and returns the tables that they refer to.
func decoded(t *testing.T, data []byte, see func(*events.Tables, []events.Event)) *events.Tables {
	t.Helper()
	src, err := input.New(bytes.NewReader(data), "memory")
	if err != nil {
		t.Fatal(err)
	}
	defer src.Close()
	stream := events.New(t.Context(), src, events.Options{Workers: 1})
	defer stream.Close()
	for {
		evs, err := stream.Next()
		if err == io.EOF {
			return stream.Tables
		}
		if err != nil {
			t.Fatal(err)
		}
		see(stream.Tables, evs)
	}
}

// TestAllocations bounds what one more event allocates in the steps: the difference
// between a long trace and a short one of the same kind. What its decoding
// allocates, package events holds.
func TestAllocations(t *testing.T) {
	for _, c := range []struct {
		name  string
		bound float64
	}{
		{"dense", 0.001},
		{"mixed", 0.01},
	} {
		count := func(n int) (total, allocs float64) {
			var blocks [][]events.Event
			tables := decoded(t, stretched(t, c.name, n), func(_ *events.Tables, evs []events.Event) {
				blocks = append(blocks, slices.Clone(evs))
				total += float64(len(evs))
			})
			allocs = testing.AllocsPerRun(1, func() {
				s := newPipeline(tables)
				for _, evs := range blocks {
					s.rec.Add(evs)
				}
			})
			return total, allocs
		}
		shortEvents, shortAllocs := count(8)
		longEvents, longAllocs := count(16)
		each := (longAllocs - shortAllocs) / (longEvents - shortEvents)
		t.Logf("%s: %.5f allocations for each of %.0f more events", c.name, each, longEvents-shortEvents)
		if each > c.bound {
			t.Errorf("%s: %.5f allocations for each event, more than %v", c.name, each, c.bound)
		}
	}
}

// held returns how many bytes the steps hold that have seen a whole trace but are
// not finished.
func held(t *testing.T, data []byte) int64 {
	t.Helper()
	var s *pipeline
	decoded(t, data, func(tables *events.Tables, evs []events.Event) {
		if s == nil {
			s = newPipeline(tables)
		}
		s.rec.Add(evs)
	})
	return size(s)
}

// TestLength has a trace grow to twice its length, with as many goroutines at a
// time, but twice as many in all: neither what the analysis holds nor its result
// may grow with it. What they keep at bounded resolution may fill up.
func TestLength(t *testing.T) {
	const (
		moreHeld   = 64 << 10
		moreResult = 16 << 10
	)
	short, long := stretched(t, "mixed", 40), stretched(t, "mixed", 80)
	a, b := held(t, short), held(t, long)
	t.Logf("the steps hold %d bytes, then %d", a, b)
	if b-a > moreHeld {
		t.Errorf("the analysis of a trace twice as long holds %d bytes more", b-a)
	}
	a, b = size(analysed(t, short)), size(analysed(t, long))
	t.Logf("the result has %d bytes, then %d", a, b)
	if b-a > moreResult {
		t.Errorf("the result for a trace twice as long has %d bytes more", b-a)
	}
}

// TestLiveGoroutines bounds what a goroutine costs that is alive. Already few of
// them make so many events that the window of the reconstruction is full, whose
// size is bounded. With what the heap grows by until the collector comes, a goroutine that waits
// for a P takes what analyze.Options.MaxMemory counts for it.
func TestLiveGoroutines(t *testing.T) {
	const few, many = 75_000, 200_000
	for _, c := range []struct {
		what    string
		blocked bool
		most    float64
	}{{"is blocked", true, 800}, {"waits for a P", false, 1190}} {
		got := float64(crowd(many, c.blocked)-crowd(few, c.blocked)) / (many - few)
		t.Logf("%.0f bytes for a goroutine that %s", got, c.what)
		if got > c.most {
			t.Errorf("%.0f bytes for each goroutine that %s, more than %.0f", got, c.what, c.most)
		}
	}
}

// crowd returns how many bytes the steps hold when one goroutine has created n
// others, one after the other, that ran, and are blocked or wait for a P.
func crowd(n int64, blocked bool) int64 {
	tables := events.NewTables()
	s := newPipeline(tables)
	var block []events.Event
	now := int64(0)
	add := func(e events.Event) {
		e.Time, e.M = now, 1
		now += 100
		if block = append(block, e); len(block) == cap(block) {
			s.rec.Add(block)
			block = block[:0]
		}
	}
	block = make([]events.Event, 0, 2048)
	becomes := func(g, res int64, from, to events.State, why events.Handle) {
		add(events.Event{Kind: events.Go, G: g, Res: res, From: from, To: to, Reason: why})
	}
	add(events.Event{Kind: events.Procs, G: events.None, P: events.None, Res: 1})
	add(events.Event{Kind: events.Proc, G: events.None, P: events.None, Res: 0, From: events.Undetermined, To: events.Running})
	becomes(events.None, 1, events.Undetermined, events.Running, 0)
	for g := int64(2); g < n+2; g++ {
		becomes(1, g, events.NotExist, events.Runnable, 0)
		becomes(1, 1, events.Running, events.Runnable, events.ReasonGosched)
		becomes(events.None, g, events.Runnable, events.Running, 0)
		if blocked {
			becomes(g, g, events.Running, events.Waiting, events.ReasonChanReceive)
		} else {
			becomes(g, g, events.Running, events.Runnable, events.ReasonGosched)
		}
		becomes(events.None, 1, events.Runnable, events.Running, 0)
	}
	s.rec.Add(block)
	return size(s)
}

// TestManyTraces analyses one trace after the other in a process: no goroutine may
// stay of any. Whether memory does, TestGuardHeap measures.
func TestManyTraces(t *testing.T) {
	one := variety(t)
	for i := range 30 {
		one(i)
	}
	before := runtime.NumGoroutine()
	for i := range 100 {
		one(i)
	}
	for runtime.NumGoroutine() > before { // go test ends it, and shows them all
		time.Sleep(time.Millisecond)
	}
}

// variety returns a function whose call i analyses one of several traces: whole
// ones of all formats, a part of one, none, and some of which the user has had
// enough.
func variety(t *testing.T) func(i int) {
	part := filepath.Join(t.TempDir(), "part")
	whole := tracetest.Recorded(t, "retake-small-go1.26-p2")
	if err := os.WriteFile(part, whole[:len(whole)/2], 0o600); err != nil {
		t.Fatal(err)
	}
	files := []string{part}
	for _, name := range []string{"steal-small-go1.22-p2", "steal-small-go1.24-p2", "steal-small-go1.25-p2", "steal-small-go1.26-p2", "steal-small-go1.27-p2", "preempt-small-go1.22-p1", "single-go1.26-p4", "real/empty"} {
		files = append(files, filepath.Join("..", "..", "testdata", "traces", filepath.FromSlash(name)+".trace.gz"))
	}
	v1 := filepath.Join("..", "..", "testdata", "traces", "real", "v1-context-go1.21.trace.gz")
	return func(i int) {
		file := files[i%len(files)]
		if i%100 == 7 {
			file = v1 // for which the reader allocates much
		}
		ctx, cancel := context.WithCancel(t.Context())
		defer cancel()
		src, err := input.Open(ctx, file, input.Options{})
		if err != nil {
			return
		}
		defer src.Close()
		o := analyze.Options{}
		if i%10 == 3 {
			o.OnEvents = func(int) { cancel() }
		}
		if _, err := analyze.Run(ctx, src, o); err != nil && ctx.Err() == nil && file != part {
			t.Fatalf("%s: %v", file, err)
		}
	}
}
