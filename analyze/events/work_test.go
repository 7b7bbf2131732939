package events

import (
	"bytes"
	"context"
	"errors"
	"io"
	"path/filepath"
	"strings"
	"testing"

	"github.com/gmpscope/gmpscope/analyze/input"
	"github.com/gmpscope/gmpscope/internal/testkit/hostile"
)

// hostileTrace returns a hostile input.
func hostileTrace(t *testing.T, name string, size hostile.Size) *bytes.Reader {
	t.Helper()
	for _, in := range hostile.Inputs() {
		if in.Name == name {
			var b bytes.Buffer
			if err := in.Write(&b, size); err != nil {
				t.Fatal(err)
			}
			return bytes.NewReader(b.Bytes())
		}
	}
	t.Fatalf("there is no hostile input %s", name)
	return nil
}

// waiting is a generation of threads that wait for one another.
func waiting(t *testing.T) *input.Generation {
	t.Helper()
	src, err := input.New(hostileTrace(t, "waiting-threads", hostile.Size{Stored: 128 << 10, Unpacked: 1 << 20}), "test")
	if err != nil {
		t.Fatal(err)
	}
	gen, err := src.Next()
	if err != nil {
		t.Fatal(err)
	}
	return gen
}

// A generation whose order takes too many steps ends there, and no reader that
// does not count gets it.
func TestTooManySteps(t *testing.T) {
	gen := waiting(t)
	for _, public := range []bool{false, true} {
		const most = 10 << 20
		w := &work{ctx: t.Context(), most: most}
		n := 0
		var why error
		decodeStrict(w, gen, gen.Data, public, func(b *block) bool {
			n += len(b.events)
			why = b.err
			return true
		})
		if !errors.As(why, new(errTooManySteps)) {
			t.Errorf("public %t: %v", public, why)
		}
		if w.steps <= most || !public && (w.steps > 2*most || n == 0) {
			t.Errorf("public %t: %d events, %d steps of %d", public, n, w.steps, most)
		}
	}
}

// What is left out of it is lost.
func TestTooManyStepsAreLost(t *testing.T) {
	src, err := input.New(hostileTrace(t, "waiting-threads", hostile.Size{Stored: 128 << 10, Unpacked: 1 << 20}), "test")
	if err != nil {
		t.Fatal(err)
	}
	s := New(t.Context(), src, Options{})
	defer s.Close()
	for err == nil {
		_, err = s.Next()
	}
	st := s.Stats()
	if size := src.Stats().Bytes; err != io.EOF || st.FailCount != 1 || st.LostBytes < size*9/10 || st.LostBytes > size {
		t.Errorf("%v, %d bytes of %d lost, %+v", err, st.LostBytes, size, st.Failures)
	}
}

// Ordering ends when nobody wants it any more, however long an event takes.
func TestStopsWhileOrdering(t *testing.T) {
	gen := waiting(t)
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	for _, public := range []bool{false, true} {
		w := anyWork()
		w.ctx = ctx
		decodeStrict(w, gen, nil, public, func(b *block) bool {
			t.Errorf("public %t: a block of %d events, %v", public, len(b.events), b.err)
			return true
		})
		if !public && w.steps > 2*lookAfter {
			t.Errorf("%d steps", w.steps)
		}
	}
}

// The steps of all generations together are bounded too, at the same place
// however many are decoded at once.
func TestStepsOfAllGenerations(t *testing.T) {
	var first Stats
	for _, workers := range []int{1, 4} {
		src, err := input.New(hostileTrace(t, "waiting-threads-again", hostile.Full), "test")
		if err != nil {
			t.Fatal(err)
		}
		s := New(t.Context(), src, Options{Workers: workers})
		for err == nil {
			_, err = s.Next()
		}
		s.Close()
		st := s.Stats()
		if err != io.EOF || st.LeftAt == 0 || st.FailCount != 1 || !strings.Contains(st.Failures[0].Err.Error(), "takes more than") || st.Generations < 10 {
			t.Errorf("%v, %+v", err, st)
		}
		if workers == 1 {
			first = st
		} else if st.Events != first.Events || st.Failures[0].Generation != first.Failures[0].Generation {
			t.Errorf("with %d workers %+v, with one %+v", workers, st, first)
		}
	}
}

// Each change of GOMAXPROCS counts as the Ps that come or go.
func TestStepsOfProcs(t *testing.T) {
	src, err := input.New(hostileTrace(t, "gomaxprocs", hostile.Size{Stored: 128 << 10, Unpacked: 1 << 20}), "test")
	if err != nil {
		t.Fatal(err)
	}
	gen, err := src.Next()
	if err != nil {
		t.Fatal(err)
	}
	for _, public := range []bool{false, true} {
		w := anyWork()
		changes := int64(0)
		decodeStrict(w, gen, nil, public, func(b *block) bool {
			for i := range b.events {
				if b.events[i].Kind == Procs {
					changes++
				}
			}
			return true
		})
		if changes == 0 || w.steps < (changes-1)*16*1000 {
			t.Errorf("public %t: %d changes, %d steps", public, changes, w.steps)
		}
	}
}

// Real traces come nowhere near the bounds.
func TestRealTracesTakeFewSteps(t *testing.T) {
	files, err := filepath.Glob("../../testdata/traces/real/*.trace.gz")
	if err != nil || len(files) == 0 {
		t.Fatal(files, err)
	}
	for _, file := range files {
		src, err := input.Open(t.Context(), file, input.Options{})
		if err != nil {
			continue // the empty one
		}
		steps := int64(0)
		for !src.Header().V1 {
			gen, err := src.Next()
			if err != nil {
				break
			}
			w := anyWork()
			decode(w, gen, nil, false, nil, func(*block) bool { return true })
			if steps += w.steps; 10*steps > input.Steps(gen.Stored) || 4*gen.Memory > src.Memory(gen.Stored) {
				t.Errorf("%s: %d steps of %d, %d bytes of %d", file, steps, input.Steps(gen.Stored), gen.Memory, src.Memory(gen.Stored))
			}
		}
		src.Close()
	}
}
