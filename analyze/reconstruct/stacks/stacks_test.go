package stacks

import (
	"testing"

	"github.com/gmpscope/gmpscope/analyze/events"
)

func TestClassify(t *testing.T) {
	for _, c := range []struct {
		name   string
		frames []string // innermost first
		want   Trait
	}{
		{"nothing of the runtime", []string{"main.work", "main.main"}, 0},
		{"a yield, from Go 1.25 on", []string{"runtime.goyield", "runtime.semrelease1", "sync.runtime_Semrelease"}, Goyield},
		{"a yield, until Go 1.24", []string{"runtime.semrelease1", "sync.runtime_Semrelease"}, Goyield},
		{"a semaphore released without a yield", []string{"runtime.semrelease1", "main.work"}, 0},
		{"a bubble's root", []string{"internal/synctest.Run", "testing/synctest.Test"}, Bubble},
		{"a bubble's root, from Go 1.25 on", []string{"runtime.gopark", "internal/synctest.Run", "testing/synctest.Test"}, Bubble},
		{"another goroutine of a bubble", []string{"runtime.gopark", "internal/synctest.Wait", "testing/synctest.Wait"}, 0},
		{"a sleep in a bubble's root", []string{"time.Sleep", "internal/synctest.Run"}, 0},
		{"the start of the world", []string{"runtime.systemstack_switch", "runtime.startTheWorldGC"}, SysStack | StartWorld},
		{"the sweep's end, which wakes the scavenger", []string{"runtime.systemstack_switch", "runtime.gcStart"}, SysStack | FinishSweep},
		{"a list", []string{"runtime.injectglist", "runtime.gcMarkTermination.func4"}, SysStack | Inject},
		{"mark termination is tried in vain", []string{"runtime.semrelease", "runtime.gcMarkDone"}, MarkDone | MarkNotDone},
		{"mark termination by a worker", []string{"runtime.gcMarkDone", "runtime.gcBgMarkWorker"}, MarkDone | Worker},
	} {
		var frames []*events.Frame
		for _, name := range c.frames {
			frames = append(frames, &events.Frame{Func: name})
		}
		if got := Classify(frames); got != c.want {
			t.Errorf("%s: %b, want %b", c.name, got, c.want)
		}
	}
}
