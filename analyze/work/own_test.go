package work_test

import (
	"bytes"
	"errors"
	"io"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"golang.org/x/exp/trace"

	"github.com/gmpscope/gmpscope/analyze"
	"github.com/gmpscope/gmpscope/analyze/kernel"
	"github.com/gmpscope/gmpscope/analyze/work"
	"github.com/gmpscope/gmpscope/internal/testkit/tracetest"
)

// stretch is what a goroutine did for a time, as the public reader shows it.
type stretch struct {
	from, to int64
	does     string
}

// stretches reads what each goroutine did.
func stretches(t *testing.T, file string) map[int64][]stretch {
	t.Helper()
	r, err := trace.NewReader(bytes.NewReader(tracetest.Unpacked(t, file)))
	if err != nil {
		t.Fatal(err)
	}
	out, zero, now := map[int64][]stretch{}, int64(-1), int64(0)
	since := map[int64]stretch{}
	for {
		e, err := r.ReadEvent()
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			t.Fatal(err)
		}
		if zero < 0 {
			zero = int64(e.Time())
		}
		now = int64(e.Time()) - zero
		if e.Kind() != trace.EventStateTransition || e.StateTransition().Resource.Kind != trace.ResourceGoroutine {
			continue
		}
		st := e.StateTransition()
		g := int64(st.Resource.Goroutine())
		from, to := st.Goroutine()
		if from == to {
			continue
		}
		if s, ok := since[g]; ok {
			out[g] = append(out[g], stretch{s.from, now, s.does})
		}
		since[g] = stretch{from: now, does: does(to, st)}
	}
	for g, s := range since {
		out[g] = append(out[g], stretch{s.from, now + 1, s.does})
	}
	return out
}

// does returns what a goroutine does from a transition on.
func does(to trace.GoState, st trace.StateTransition) string {
	switch to {
	case trace.GoRunning:
		return "running"
	case trace.GoRunnable:
		return "runnable"
	case trace.GoSyscall:
		return "syscall"
	case trace.GoWaiting:
		group := false
		for f := range st.Stack.Frames() {
			for _, name := range []string{"runtime.mallocgc", "runtime.gcStart", "runtime.gcMarkDone", "runtime.gcAssistAlloc", "runtime.gcMarkTermination"} {
				if strings.HasPrefix(f.Func, name) {
					return "running" // the collector's work, that the goroutine has to do
				}
			}
			group = group || f.Func == "sync.(*WaitGroup).Wait"
		}
		switch st.Reason {
		case "sync":
			if group {
				return "waitgroup"
			}
			return "lock"
		case "sync.(*Cond).Wait":
			return "cond"
		case "chan receive", "chan send":
			return "channel"
		case "select", "network", "sleep":
			return st.Reason
		}
		if st.Reason == "preempted" || strings.Contains(st.Reason, "GC") {
			return "running"
		}
	}
	return "unknown"
}

// ownOf returns what the goroutines of a kind's units themselves did, by its path.
func ownOf(k *work.UnitKind) map[string]int64 {
	out := map[string]int64{}
	for i := range k.Path {
		switch p := &k.Path[i]; {
		case p.Via != nil:
			out[p.Via.What] += p.Ns
		case slices.Contains([]string{"gc-assist", "gc-sweep", "stw"}, p.What):
			out["running"] += p.Ns
		case p.What == "child":
			out["syscall"] += p.Ns
		default:
			out[p.What] += p.Ns
		}
	}
	return out
}

// TestOwn holds what units' own goroutines did, by kind, against a loop over the public reader.
func TestOwn(t *testing.T) {
	compared := map[string]bool{}
	for _, file := range recordings(t) {
		switch name := filepath.Base(file); {
		case strings.HasPrefix(name, "manygens"): // the reader moves events that its order of threads has late
			continue
		case strings.HasPrefix(name, "jswasm"): // results have functions of one name apart
			continue
		}
		t.Run(filepath.Base(file), func(t *testing.T) {
			type key struct{ name, class, how string }
			want := map[key]map[string]int64{}
			lives := stretches(t, file)
			res, err := analyze.File(t.Context(), file, analyze.Options{NoTimeline: true, OnUnit: func(u work.Unit) {
				k := key{u.Kind, u.Class, u.How.String()}
				if want[k] == nil {
					want[k] = map[string]int64{}
				}
				life := lives[u.G]
				i, _ := slices.BinarySearchFunc(life, u.From, func(s stretch, at int64) int { return int(min(1, max(-1, s.to-at))) })
				for ; i < len(life) && life[i].from < u.To; i++ {
					if ns := min(life[i].to, u.To) - max(life[i].from, u.From); ns > 0 {
						want[k][life[i].does] += ns
						compared[life[i].does] = true
					}
				}
			}})
			if err != nil {
				t.Fatal(err)
			}
			for i := range res.Work.Kinds {
				k := &res.Work.Kinds[i]
				if k.How == work.Task.String() || k.Count == 0 { // a task may go from one goroutine to another
					continue
				}
				got := ownOf(k)
				for does, ns := range want[key{k.Name, k.Class, k.How}] { // the rest may be of anything
					if less := min(ns-got[does], got["rest"]); less > 0 {
						got[does] += less
						got["rest"] -= less
					}
				}
				if maps.DeleteFunc(got, func(_ string, ns int64) bool { return ns == 0 }); !maps.Equal(got, want[key{k.Name, k.Class, k.How}]) {
					t.Errorf("%s, %s (-want +got):\n%s", k.Name, k.How, cmp.Diff(want[key{k.Name, k.Class, k.How}], got))
				}
			}
		})
	}
	if got := slices.Sorted(maps.Keys(compared)); len(got) < 8 {
		t.Errorf("units did nothing but %v", got)
	}
}

// TestOffCPU holds how long units ran on no CPU against what package kernel says of their class.
func TestOffCPU(t *testing.T) {
	base := filepath.Join("..", "..", "testdata", "kernel", "quota")
	f, err := os.Open(base + ".ftrace.zst")
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	o := analyze.Options{NoTimeline: true}
	if o.Kernel, err = kernel.New(f, "quota"); err != nil {
		t.Fatal(err)
	}
	defer o.Kernel.Close()
	res, err := analyze.File(t.Context(), base+".trace.zst", o)
	if err != nil {
		t.Fatal(err)
	}
	var got, want int64
	for i := range res.Work.Kinds {
		if k := &res.Work.Kinds[i]; k.Class == "main.handle" {
			got += ownOf(k)["off-cpu"]
		}
	}
	for _, c := range res.Kernel.Classes {
		if c.Name == "main.handle" {
			want += c.OffCPUNs
		}
	}
	if want == 0 || got > want || got < want-want/50 { // some units are cut
		t.Errorf("%d ns on no CPU, %d by the kernel's records", got, want)
	}
}

// TestUnnamed: the kinds of a server's handlers have how many of its units no stack shows the
// handler of. Those are the shorter ones.
func TestUnnamed(t *testing.T) {
	res, err := analyze.File(t.Context(), filepath.Join("testdata", "ordersapi.go1.26.8.p2.trace.gz"), analyze.Options{NoTimeline: true})
	if err != nil {
		t.Fatal(err)
	}
	server, handlers := work.UnitKind{}, 0
	for _, k := range res.Work.Kinds {
		if k.Name == k.Class && k.Class == "net/http.(*conn).serve" {
			server = k
		}
	}
	for _, k := range res.Work.Kinds {
		if k.Class == server.Class && k.Name != k.Class {
			handlers++
			if k.Unnamed != server.Count || k.Latency.P50Ns <= server.Latency.P50Ns {
				t.Errorf("%s: %d unnamed of %d, p50 %d ns, of them %d ns", k.Name, k.Unnamed, server.Count, k.Latency.P50Ns, server.Latency.P50Ns)
			}
		}
	}
	if handlers != 3 || server.Count == 0 || server.Unnamed != 0 {
		t.Errorf("%d handlers, %d units of the server, %d unnamed", handlers, server.Count, server.Unnamed)
	}
}
