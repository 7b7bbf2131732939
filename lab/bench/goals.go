package bench

import (
	"fmt"
	"strings"
	"time"

	"github.com/gmpscope/gmpscope/internal/quantity"
)

// What an analysis is meant to take at most, as multiples of the plain loop's where
// nothing else is said.
const (
	goalWall      = 1.0
	goalCPU       = 2.0
	goalAbove     = 100 * time.Millisecond // wall time beyond the plain loop's that a short trace may take instead of both
	goalShort     = 10e6                   // bytes that a short trace has less than
	goalMemory    = 150e6                  // bytes
	goalGoroutine = 600                    // bytes for each goroutine live at a time
	goalReport    = 300 * time.Millisecond // wall time of report beyond that of analyze
	goalStart     = 80 * time.Millisecond  // until analyze has printed the first byte about a trace of a megabyte
)

// goal is one thing that was meant, and what became of it.
type goal struct {
	of, what       string
	meant, got     string
	excess, target float64 // how much more it is, and what it was to be
}

func (g *goal) missed() bool { return g.excess > 0 }

// goals are all that a page can tell of.
func (p *page) goals() (all []goal) {
	for _, m := range p.traces {
		all = append(all, m.goals()...)
	}
	for _, s := range p.starts {
		if strings.HasPrefix(s.Command, "analyze TRACE") {
			all = append(all, goal{
				of: "a megabyte", what: "the first byte", meant: milliseconds(goalStart), got: milliseconds(s.First),
				excess: (s.First - goalStart).Seconds(), target: goalStart.Seconds(),
			})
		}
	}
	return all
}

func (m *measured) goals() (all []goal) {
	ratio := func(what string, meant, got float64) {
		all = append(all, goal{of: m.title, what: what, meant: fmt.Sprintf("%.2f", meant), got: fmt.Sprintf("%.2f", got), excess: got - meant, target: meant})
	}
	beyond := func(what string, meant time.Duration, got float64) {
		all = append(all, goal{of: m.title, what: what, meant: milliseconds(meant), got: fmt.Sprintf("%.0f ms", 1e3*got), excess: got - meant.Seconds(), target: meant.Seconds()})
	}
	plain, wall := m.typical(plainLoop, wallSeconds), m.typical(analysis, wallSeconds)
	if m.Bytes < goalShort {
		beyond("wall, beyond the plain loop", goalAbove, wall-plain)
	} else {
		ratio("wall", goalWall, quantity.Median(m.ratios(analysis, wallSeconds)))
		ratio("CPU", goalCPU, quantity.Median(m.ratios(analysis, cpuSeconds)))
	}
	most, peak := goalMemory+goalGoroutine*float64(m.Live), m.peak(analysis)
	all = append(all, goal{of: m.title, what: "peak memory", meant: megabytes(most), got: megabytes(peak), excess: peak - most, target: most})
	if len(m.costs["report"]) > 0 {
		beyond("report, beyond analyze", goalReport, m.typical("report", wallSeconds)-wall)
	}
	return all
}

func milliseconds(d time.Duration) string { return fmt.Sprintf("%.0f ms", d.Seconds()*1e3) }

// missed is the part of the page about the goals: of each kind, how many are missed, and which by most.
func (p *page) missed(w *strings.Builder) {
	all := p.goals()
	var kinds []string
	count, missed, worst := map[string]int{}, map[string]int{}, map[string]*goal{}
	met := 0
	for i := range all {
		g := &all[i]
		if count[g.what]++; count[g.what] == 1 {
			kinds = append(kinds, g.what)
		}
		if !g.missed() {
			met++
			continue
		}
		missed[g.what]++
		if o := worst[g.what]; o == nil || g.excess/g.target > o.excess/o.target {
			worst[g.what] = g
		}
	}
	fmt.Fprintf(w, `## Goals

An analysis shall take no more wall time than the plain loop, on two cores, and %.1f of its CPU time; of a trace of
less than %.0f MB at most %.0f ms more. Peak memory: %.0f MB and %d bytes for each goroutine live at a time. A report:
%.0f ms more than the analysis. The first byte about a trace of a megabyte: %.0f ms.
Of %d such goals, %d are met:

| goal | missed | of | most by | goal | is |
|---|---:|---:|---|---:|---:|
`, goalCPU, goalShort/1e6, goalAbove.Seconds()*1e3, goalMemory/1e6, goalGoroutine, goalReport.Seconds()*1e3,
		goalStart.Seconds()*1e3, len(all), met)
	for _, k := range kinds {
		if g := worst[k]; g != nil {
			fmt.Fprintf(w, "| %s | %d | %d | %s | %s | %s |\n", k, missed[k], count[k], g.of, g.meant, g.got)
		}
	}
	w.WriteString(reasons)
}

// reasons explain the misses, as of November 2026.
const reasons = `
Why, as of November 2026:

* **CPU time decides.** Wall time 1.0 on two cores needs a CPU time of at most 2.0 for all steps together, and a dozen accumulators each do
  some 20 ns of work on each decision. Half of the time of units of work is the walk along their paths, which mostly waits for
  intervals that have left the cache. To be as fast as the plain loop, an analysis would have to know less.
* **Goroutines that end at once**: the plain loop forgets one with one deletion from a map, while each accumulator makes an account,
  settles it and clears it.
* **Short traces** pay the start of the program (5 ms), tests of hypotheses, and first touches of memory. The second core idles
  while the first generation is read (5 to 30 ms), and while the result is made (3 to 100 ms).
* **net/http's tests and a compiler's stacks** have thousands of distinct stacks: their tables are read by one goroutine (35 ns a frame),
  and waits by stack are computed at the end.
* **Memory** of a live goroutine: detectors 390 bytes, reconstruction 128, waits 64, fairness 56, time in states 40, ledger 24, queues 24,
  indices 48. A goroutine that waits for a P takes some 300 bytes more. The rest is blocks of decisions and the window (20 MB), buffers
  of the decoder (16 to 24 MB), for a report the rings of the timeline (30 MB), and the growth of the heap between collections.

`
