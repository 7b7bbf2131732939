package kernel

import (
	"cmp"
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/gmpscope/gmpscope/analyze/events"
	"github.com/gmpscope/gmpscope/analyze/input"
)

// pointsOf returns where threads of a recorded trace did something.
func pointsOf(t *testing.T, file string) (points []Point) {
	t.Helper()
	src, err := input.Open(t.Context(), file, input.Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer src.Close()
	s := events.New(t.Context(), src, events.Options{})
	defer s.Close()
	for {
		evs, err := s.Next()
		if errors.Is(err, io.EOF) {
			return points
		}
		if err != nil {
			t.Fatal(err)
		}
		for i := range evs {
			if e := &evs[i]; e.Kind == events.Go && e.From != e.To && e.From != events.Undetermined && e.Res == e.G && e.M > 0 && e.M < maxTID {
				points = append(points, Point{s.Stats().Start + e.Time, int32(e.M)})
			}
		}
	}
}

// recordsOf returns all records of a file.
func recordsOf(t *testing.T, file string) (records []Record, resolution int64) {
	t.Helper()
	f, err := os.Open(file)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	r, err := New(f, file)
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	for {
		x, err := r.Next()
		if errors.Is(err, io.EOF) {
			return records, r.ResolutionNs()
		}
		if err != nil {
			t.Fatal(err)
		}
		records = append(records, x)
	}
}

// shifts are the smallest and the largest shift near another, ns about that, with as many
// points inside as any near it has, but for one in a hundred.
func shifts(points []Point, spans map[int32][]span, around int64) span {
	points = slices.Clone(points)
	for i := range points {
		points[i].Time += around
	}
	near := sweep(points, spans, nearNs)
	most, n := 0, 0
	for _, x := range near.steps {
		n += x.by
		most = max(most, n)
	}
	from, to := near.all(most - near.points/100)
	return span{from, to}
}

// thirds returns the shifts in the first and in the last third of a recording, and the
// resolution of its records, which are stretched by stretch ns for each second.
func thirds(t *testing.T, trace, side string, stretch int64) (first, last span, resolution int64) {
	t.Helper()
	records, resolution := recordsOf(t, side)
	points := pointsOf(t, trace)
	clock, err := Compare(points, records, resolution)
	if err != nil {
		t.Fatal(err)
	}
	if clock.Threads != nil {
		points = translated(points, clock.Threads)
	}
	for i := range records {
		records[i].Time += (records[i].Time - records[0].Time) / 1000 * stretch / 1_000_000
	}
	from, to := points[0].Time, points[len(points)-1].Time
	at := func(at int64) int {
		i, _ := slices.BinarySearchFunc(points, at, func(p Point, t int64) int { return cmp.Compare(p.Time, t) })
		return i
	}
	spans := onCPU(records)
	first = shifts(points[:at(from+(to-from)/3)], spans, clock.ShiftNs)
	return first, shifts(points[at(to-(to-from)/3):], spans, clock.ShiftNs), resolution
}

// agree reports whether there is a shift that fits both.
func agree(a, b span, resolution int64) bool {
	return max(a.from, b.from) <= min(a.to, b.to)+resolution
}

// TestNoDrift compares the clocks in the first and in the last third of each recording: a
// shift that fits the one fits the other.
func TestNoDrift(t *testing.T) {
	dir := filepath.Join("..", "..", "testdata", "kernel")
	traces, err := filepath.Glob(filepath.Join(dir, "*.trace.zst"))
	if err != nil || len(traces) == 0 {
		t.Fatal(traces, err)
	}
	for _, trace := range traces {
		t.Run(filepath.Base(trace), func(t *testing.T) {
			side := strings.TrimSuffix(trace, "trace.zst") + "ftrace.zst"
			if _, err := os.Stat(side); errors.Is(err, fs.ErrNotExist) {
				side = strings.TrimSuffix(trace, "trace.zst") + "script.zst"
			}
			first, last, resolution := thirds(t, trace, side, 0)
			t.Logf("ns about the shift: %d to %d in the first third, %d to %d in the last", first.from, first.to, last.from, last.to)
			if !agree(first, last, resolution) {
				t.Error("the clock of the records drifts")
			}
		})
	}
}

// TestDriftShows has a clock that gains 100 µs in a second.
func TestDriftShows(t *testing.T) {
	file := filepath.Join("..", "..", "testdata", "kernel", "crowd")
	if first, last, resolution := thirds(t, file+".trace.zst", file+".ftrace.zst", 100_000); agree(first, last, resolution) {
		t.Errorf("%v and %v", first, last)
	}
}
