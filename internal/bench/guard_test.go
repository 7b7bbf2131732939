// Package bench guards what an analysis costs, where that can be counted: no
// test in it looks at a clock. What it costs in time, [the bench program]
// measures.
//
// [the bench program]: https://pkg.go.dev/github.com/gmpscope/gmpscope/internal/bench/cmd/bench
package bench

import (
	"bytes"
	"context"
	"math"
	"os"
	"path/filepath"
	"runtime"
	"runtime/trace"
	"sync"
	"testing"
	"time"

	"github.com/gmpscope/gmpscope/analyze"
	"github.com/gmpscope/gmpscope/analyze/input"
	"github.com/gmpscope/gmpscope/internal/bench/stretch"
	"github.com/gmpscope/gmpscope/internal/tracetest"
	"github.com/gmpscope/gmpscope/reference"
)

// stretched returns a recorded trace with its repeatable part n times more.
func stretched(t *testing.T, name string, n int) []byte {
	t.Helper()
	l, err := stretch.Find(tracetest.Unpacked(t, filepath.Join("stretch", "testdata", name+".trace.gz")))
	if err != nil {
		t.Fatal(err)
	}
	var b bytes.Buffer
	if err := l.Write(&b, n); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

func analysed(t *testing.T, data []byte, o analyze.Options) *analyze.Result {
	t.Helper()
	src, err := input.New(bytes.NewReader(data), "memory")
	if err != nil {
		t.Fatal(err)
	}
	defer src.Close()
	r, err := analyze.Run(t.Context(), src, o)
	if err != nil {
		t.Fatal(err)
	}
	if n := len(r.Trace.Warnings); n > 0 {
		t.Fatalf("warnings about the trace: %v", r.Trace.Warnings)
	}
	return r
}

// TestAllocations bounds what one more event allocates: the difference between
// a long trace and a short one of the same kind. Of the numbers, what a
// generation allocates is the larger part: its tables. A generation of "dense"
// has about 10,000 events, one of "mixed" 2,700 and many more stacks.
func TestAllocations(t *testing.T) {
	for _, c := range []struct {
		name  string
		bound float64
	}{
		{"dense", 0.031},
		{"mixed", 0.32},
	} {
		t.Run(c.name, func(t *testing.T) {
			count := func(n int) (events, allocs float64) {
				data := stretched(t, c.name, n)
				var before, after runtime.MemStats
				runtime.ReadMemStats(&before)
				r := analysed(t, data, analyze.Options{})
				runtime.ReadMemStats(&after)
				return float64(r.Trace.Events), float64(after.Mallocs - before.Mallocs)
			}
			shortEvents, shortAllocs := count(8)
			longEvents, longAllocs := count(16)
			each := (longAllocs - shortAllocs) / (longEvents - shortEvents)
			t.Logf("%.4f allocations for each of %.0f more events", each, longEvents-shortEvents)
			if each > c.bound {
				t.Errorf("%.4f allocations for each event, more than %v", each, c.bound)
			}
		})
	}
}

// heap returns the bytes that live objects take.
func heap() int64 {
	runtime.GC()
	runtime.GC() // what a sync.Pool holds survives one
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return int64(m.HeapAlloc)
}

// settled returns the heap when the accumulators have taken what they were
// handed: nothing more becomes garbage.
func settled() int64 {
	least := heap()
	for same := 0; same < 3; same++ {
		time.Sleep(20 * time.Millisecond)
		if h := heap(); h < least-(4<<10) {
			least, same = h, 0
		}
	}
	return least
}

// held returns how many bytes an analysis holds when it has seen the whole trace
// but not finished, and how many its result takes: the least of several tries, because
// how far the steps run ahead of one another, and so what they have in hand, is chance.
// They get the time to keep up: a block in hand is larger than what is looked for.
func held(t *testing.T, data []byte) (during, after int64) {
	t.Helper()
	var decisions, last int
	analysed(t, data, analyze.Options{OnDecision: func(*reference.Decision) error {
		last++
		return nil
	}})
	during, after = math.MaxInt64, math.MaxInt64
	for range 6 {
		decisions = 0
		before := heap()
		r := analysed(t, data, analyze.Options{Workers: 1, OnDecision: func(*reference.Decision) error {
			if decisions++; decisions%512 == 0 {
				time.Sleep(200 * time.Microsecond)
			}
			if decisions == last {
				during = min(during, settled()-before)
			}
			return nil
		}})
		after = min(after, heap()-before)
		runtime.KeepAlive(r)
	}
	runtime.KeepAlive(data)
	return during, after
}

// TestLength has a trace grow to twice its length, with as many goroutines at a
// time, but twice as many in all: neither what the analysis holds nor its result
// may grow with it. What they keep at bounded resolution may fill up.
func TestLength(t *testing.T) {
	const (
		moreHeld   = 200 << 10
		moreResult = 64 << 10
	)
	shortDuring, shortAfter := held(t, stretched(t, "mixed", 40))
	longDuring, longAfter := held(t, stretched(t, "mixed", 80))
	t.Logf("during: %d, then %d bytes; after: %d, then %d", shortDuring, longDuring, shortAfter, longAfter)
	if d := longDuring - shortDuring; d > moreHeld {
		t.Errorf("the analysis of a trace twice as long holds %d bytes more", d)
	}
	if d := longAfter - shortAfter; d > moreResult {
		t.Errorf("the result for a trace twice as long has %d bytes more", d)
	}
}

// TestLiveGoroutines bounds what a goroutine costs that is alive. Already few of
// them make so many events that the window of the reconstruction is full, whose
// size is bounded.
func TestLiveGoroutines(t *testing.T) {
	const few, many = 25_000, 75_000
	const each = 1580
	small, _ := held(t, crowd(t, few))
	large, _ := held(t, crowd(t, many))
	got := float64(large-small) / (many - few)
	t.Logf("%.0f bytes for a live goroutine", got)
	if got > each {
		t.Errorf("%.0f bytes for each live goroutine, more than %d", got, each)
	}
}

// crowd records n goroutines that are alive until the end.
func crowd(t *testing.T, n int) []byte {
	t.Helper()
	if trace.IsEnabled() {
		t.Skip("the test itself is being traced")
	}
	var (
		out         bytes.Buffer
		ready, over sync.WaitGroup
		end         = make(chan struct{})
	)
	if err := trace.Start(&out); err != nil {
		t.Fatal(err)
	}
	ready.Add(n)
	for range n {
		over.Go(func() {
			ready.Done()
			<-end
		})
	}
	ready.Wait()
	trace.Stop()
	close(end)
	over.Wait()
	return out.Bytes()
}

// TestManyTraces analyses one trace after the other in a process, whole ones of
// all formats, a part of one, none, and some of which the user has had enough:
// nothing may stay of any.
func TestManyTraces(t *testing.T) {
	warm, runs := 30, 1000
	if testing.Short() {
		runs = 100
	}
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
	one := func(i int) {
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
	var heapBefore int64
	var goroutinesBefore, filesBefore int
	for i := range runs {
		if i == warm {
			heapBefore, goroutinesBefore, filesBefore = heap(), runtime.NumGoroutine(), openFiles()
		}
		one(i)
	}
	heapAfter, goroutines, open := heap(), runtime.NumGoroutine(), openFiles()
	t.Logf("%d bytes after %d traces, %d after %d; %d open files", heapBefore, warm, heapAfter, runs, open)
	const more = 1 << 20
	if heapAfter-heapBefore > more {
		t.Errorf("%d bytes more than after %d traces", heapAfter-heapBefore, warm)
	}
	if goroutines > goroutinesBefore {
		t.Errorf("%d goroutines, after %d traces there were %d", goroutines, warm, goroutinesBefore)
	}
	if open > filesBefore {
		t.Errorf("%d files are open, after %d traces there were %d", open, warm, filesBefore)
	}
}

// openFiles counts the open files of the process, where the system lists them.
func openFiles() int {
	files, err := os.ReadDir("/dev/fd")
	if err != nil {
		return 0
	}
	return len(files)
}
