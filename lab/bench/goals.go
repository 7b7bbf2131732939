package bench

import (
	"fmt"
	"strings"
	"time"
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
		ratio("wall", goalWall, median(m.ratios(analysis, wallSeconds)))
		ratio("CPU", goalCPU, median(m.ratios(analysis, cpuSeconds)))
	}
	most, peak := goalMemory+goalGoroutine*float64(m.Live), m.peak(analysis)
	all = append(all, goal{of: m.title, what: "peak memory", meant: megabytes(most), got: megabytes(peak), excess: peak - most, target: most})
	if len(m.costs["report"]) > 0 {
		beyond("report, beyond analyze", goalReport, m.typical("report", wallSeconds)-wall)
	}
	return all
}

func milliseconds(d time.Duration) string { return fmt.Sprintf("%.0f ms", d.Seconds()*1e3) }

// missed is the part of the page about the goals.
func (p *page) missed(w *strings.Builder) {
	all := p.goals()
	met := 0
	for i := range all {
		if !all[i].missed() {
			met++
		}
	}
	fmt.Fprintf(w, `## What it is meant to cost, and what misses that

An analysis is meant to take no more wall time than the plain loop, on two cores, and %.1f of its CPU time; of a trace of
less than %.0f MB at most %.0f ms more. Peak memory: %.0f MB and %d bytes for each goroutine live at a time. A report:
%.0f ms more than the analysis. The first byte about a trace of a megabyte: %.0f ms.
Of %d such goals, %d are met. The others:

| trace | | meant | is | above |
|---|---|---:|---:|---:|
`, goalCPU, goalShort/1e6, goalAbove.Seconds()*1e3, goalMemory/1e6, goalGoroutine, goalReport.Seconds()*1e3,
		goalStart.Seconds()*1e3, len(all), met)
	for i := range all {
		if g := &all[i]; g.missed() {
			fmt.Fprintf(w, "| %s | %s | %s | %s | %.0f %% |\n", g.of, g.what, g.meant, g.got, 100*g.excess/g.target)
		}
	}
	w.WriteString(reasons)
}

// reasons say why, as of November 2026.
const reasons = `
Why, and what would have to change (November 2026):

* **CPU time decides.** Wall time 1.0 on two cores needs a CPU time of 2.0 at most, all steps together, and no step is that cheap alone by
  much (see the cost by step): a dozen accumulators each do some 20 ns of work on each decision. What saved most: to make no timeline that the
  output does not show (6 % on the mixed load, 15 % on a service, 16 % with net/http's tests); to write records field by field where they
  belong, as a copy of what was just written waits until the store buffer is empty; to count in bytes, which stay in the cache; to keep the
  memory of copies for tests of hypotheses; to search by bit masks for who answers over the network; and a profile for the compiler that
  has all steps in it (9 % with many locks, 4 % with tests of pebble, nothing with a service, when units of work came into it). Of the time of units of work half
  is the walk along their paths, and most of that waits for intervals that have left the cache; they are in huge pages, which saved a
  twentieth with many locks. What was tried, and is little: ten more accumulators that do nothing but dispatch by kind take 8 % more, so
  that handing out decisions by kind, many at once, cannot save more than that; the largest record of a goroutine (344 bytes) twice as large
  costs 3 % with goroutines that end at once and at most 1 % else; other sizes of blocks, and fewer of them on the way: at most 2 %; varints
  of up to eight bytes read at once: decoding takes 4 % more; records fetched into the cache ahead of their turn, by an instruction for
  that: 2 %; copies for tests of hypotheses that take only what is asked for: each look at a goroutine becomes too large for the compiler
  to inline. Where thousands wait in line for a lock, the walk went through the same holders for each of them: since 64 intervals of that are
  gone through once for all, 10,000 short goroutines at a time take two fifths less CPU time. Detectors are called by kind, cause and
  class of goroutine already, so that one whose condition never holds costs a comparison. To be as fast as the plain loop an analysis
  would have to know less, or to be asked for less.
* **Goroutines that end at once** are all beginning and end: the plain loop forgets a goroutine with one deletion from a map,
  while each accumulator makes an account, settles it and clears it. Accounts could be made late, for goroutines that do more than
  run once; but all that makes, finds and clears accounts has 18 % of the samples of the profile, the search for the goroutine included,
  which would remain. Some now begin without being read, and some are not made. The reconstruction's record of a goroutine is made when it enters
  the window, and judged some 65,000 events later, when it has left the cache: 4 % of the samples are that first load. Copies for
  tests of hypotheses are 2 to 3 %: half as much would be copied if what is kept of a wait lay apart.
* **Short traces** pay what long ones spread: the start of the program (5 ms), tests of hypotheses, and memory that is touched for
  the first time. The second core has nothing to do while the first generation is read (5 to 30 ms), and while the result is made:
  3 ms for a short trace of channels, 38 ms for one of a compiler's stacks, nearly 100 ms for net/http's tests. The rest is as with long
  ones. Large tables are in huge pages (package analyze/internal/hugepages), which saved 2 to 14 %; the records of a million goroutines in such took
  a fifth more CPU time instead, which the kernel spent on making them. Tests of hypotheses may
  judge 2^20 events before they depend on the length: without those, net/http's tests take 6 % less, ristretto's and a steady
  minute 1 %, and 3 of 94 traces have another result; without any test it is 9, 6 and 0 %.
* **net/http's tests and a compiler's stacks** have thousands of distinct stacks: tables of stacks are read by one goroutine (35 ns
  a frame), and the result, waits by stack and detectors most of all, is made after the rest: 9 % of the CPU time of net/http's tests, of
  which detectors, which need what the waits say, are half. To make the other parts beside one another would save at most 3 %, and each
  would need tables of frames of its own.
  Lists of stacks and classes that double, where append gives them a quarter more, and one buffer for all of the JSON, saved 3 % of the
  pages and no time. With 12 MB between collections instead of 24 both take 4 to 7 % more CPU time, for up to 13 MB less memory.
* **Memory**: what each accumulator keeps of a live goroutine adds up: detectors 390 bytes (288 in one record, of which the longest
  chain of work up to it is 112; 48 each of its last wait that another one ended, and of the last herd that it was woken in),
  reconstruction 128, waits 64, fairness 56, what lives were spent on 40, the ledger 24, queues 24, and the indices from id to place 48.
  While it waits for a P it takes some 300 bytes more, which lie apart, as few of many wait at a time. To come to 600, what
  reconstruction keeps of a wait (88 bytes) would have to lie apart, too, and the detectors to go by the places of goroutines instead
  of their ids (16), and to keep no record of a goroutine that nobody else woke. With a million, the bytes of the generation before,
  for the case that the next cannot be read by itself, are 17 MB. Chains with two classes in the record instead of three take
  80 MB more, since most have three; the collector at a growth of 4 % instead of 8 saves 13 MB for 1 to 2 % of the CPU time; nodes of the
  queues in parts instead of a slice that grows, 8 MB for 1 to 3 % where goroutines end at once. With few goroutines it is blocks of
  decisions and the window (20 MB), and the buffers of the decoder (16 to 24 MB), for a report also the rings of the timeline (30 MB); and what
  the heap grows by between collections.

`
