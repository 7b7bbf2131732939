package analyze

import (
	"bytes"
	"context"
	"io"
	"maps"
	"runtime/trace"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	exp "golang.org/x/exp/trace"

	"github.com/gmpscope/gmpscope/analyze/input"
)

// A group starts functions that it is given, as errgroup does.
type group struct{ wg sync.WaitGroup }

//go:noinline
func (g *group) start(f func(<-chan int)) chan<- int {
	c := make(chan int)
	g.wg.Add(1)
	go func() {
		defer g.wg.Done()
		f(c)
	}()
	return c
}

//go:noinline
func readsLoop(c <-chan int) {
	for range c {
	}
}

//go:noinline
func writesLoop(c <-chan int) {
	for range c {
	}
}

// recordGroup records goroutines of a group that were there before the trace began.
func recordGroup(t *testing.T) []byte {
	t.Helper()
	if trace.IsEnabled() {
		t.Skip("this test is traced itself")
	}
	var g group
	reads, writes := g.start(readsLoop), g.start(writesLoop)
	reads <- 1
	writes <- 1
	var buf bytes.Buffer
	if err := trace.Start(&buf); err != nil {
		t.Fatal(err)
	}
	for range 100 {
		reads <- 1
		writes <- 1
	}
	trace.Stop()
	close(reads)
	close(writes)
	g.wg.Wait()
	return buf.Bytes()
}

// TestClassesBehindWrapper follows goroutines that existed before the trace: each wait is
// that of the function which the wrapper was given.
func TestClassesBehindWrapper(t *testing.T) {
	data := recordGroup(t)
	for _, anonymous := range []bool{false, true} {
		o := Options{}
		if anonymous {
			o.Anonymize = NewPseudonyms()
		}
		res := runOn(t, data, o)
		starts := map[string]int64{}
		for _, c := range res.Waits.Classes {
			starts[c.Name] += c.Starts
			if anonymous && (strings.Contains(c.Name, "Loop") || strings.Contains(c.StartedBy, "group")) {
				t.Errorf("anonymous class %q, started by %q", c.Name, c.StartedBy)
			}
		}
		if anonymous {
			continue
		}
		for name, n := range starts {
			// Others of the process may start now and then; those of the group do a hundred times.
			if (name == "" || strings.HasPrefix(name, "(")) && n > 20 {
				t.Errorf("%d starts of class %q", n, name)
			}
		}
		const pkg = "github.com/gmpscope/gmpscope/analyze."
		for _, f := range []string{"readsLoop", "writesLoop"} {
			name := pkg + f + ", started by " + pkg + "(*group).start.func1"
			if starts[name] == 0 {
				t.Errorf("no class %q; have %v", name, starts)
			}
		}
	}
}

// TestClassesOfWaitGroup holds apart what one function gives to sync.(*WaitGroup).Go at two
// places: what shows a stack at one is no name for those of the other.
func TestClassesOfWaitGroup(t *testing.T) {
	if trace.IsEnabled() {
		t.Skip("this test is traced itself")
	}
	var buf bytes.Buffer
	var wg sync.WaitGroup
	if err := trace.Start(&buf); err != nil {
		t.Fatal(err)
	}
	for range 3 {
		wg.Go(sleeps)
	}
	for range 20 {
		wg.Go(runs)
	}
	wg.Wait()
	trace.Stop()
	const pkg = "github.com/gmpscope/gmpscope/analyze."
	goroutines := map[string]int64{}
	for _, c := range runOn(t, buf.Bytes(), Options{}).Waits.Classes {
		goroutines[c.Name] += c.Goroutines
	}
	if n := goroutines[pkg+"sleeps, started by sync.(*WaitGroup).Go.func1"]; n != 3 {
		t.Errorf("%d goroutines sleep: %v", n, goroutines)
	}
	// Whether one that only runs is preempted is the machine's business.
	n := goroutines["(unknown function), started by "+pkg+"TestClassesOfWaitGroup (call 2)"] + goroutines[pkg+"runs, started by sync.(*WaitGroup).Go.func1"]
	if n != 20 {
		t.Errorf("%d goroutines run: %v", n, goroutines)
	}
}

func sleeps() { time.Sleep(time.Millisecond) }

var ran atomic.Int64

func runs() { ran.Add(1) }

func runOn(t *testing.T, data []byte, o Options) *Result {
	t.Helper()
	src, err := input.New(bytes.NewReader(data), "test")
	if err != nil {
		t.Fatal(err)
	}
	res, err := Run(context.Background(), src, o)
	if err != nil {
		t.Fatal(err)
	}
	return res
}

// TestClassesAgainstReader sums up waits by start function, as it is known at the end of
// the trace, and holds them against those of the classes.
func TestClassesAgainstReader(t *testing.T) {
	data := recordGroup(t)
	want := waitsByStart(t, data)
	for _, workers := range []int{1, 3} {
		got := map[string]int64{}
		for _, c := range runOn(t, data, Options{Workers: workers}).Waits.Classes {
			name := c.StartedBy
			if name == "" {
				name = c.Name
			}
			if c.Waits.TotalNs > 0 {
				got[name] += c.Waits.TotalNs
			}
		}
		if !maps.Equal(got, want) {
			t.Errorf("%d workers: got %v\nwant %v", workers, got, want)
		}
	}
}

func waitsByStart(t *testing.T, data []byte) map[string]int64 {
	t.Helper()
	r, err := exp.NewReader(bytes.NewReader(data))
	if err != nil {
		t.Fatal(err)
	}
	starts, ready, sums := map[exp.GoID]string{}, map[exp.GoID]exp.Time{}, map[exp.GoID]int64{}
	for {
		ev, err := r.ReadEvent()
		if err == io.EOF {
			break
		}
		if err != nil {
			t.Fatal(err)
		}
		if ev.Kind() != exp.EventStateTransition || ev.StateTransition().Resource.Kind != exp.ResourceGoroutine {
			continue
		}
		st := ev.StateTransition()
		g := st.Resource.Goroutine()
		for f := range st.Stack.Frames() { // the outermost is the last
			starts[g] = f.Func
		}
		switch from, to := st.Goroutine(); {
		case from == to:
		case to == exp.GoRunnable:
			ready[g] = ev.Time()
		case from == exp.GoRunnable && to == exp.GoRunning:
			sums[g] += int64(ev.Time() - ready[g])
		}
	}
	out := map[string]int64{}
	for g, ns := range sums {
		if ns > 0 {
			out[starts[g]] += ns
		}
	}
	return out
}
