package findings_test

import (
	"slices"
	"testing"

	"github.com/gmpscope/gmpscope/analyze/findings"
	"github.com/gmpscope/gmpscope/analyze/findings/findingstest"
	"github.com/gmpscope/gmpscope/reference"
)

// TestAllocators has cycles that the program's own functions start, in what they call or themselves, and
// then some that a library starts.
func TestAllocators(t *testing.T) {
	start := []string{"runtime.gcStart (mgc.go:700)", "runtime.mallocgc (malloc.go:1100)"}
	parse := append(start, "strings.genSplit (strings.go:240)", "example.com/jwt.Parse (/mod/example.com/jwt@v1.2.3/parser.go:60)", "main.auth (main.go:50)")
	for _, c := range []struct {
		library bool
		want    findings.Allocator
		doer    string
		all     int64
	}{
		{false, findings.Allocator{Function: "main.render", Place: "main.go:20", Cycles: 3}, "main.render", 5},
		{true, findings.Allocator{Function: "example.com/jwt.Parse", By: "main.auth", Place: "parser.go:60", Cycles: 7}, "example.com/jwt.Parse, called by main.auth,", 12},
	} {
		allocators(t, c.library, parse, func(top []findings.Allocator, all int64) {
			if !slices.Equal(top, []findings.Allocator{c.want}) || all != c.all || top[0].Doer().String() != c.doer {
				t.Errorf("%v of %d; want %v of %d", top, all, c.want, c.all)
			}
		})
	}
}

func allocators(t *testing.T, library bool, parse []string, check func(top []findings.Allocator, all int64)) {
	t.Helper()
	stacks := map[int32][]string{
		1: {"runtime.gcStart (mgc.go:700)", "runtime.mallocgc (malloc.go:1100)", "regexp.compile (regexp.go:160)", "main.render (/src/main.go:20)", "main.main (main.go:3)"},
		2: {"runtime.gcStart (mgc.go:700)", "runtime.mallocgc (malloc.go:1100)", "main.render (main.go:24)", "main.main (main.go:3)"},
		3: {"runtime.gcStart (mgc.go:700)", "runtime.mallocgc (malloc.go:1100)", "main.read (main.go:30)"},
		4: {"runtime.gcStart (mgc.go:700)", "runtime.GC (mgc.go:500)", "main.main (main.go:4)"},
		5: {"runtime.ReadMemStats (mstats.go:300)", "main.inspect (main.go:40)"},
	}
	var a *findings.Allocators
	detector := findings.Detector{ID: "x", New: func(w *findings.View) findings.Watcher {
		a = findings.NewAllocators(w)
		return watcher(func(f *findings.Facts) []findings.Finding {
			check(a.Top(f))
			return nil
		})
	}}
	s := findingstest.New(1)
	s.Local(7, 0, reference.WhyCreate).Start(7, 0)
	order := []int32{1, 2, 3, 4, 1, 3, 5}
	if library {
		stacks[6] = parse
		order = append(order, 6, 6, 6, 6, 6, 6, 6)
	}
	for _, stack := range order {
		if stack != 5 {
			s.Emit(reference.Decision{Kind: reference.KindGCBegin, G: 7})
		}
		s.Emit(reference.Decision{Kind: reference.KindSTWBegin, G: 7, Stack: stack})
		s.Emit(reference.Decision{Kind: reference.KindSTWEnd})
		s.Pass(findingstest.Ms)
	}
	f := s.Facts()
	f.Stack = func(h int32) []string { return stacks[h] }
	s.DetectWith(detector, f)
}

type watcher func(*findings.Facts) []findings.Finding

func (w watcher) Finish(f *findings.Facts) []findings.Finding { return w(f) }
