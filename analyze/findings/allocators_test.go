package findings_test

import (
	"slices"
	"testing"

	"github.com/gmpscope/gmpscope/analyze/findings"
	"github.com/gmpscope/gmpscope/analyze/findings/findingstest"
	"github.com/gmpscope/gmpscope/reference"
)

func TestAllocators(t *testing.T) {
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
			top, all := a.Top(f)
			if want := []findings.Allocator{{Function: "main.render", Place: "main.go:20", Cycles: 3}}; !slices.Equal(top, want) || all != 5 {
				t.Errorf("%v of %d; want %v of 5", top, all, want)
			}
			return nil
		})
	}}
	s := findingstest.New(1)
	s.Local(7, 0, reference.WhyCreate).Start(7, 0)
	for _, stack := range []int32{1, 2, 3, 4, 1, 3, 5} {
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
