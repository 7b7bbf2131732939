package analyze_test

import (
	"bytes"
	"compress/gzip"
	"errors"
	"io"
	"math"
	"os"
	"slices"
	"testing"

	"golang.org/x/exp/trace"

	"github.com/gmpscope/gmpscope/analyze"
)

// TestHeapAgainstReader holds the heap over time against what the public reader says of a
// trace: the largest size, the last goal, and the time of the sweeps.
func TestHeapAgainstReader(t *testing.T) {
	for _, name := range []string{"gc-go1.22-p4", "gc-go1.26-p4"} {
		file := "../testdata/traces/" + name + ".trace.gz"
		res, err := analyze.File(t.Context(), file, analyze.Options{})
		if err != nil {
			t.Fatal(err)
		}
		h := res.Timeline.Heap
		most, goal, swept := readHeap(t, file)
		if got := slices.Max(h.Alloc); got != most {
			t.Errorf("%s: %d bytes at most, want %d", name, got, most)
		}
		if got := h.Goal[h.Bins-1]; got != goal {
			t.Errorf("%s: goal of %d bytes at the end, want %d", name, got, goal)
		}
		got := 0.0
		for i, v := range h.Sweep {
			got += float64(v) * float64(min(h.BinNs, res.Timeline.EndNs-int64(i)*h.BinNs))
		}
		if math.Abs(got-float64(swept)) > 1e-5*float64(swept)+1 {
			t.Errorf("%s: swept for %.0f ns, want %d", name, got, swept)
		}
	}
}

// readHeap reads, with the public reader, the largest size of the heap, its last goal, and for
// how long Ps swept, ns.
func readHeap(t *testing.T, file string) (most, goal, swept int64) {
	t.Helper()
	packed, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	z, err := gzip.NewReader(bytes.NewReader(packed))
	if err != nil {
		t.Fatal(err)
	}
	r, err := trace.NewReader(z)
	if err != nil {
		t.Fatal(err)
	}
	since := map[trace.ProcID]trace.Time{}
	for {
		ev, err := r.ReadEvent()
		if errors.Is(err, io.EOF) {
			return most, goal, swept
		}
		if err != nil {
			t.Fatal(err)
		}
		switch ev.Kind() {
		case trace.EventMetric:
			m := ev.Metric()
			switch m.Name {
			case "/memory/classes/heap/objects:bytes":
				most = max(most, int64(m.Value.Uint64()))
			case "/gc/heap/goal:bytes":
				goal = int64(m.Value.Uint64())
			}
		case trace.EventRangeBegin, trace.EventRangeEnd:
			x := ev.Range()
			if x.Name != "GC incremental sweep" {
				continue
			}
			if p := x.Scope.Proc(); ev.Kind() == trace.EventRangeBegin {
				since[p] = ev.Time()
			} else {
				swept += int64(ev.Time() - since[p])
			}
		}
	}
}
