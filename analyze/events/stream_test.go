package events_test

import (
	"bytes"
	"context"
	"errors"
	"io"
	"os"
	"path/filepath"
	"testing"

	"golang.org/x/exp/trace"

	"github.com/gmpscope/gmpscope/analyze/events"
	"github.com/gmpscope/gmpscope/analyze/input"
	"github.com/gmpscope/gmpscope/internal/testkit/damage"
	"github.com/gmpscope/gmpscope/internal/testkit/tracetest"
)

const traces = "../../testdata/traces"

func stream(t *testing.T, name string, workers int) *events.Stream {
	t.Helper()
	src, err := input.Open(t.Context(), filepath.Join(traces, name), input.Options{})
	if err != nil {
		t.Fatal(err)
	}
	s := events.New(t.Context(), src, events.Options{Workers: workers})
	t.Cleanup(func() { s.Close(); src.Close() })
	return s
}

func all(t *testing.T, s *events.Stream) []events.Event {
	t.Helper()
	var out []events.Event
	for {
		evs, err := s.Next()
		if err == io.EOF {
			return out
		}
		if err != nil {
			t.Fatal(err)
		}
		out = append(out, evs...)
	}
}

// TestSameTransitionsAsOneReader compares the stream with one reader over the
// whole file: same transitions of goroutines, in the same order.
func TestSameTransitionsAsOneReader(t *testing.T) {
	for _, name := range []string{"real/manygens-io-go1.25-p4.trace.gz", "real/annot-go1.26-p4to8.trace.gz", "real/flightrec-memberlist-go1.26-p4.trace.gz"} {
		t.Run(filepath.Base(name), func(t *testing.T) {
			got := all(t, stream(t, name, 0))
			r, err := trace.NewReader(whole(t, name))
			if err != nil {
				t.Fatal(err)
			}
			i := 0
			for n := 0; ; n++ {
				ev, err := r.ReadEvent()
				if err == io.EOF {
					break
				}
				if err != nil {
					t.Fatal(err)
				}
				if ev.Kind() != trace.EventStateTransition {
					continue
				}
				st := ev.StateTransition()
				if st.Resource.Kind != trace.ResourceGoroutine {
					continue
				}
				from, to := st.Goroutine()
				if from == to || from == trace.GoUndetermined {
					continue // statuses: a generation by itself states them otherwise
				}
				for i < len(got) && (got[i].Kind != events.Go || got[i].From == got[i].To || got[i].From == events.Undetermined) {
					i++
				}
				if i == len(got) {
					t.Fatalf("event %d, %v, is missing", n, ev)
				}
				e := got[i]
				i++
				if e.Res != int64(st.Resource.Goroutine()) || e.M != int64(ev.Thread()) || e.G != int64(ev.Goroutine()) || int64(e.P) != int64(ev.Proc()) {
					t.Fatalf("event %d: %+v, want %v", n, e, ev)
				}
			}
		})
	}
}

// whole is the uncompressed trace.
func whole(t *testing.T, name string) io.Reader {
	t.Helper()
	src, err := input.Open(t.Context(), filepath.Join(traces, name), input.Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer src.Close()
	r, w := io.Pipe()
	var pieces [][]byte
	for {
		gen, err := src.Next()
		if err == io.EOF {
			break
		}
		if err != nil {
			t.Fatal(err)
		}
		data := gen.Data
		if len(pieces) > 0 {
			data = data[16:] // the header stands once
		}
		pieces = append(pieces, data)
	}
	go func() {
		for _, p := range pieces {
			if _, err := w.Write(p); err != nil {
				return
			}
		}
		w.Close()
	}()
	t.Cleanup(func() { r.Close() })
	return r
}

func TestTimesNeverFall(t *testing.T) {
	last := int64(0)
	for i, e := range all(t, stream(t, "real/manygens-io-go1.25-p4.trace.gz", 3)) {
		if e.Time < last {
			t.Fatalf("event %d at %d, after one at %d", i, e.Time, last)
		}
		last = e.Time
	}
}

func TestHandlesDoNotDependOnWorkers(t *testing.T) {
	name := "real/manygens-io-go1.25-p4.trace.gz"
	one, many := stream(t, name, 1), stream(t, name, 5)
	a, b := all(t, one), all(t, many)
	if len(a) != len(b) {
		t.Fatalf("%d events, and %d", len(a), len(b))
	}
	for i := range a {
		if a[i] != b[i] {
			t.Fatalf("event %d: %+v and %+v", i, a[i], b[i])
		}
	}
	if one.Tables.Stacks() != many.Tables.Stacks() {
		t.Errorf("%d stacks, and %d", one.Tables.Stacks(), many.Tables.Stacks())
	}
}

func TestDamageIsTold(t *testing.T) {
	src, err := input.Open(t.Context(), filepath.Join(traces, "gc-go1.22-p4.trace.gz"), input.Options{})
	if err != nil {
		t.Fatal(err)
	}
	gen, err := src.Next()
	src.Close()
	if err != nil {
		t.Fatal(err)
	}
	for _, tt := range []struct {
		name    string
		part    int  // of the trace, in eighths
		partial bool // of some threads events are missing
	}{
		{"within the events", 1, true},
		{"within the stacks", 4, false},
		{"within the last stacks", 7, false},
	} {
		cut := filepath.Join(t.TempDir(), "cut.trace")
		if err := os.WriteFile(cut, gen.Data[:len(gen.Data)/8*tt.part], 0o600); err != nil {
			t.Fatal(err)
		}
		src, err = input.Open(t.Context(), cut, input.Options{})
		if err != nil {
			t.Fatal(err)
		}
		s := events.New(t.Context(), src, events.Options{})
		n := len(all(t, s))
		st := s.Stats()
		if st.FailCount > 0 || st.SalvageCount != 1 || len(st.Salvages) != 1 || n < 500 || !tt.partial && st.LostBytes == 0 {
			t.Errorf("a trace cut %s: %d events, %d bytes lost, %+v, %+v", tt.name, n, st.LostBytes, st.Failures, st.Salvages)
		} else if x := &st.Salvages[0]; x.Partial != tt.partial || x.Stacks.Whole() || x.Strings.Whole() || x.Partial && x.To <= x.From {
			t.Errorf("a trace cut %s: %+v", tt.name, x)
		}
		s.Close()
		src.Close()
	}
}

func TestCloseInTheMiddle(t *testing.T) {
	src, err := input.Open(t.Context(), filepath.Join(traces, "real/manygens-io-go1.25-p4.trace.gz"), input.Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer src.Close()
	ctx, cancel := context.WithCancel(t.Context())
	s := events.New(ctx, src, events.Options{Workers: 4})
	if _, err := s.Next(); err != nil {
		t.Fatal(err)
	}
	cancel()
	for err = nil; err == nil; {
		_, err = s.Next()
	}
	if err != io.EOF && !errors.Is(err, context.Canceled) {
		t.Error(err)
	}
	s.Close() // must not hang
}

// A generation whose clock is damaged is left out, and the others are not: later
// times would not fit into sums over goroutines.
func TestLateGeneration(t *testing.T) {
	whole := tracetest.Recorded(t, "real/manygens-io-go1.25-p4")
	tr := damage.Parse(whole)
	late := tr.Blocks[len(tr.Blocks)/2].Gen
	for i := range tr.Blocks {
		if b := &tr.Blocks[i]; b.Gen == late {
			b.Time += 2 * events.MaxTime / 64 // ticks
		}
	}
	sound, damaged := statsOf(t, whole), statsOf(t, tr.Bytes())
	if damaged.End != sound.End || damaged.Generations != sound.Generations-1 || damaged.FailCount != 1 || damaged.Failures[0].Generation != late {
		t.Errorf("%v, %d generations of %d, %v; want %v", damaged.End, damaged.Generations, sound.Generations, damaged.Failures, sound.End)
	}
	if damaged.LostBytes == 0 || damaged.GapCount != 1 {
		t.Errorf("%d bytes and %d gaps are lost", damaged.LostBytes, damaged.GapCount)
	}
}

func statsOf(t *testing.T, trace []byte) events.Stats {
	t.Helper()
	src, err := input.New(bytes.NewReader(trace), "memory")
	if err != nil {
		t.Fatal(err)
	}
	s := events.New(t.Context(), src, events.Options{})
	defer s.Close()
	for err == nil {
		_, err = s.Next()
	}
	if err != io.EOF {
		t.Fatal(err)
	}
	return s.Stats()
}
