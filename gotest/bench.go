package gotest

import (
	"strconv"
	"strings"

	"github.com/gmpscope/gmpscope/analyze"
	"github.com/gmpscope/gmpscope/analyze/work"
)

// Bench is a benchmark with one number of Ps: a line of go test -bench, and what its measured run
// consists of.
type Bench struct {
	Name    string // with the number of Ps, as go test prints it
	N       int64  // iterations
	NsPerOp float64
	TimedNs int64  // in the trace: of the run whose result is printed; 0 if that was not found
	Path    []Part // of its goroutine, the most first
}

// benches brings together what go test printed and the runs in the trace, which follow each other alike.
func benches(w *watcher, res *analyze.Result, printed []string) (out []Bench) {
	runs := map[string]int{}
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
		b := Bench{Name: f[0], N: n, NsPerOp: ns}
		top, _, _ := strings.Cut(f[0], "/")
		top, _, _ = strings.Cut(top, "-")
		if u := benchUnit(w.units, top, runs[top]); u != nil {
			b.TimedNs, b.Path = u.To-u.From, pathOf(res, u)
		}
		runs[top]++
		out = append(out, b)
	}
	return out
}

// benchUnit returns the measured run of a benchmark, or of one within it, by how many there were before.
func benchUnit(units []work.Unit, top string, run int) *work.Unit {
	for i := range units {
		u := &units[i]
		name := u.Kind[strings.LastIndexByte(u.Kind, '/')+1:]
		_, name, _ = strings.Cut(name, ".")
		if u.How == work.Benchmark && (name == top || strings.HasPrefix(name, top+".")) {
			if run == 0 {
				return u
			}
			run--
		}
	}
	return nil
}
