//go:build guard && unix

package bench

import (
	"bytes"
	"math"
	"runtime"
	"runtime/trace"
	"slices"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/gmpscope/gmpscope/analyze"
	"github.com/gmpscope/gmpscope/analyze/input"
	"github.com/gmpscope/gmpscope/internal/testkit/damage"
	"github.com/gmpscope/gmpscope/internal/testkit/tracetest"
)

// TestGuardLinear has traces of several shapes grow tenfold: an event must not cost
// three times as much CPU as before. Where each event looked at all before it,
// or at all that is in a queue, it would cost ten times as much. CPU time depends
// on what else the machine does, but much less than by that factor.
func TestGuardLinear(t *testing.T) {
	const times, bound = 10, 3.0
	for _, c := range []struct {
		name  string
		small int
		make  func(t *testing.T, n int) []byte
	}{
		{"dense", 3, func(t *testing.T, n int) []byte { return stretched(t, "dense", n) }},
		{"mixed", 10, func(t *testing.T, n int) []byte { return stretched(t, "mixed", n) }},
		{"live goroutines", 4_000, alive},
		{"one long queue", 8_000, func(t *testing.T, n int) []byte { return queue(t, 1, n) }},
		{"long queues on many Ps", 8_000, func(t *testing.T, n int) []byte { return queue(t, 64, n) }},
		{"goroutines that exist only by name", 20_000, storm},
		{"many idle Ps", 5_000, idle},
	} {
		t.Run(c.name, func(t *testing.T) {
			small, large := c.make(t, c.small), c.make(t, times*c.small)
			// The smallest of several, if that is needed: what disturbs only adds.
			var fewer, more float64
			before, after := math.Inf(1), math.Inf(1)
			for range 3 {
				n, ns := eventCost(t, small)
				m, nt := eventCost(t, large)
				fewer, more = n, m
				before, after = min(before, ns), min(after, nt)
				if after/more <= bound*before/fewer {
					break
				}
			}
			t.Logf("%.0f events: %.0f ns of CPU each; %.0f events: %.0f ns each", fewer, before/fewer, more, after/more)
			if more < fewer*times/2 {
				t.Fatal("the trace did not grow as it should")
			}
			if after/more > bound*before/fewer {
				t.Errorf("an event costs %.0f ns of CPU in a trace of %.0f events, and %.0f ns in one of %.0f", before/fewer, fewer, after/more, more)
			}
		})
	}
}

// cost analyses a trace. It returns its events, and the CPU time in ns.
func eventCost(t *testing.T, data []byte) (events, ns float64) {
	t.Helper()
	src, err := input.New(bytes.NewReader(data), "memory")
	if err != nil {
		t.Fatal(err)
	}
	defer src.Close()
	runtime.GC()
	start := user(t)
	r, err := analyze.Run(t.Context(), src, analyze.Options{Workers: 1})
	if err != nil {
		t.Fatal(err)
	}
	return float64(r.Trace.Events), float64(user(t) - start)
}

func user(t *testing.T) time.Duration {
	t.Helper()
	var u syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &u); err != nil {
		t.Fatal(err)
	}
	return time.Duration(u.Utime.Nano())
}

// alive records n goroutines that are alive until the end.
func alive(t *testing.T, n int) []byte {
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

// queue records n goroutines that are all created before their creator lets go
// of its P.
func queue(t *testing.T, procs, n int) []byte {
	t.Helper()
	if trace.IsEnabled() {
		t.Skip("the test itself is being traced")
	}
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(procs))
	var out bytes.Buffer
	if err := trace.Start(&out); err != nil {
		t.Fatal(err)
	}
	var all sync.WaitGroup
	for range n {
		all.Go(func() {})
	}
	all.Wait()
	trace.Stop()
	return out.Bytes()
}

// storm makes up a trace in which n goroutines are created and never seen again.
func storm(t *testing.T, n int) []byte {
	const evGoCreate = 14 // internal/trace/tracev2, Go 1.26
	tr := damage.Parse(tracetest.Recorded(t, "thousand-go1.26-p4"))
	for i := range tr.Blocks {
		b := &tr.Blocks[i]
		at := slices.IndexFunc(b.Events, func(e damage.Event) bool { return e.Kind == evGoCreate })
		if at < 0 {
			continue
		}
		create := b.Events[at]
		rest := slices.Clone(b.Events[at+1:])
		tail := damage.Block{Kind: b.Kind, Gen: b.Gen, M: b.M, Events: rest, Rest: b.Rest, Time: b.Time}
		for _, e := range b.Events[:at+1] {
			tail.Time += e.Args[0]
		}
		b.Events, b.Rest = b.Events[:at+1], nil
		blocks := []damage.Block{}
		const perBatch = 4_000
		for id := 0; id < n; {
			more := damage.Block{Kind: b.Kind, Gen: b.Gen, M: b.M, Time: tail.Time}
			for ; len(more.Events) < perBatch && id < n; id++ {
				args := slices.Clone(create.Args)
				args[0], args[1] = 0, uint64(1_000_000+id)
				more.Events = append(more.Events, damage.Event{Kind: evGoCreate, Args: args})
			}
			blocks = append(blocks, more)
		}
		tr.Blocks = slices.Insert(tr.Blocks, i+1, append(blocks, tail)...)
		return tr.Bytes()
	}
	t.Fatal("no goroutine is created")
	return nil
}

// idle makes up a trace that names n Ps more, all of them idle.
func idle(t *testing.T, n int) []byte {
	const (
		evProcStatus = 13
		idle         = 2
		perBatch     = 9_000 // a batch has at most 64 KiB
	)
	tr := damage.Parse(tracetest.Recorded(t, "steal-small-go1.26-p2"))
	at := slices.IndexFunc(tr.Blocks, func(b damage.Block) bool { return len(b.Events) > 0 && b.Events[0].Kind >= evProcStatus })
	var more []damage.Block
	for p := 100; p < 100+n; {
		b := damage.Block{Kind: tr.Blocks[at].Kind, Gen: tr.Blocks[at].Gen, M: uint64(1<<20 + p), Time: tr.Blocks[at].Time}
		for ; len(b.Events) < perBatch && p < 100+n; p++ {
			b.Events = append(b.Events, damage.Event{Kind: evProcStatus, Args: []uint64{0, uint64(p), idle}})
		}
		more = append(more, b)
	}
	tr.Blocks = slices.Insert(tr.Blocks, at, more...)
	return tr.Bytes()
}

// TestGuardHeap analyses many traces in a process: of none may memory stay.
func TestGuardHeap(t *testing.T) {
	const warm, runs, more = 30, 300, 288 << 10
	one := variety(t)
	before := int64(0)
	for i := range runs {
		if i == warm {
			before = heap()
		}
		one(i)
	}
	after := heap()
	t.Logf("%d bytes after %d traces, %d after %d", before, warm, after, runs)
	if after-before > more {
		t.Errorf("%d bytes more than after %d traces", after-before, warm)
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
