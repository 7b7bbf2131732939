package class

import (
	"testing"

	"github.com/gmpscope/gmpscope/analyze/events"
)

// Of a stack that a signal interrupted, the call of the innermost function may be missing:
// only what is outside of that is believed.
func TestInterruptedStacksAreBelievedInPart(t *testing.T) {
	for name, c := range map[string]struct {
		frames  []string // innermost first
		callers []string // whose callees are known
	}{
		"blocked": {[]string{"runtime.chanrecv1", "main.work", "lib.run"}, []string{"lib.run"}},
		"interrupted in what the library was given": {
			[]string{"runtime.asyncPreempt2", "runtime.asyncPreempt", "main.leaf", "main.work", "lib.run"}, []string{"lib.run"}},
		"interrupted, and its caller is missing": {
			[]string{"runtime.asyncPreempt2", "runtime.asyncPreempt", "main.leaf", "lib.run"}, nil},
	} {
		w := newWrappers(nil)
		var f []*events.Frame
		for i, fn := range c.frames {
			f = append(f, &events.Frame{Func: fn, PC: uint64(100 - i)})
		}
		w.observe(f)
		if len(w.callers) != len(c.callers) {
			t.Errorf("%s: %d callers, want %v", name, len(w.callers), c.callers)
		}
		for _, fn := range c.callers {
			if x := w.callers[fn]; x == nil || x.sites[site{pc: f[len(f)-1].PC}].first != "main.work" {
				t.Errorf("%s: %s has %+v", name, fn, x)
			}
		}
	}
}

// A callee whose name was lost may be another one, whatever comes first.
func TestLostNamesAreNoCallee(t *testing.T) {
	for range 20 { // the sites are a map
		w := newWrappers(nil)
		for i, callee := range []string{"main.work", ""} {
			w.observe([]*events.Frame{{Func: callee, PC: 1}, {Func: "sync.(*WaitGroup).Go.func1", PC: uint64(10 + i)}})
		}
		if got := w.only("sync.(*WaitGroup).Go.func1"); got != "" {
			t.Fatalf("only %q", got)
		}
	}
}

// Benchmarks are told apart by what package testing is given, though launch calls runN at two places.
func TestBenchmarksAreToldApart(t *testing.T) {
	w := newWrappers(nil)
	stack := func(launch, call uint64, callee, of string) []*events.Frame {
		return []*events.Frame{{Func: callee}, {Func: of, PC: call}, {Func: "testing.(*B).runN", PC: 20}, {Func: "testing.(*B).launch", PC: launch}}
	}
	for _, of := range []string{"shop.BenchmarkPay", "shop.BenchmarkAsk"} {
		for _, launch := range []uint64{30, 31} {
			w.observe(stack(launch, 7, "shop.work", of))
			w.observe(stack(launch, 8, "shop.wait", of))
		}
	}
	for _, launch := range []uint64{30, 31} {
		if got := w.find(stack(launch, 7, "shop.work", "shop.BenchmarkPay")); got != "shop.BenchmarkPay" {
			t.Errorf("%q", got)
		}
	}
}
