package stoptheworldcalls

import (
	"fmt"

	"github.com/gmpscope/gmpscope/analyze/findings"
	"github.com/gmpscope/gmpscope/internal/quantity"
)

// phrase writes title, evidence and advice.
func (w *watcher) phrase(f *findings.Facts, x *findings.Finding, c *caller) {
	t := &c.site
	rate := quantity.Number(c.perSecond)
	x.Headline = fmt.Sprintf("%s stops the world %s times a second (%s)", c.function, rate, c.what)
	if t.n < w.t.MinCount || c.perSecond < w.t.PerSecond {
		x.Headline = fmt.Sprintf("%s stops the world for up to %s at a time (%s)", c.function, quantity.Duration(t.longest), c.what)
	}
	x.Title = fmt.Sprintf("%s stops the world by calling %s: %s, %s a second, for up to %s",
		c.function, c.what, quantity.Plural(t.n, "time", "times"), rate, quantity.Duration(t.longest))
	x.Evidence = []findings.Evidence{
		{What: "stops that " + c.function + " asked for" + at(c.place), Value: quantity.Count(t.n), Limit: quantity.Count(w.t.MinCount)},
		{What: "a second", Value: rate, Limit: quantity.Number(w.t.PerSecond)},
		{What: "the world stood still for them", Value: quantity.Duration(t.ns) + " (" + quantity.Percent(f.Share(t.ns)) + " of the recording)", Ns: t.ns},
		{What: "the longest", Value: quantity.Duration(t.longest), Ns: t.longest},
	}
	if t.callNs > 0 {
		x.Evidence = append(x.Evidence, findings.Evidence{What: "its goroutine then ran on, summed", Value: quantity.Duration(t.callNs), Ns: t.callNs})
	}
	switch {
	case t.takenNs > c.cost/2:
		taken := quantity.Duration(t.takenNs)
		x.Headline = fmt.Sprintf("%s changes GOMAXPROCS: %s of P-time taken from who waits", c.function, taken)
		x.Title = fmt.Sprintf("%s changes GOMAXPROCS, %s, %s a second; while it was lower than before goroutines waited for the Ps that were missing: %s of P-time",
			c.function, quantity.Plural(t.n, "time", "times"), rate, taken)
		x.Evidence = append(x.Evidence, findings.Evidence{What: "P-time that was missing while goroutines waited", Value: taken, Ns: t.takenNs})
		x.Advice = append(x.Advice, "Leave GOMAXPROCS alone: take the call out of "+c.function+", or see what it decides by. An idle P costs next to nothing, and each change stops the world.")
	case t.cycles > 0:
		x.Evidence = append(x.Evidence, findings.Evidence{What: "garbage collections that it began, and the P-time of their mark workers", Value: quantity.Count(t.cycles) + ", " + quantity.Duration(c.markNs), Ns: c.markNs})
		x.Advice = append(x.Advice, "Let the runtime decide when to collect: take the call out of "+c.function+"; where memory must stay small, set GOMEMLIMIT (debug.SetMemoryLimit) or GOGC.")
	case c.what == "runtime.Stack":
		x.Advice = append(x.Advice, "Have "+c.function+" take a goroutine profile (runtime/pprof), which stops the world for a moment only, in place of runtime.Stack of all goroutines, or call that seldom.")
	default:
		x.Advice = append(x.Advice, "Call "+c.what+" seldom, or not at all: "+c.function+" can read runtime/metrics, which stops nothing, for the size of the heap, the number of goroutines, pauses and latencies.")
	}
	x.Advice = append(x.Advice, "What stops the world: runtime.ReadMemStats, runtime.GC and debug.FreeOSMemory, runtime.GOMAXPROCS with a number, profiles of goroutines, runtime.Stack of all of them. All goroutines wait until each P has stopped, and again until the Ps are back.")
}

func at(place string) string {
	if place == "" {
		return ""
	}
	return " (" + place + ")"
}
