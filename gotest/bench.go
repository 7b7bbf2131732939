package gotest

import (
	"math"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/gmpscope/gmpscope/analyze"
	"github.com/gmpscope/gmpscope/analyze/histogram"
	"github.com/gmpscope/gmpscope/analyze/work"
	"github.com/gmpscope/gmpscope/internal/jsondoc"
)

// Bench is a benchmark with one number of Ps: a line of go test -bench, and the composition of
// its measured run.
type Bench jsondoc.Benchmark

// benches brings together what go test printed and the runs in the trace, which follow each other alike.
func benches(w *watcher, res *analyze.Result, printed []string) (out []Bench) {
	units := w.units
	for line := range strings.Lines(strings.Join(printed, "")) {
		f := strings.Fields(line)
		if len(f) < 4 || !strings.HasPrefix(f[0], "Benchmark") || f[3] != "ns/op" {
			continue
		}
		n, err1 := strconv.ParseInt(f[1], 10, 64)
		ns, err2 := strconv.ParseFloat(f[2], 64)
		if err1 != nil || err2 != nil {
			continue
		}
		b := Bench{Name: f[0], N: n, NsPerOp: ns, Path: []jsondoc.TestPart{}}
		if i := b.unit(units); i >= 0 {
			u := &units[i]
			units = units[i+1:]
			b.TimedNs, b.Path = u.To-u.From, pathOf(res, u)
			b.RunningNs, b.RunnableNs = w.running.between(u.From, u.To), w.runnable.between(u.From, u.To)
		}
		out = append(out, b)
	}
	return out
}

// unit returns the first of units that is the run of a benchmark, by its name, of which a trace has the
// function only, and by how long it took; -1 for none.
func (b *Bench) unit(units []work.Unit) int {
	name, _, within := strings.Cut(b.Name, "/")
	name, _, _ = strings.Cut(name, "-")
	took := float64(b.N) * b.NsPerOp
	return slices.IndexFunc(units, func(u work.Unit) bool {
		kind := function(u.Kind)
		is := kind == name || within && strings.HasPrefix(kind, name+".")
		return u.How == work.Benchmark && is && math.Abs(float64(u.To-u.From)-took) < took/20
	})
}

// function returns the name of a function without its package.
func function(name string) string {
	_, name, _ = strings.Cut(name[strings.LastIndexByte(name, '/')+1:], ".")
	return name
}

// series is a sum over time, in bins.
type series struct {
	bin  int64 // ns
	sums []int64
}

// add adds the time from one instant to another.
func (s *series) add(x span) {
	if s.bin == 0 {
		s.bin = int64(100 * time.Microsecond)
	}
	for x.to/s.bin >= maxIntervals {
		s.sums = histogram.Halve(s.sums, func(x, y int64) int64 { return x + y })
		s.bin *= 2
	}
	for x.from < x.to {
		i := x.from / s.bin
		for int64(len(s.sums)) <= i {
			s.sums = append(s.sums, 0)
		}
		to := min(x.to, (i+1)*s.bin)
		s.sums[i] += to - x.from
		x.from = to
	}
}

// between returns the sum from one time to another; of bins that these cut, their share.
func (s *series) between(from, to int64) (ns int64) {
	for i := from / max(s.bin, 1); i < int64(len(s.sums)) && i*s.bin < to; i++ {
		part := min(to, (i+1)*s.bin) - max(from, i*s.bin)
		ns += int64(float64(s.sums[i]) * float64(part) / float64(s.bin))
	}
	return ns
}
