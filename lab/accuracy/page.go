package accuracy

import (
	"cmp"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/gmpscope/gmpscope/analyze/waits"
	"github.com/gmpscope/gmpscope/internal/quantity"
	"github.com/gmpscope/gmpscope/replay"
)

// starved is the share of the P-time for which threads had no CPU from which a
// trace counts as starved by the machine.
const starved = 0.02

// starvedTitle is of those whose rows are left out: they show the machine.
const starvedTitle = "Traces that the machine starved of CPU"

// bandWaits is that of the time waited.
const bandWaits = 0.15

// lacks reports whether the machine starved the program of CPU.
func (r *row) lacks() bool {
	return r.lacked != nil && float64(*r.lacked) > starved*float64(r.res.Observed.MakespanNs)*float64(r.res.Simulated.Workload.GOMAXPROCS)
}

// lacksForWaits reports whether threads lacked a CPU for so much of the time waited that this alone
// may be out of its band: in a program that is mostly idle, little of the P-time is much of that.
func (r *row) lacksForWaits() bool {
	return r.lacked != nil && float64(*r.lacked) > bandWaits*float64(r.res.Observed.Waits.TotalNs)
}

// machine returns how much of the time waited is the machine's, at most, in ns: what
// goroutines waited in the trace, and not in the model, for threads to wake up and for Ps in
// system calls or in the scheduler, but no more than threads lacked a CPU. That was
// measured in the kernel; it is 0 if it was not.
func (r *row) machine() int64 {
	if r.lacked == nil {
		return 0
	}
	more := int64(0)
	for _, c := range r.res.Simulated.Causes {
		switch c.Cause {
		case waits.CauseIdlePMissed, waits.CauseIdlePWaking, waits.CauseUnavailable, waits.CauseResidue:
			more += max(0, c.ObservedNs-c.SimulatedNs)
		}
	}
	return min(more, *r.lacked)
}

// withoutMachine reports whether a trace is in all bands if what the machine owns of the
// time waited is left out of it.
func (r *row) withoutMachine() bool {
	out := r.res.OutOfBand()
	if len(out) == 1 && out[0] == "waited" {
		o := r.res.Observed.Waits.TotalNs - r.machine()
		return within(r.res.Simulated.Simulated.Waits.TotalNs, o, bandWaits)
	}
	return len(out) == 0
}

// good counts the traces in all bands, as they are, and without what is the machine's.
func good(rows []row) (strict, without int) {
	for _, r := range rows {
		if len(r.res.OutOfBand()) == 0 {
			strict++
		}
		if r.withoutMachine() {
			without++
		}
	}
	return strict, without
}

// reason names the cause of waiting in which the two runs differ most.
func reason(r *replay.Result) string {
	var most replay.CauseRun
	for _, c := range r.Simulated.Causes {
		if d := abs(c.ObservedNs - c.SimulatedNs); d > abs(most.ObservedNs-most.SimulatedNs) {
			most = c
		}
	}
	if most.Cause == "" {
		return ""
	}
	return fmt.Sprintf("%s: %s, not %s", most.Cause, quantity.Duration(most.SimulatedNs), quantity.Duration(most.ObservedNs))
}

func abs(x int64) int64 { return max(x, -x) }

func percent(e *float64) string {
	if e == nil {
		return "–"
	}
	return fmt.Sprintf("%+.1f", *e*100)
}

// table writes a row for each trace.
func table(w io.Writer, rows []row) {
	fmt.Fprintln(w, "| trace | makespan, ms | makespan, % | busy, % | waited, % | p50, µs | p99, µs | starts | CPU lacked, % | machine, % | out of band | most different |")
	fmt.Fprintln(w, "|---|---:|---:|---:|---:|---:|---:|---:|---:|---:|---|---|")
	for _, r := range rows {
		f, o := r.res.Simulated, r.res.Observed
		lacked, machine := "?", "?"
		if r.lacked != nil {
			machine = fmt.Sprintf("%.0f", 100*float64(r.machine())/float64(max(o.Waits.TotalNs, 1)))
			lacked = fmt.Sprintf("%.0f", 100*float64(*r.lacked)/float64(o.MakespanNs)/float64(f.Workload.GOMAXPROCS))
		}
		out := r.res.OutOfBand()
		why := ""
		if len(out) > 0 {
			why = reason(r.res)
		}
		fmt.Fprintf(w, "| %s | %.1f | %s | %s | %s | %s → %s | %s → %s | %d | %s | %s | %s | %s |\n", r.name, float64(o.MakespanNs)/1e6,
			percent(f.Error.Makespan), percent(f.Error.Busy), percent(f.Error.Waits.Total),
			micros(o.Waits.P50), micros(f.Simulated.Waits.P50), micros(o.Waits.P99), micros(f.Simulated.Waits.P99),
			o.Waits.Count, lacked, machine, strings.Join(out, ", "), why)
	}
}

// causes writes, for each trace, which causes of waiting are how far off, as parts of the
// time waited, down to 1 %: the largest difference first.
func causes(w io.Writer, rows []row) {
	fmt.Fprintln(w, "\n| trace | waited, ms | more or less by cause, % of that |\n|---|---:|---|")
	for _, r := range rows {
		total := r.res.Observed.Waits.TotalNs
		all := slices.Clone(r.res.Simulated.Causes)
		slices.SortStableFunc(all, func(a, b replay.CauseRun) int {
			return cmp.Compare(abs(b.SimulatedNs-b.ObservedNs), abs(a.SimulatedNs-a.ObservedNs))
		})
		var off []string
		for _, c := range all {
			if d := c.SimulatedNs - c.ObservedNs; 100*abs(d) >= total && d != 0 {
				off = append(off, fmt.Sprintf("%s %+.1f (of %.1f)", c.Cause, 100*float64(d)/float64(total), 100*float64(c.ObservedNs)/float64(total)))
			}
		}
		fmt.Fprintf(w, "| %s | %.1f | %s |\n", r.name, float64(total)/1e6, strings.Join(off, ", "))
	}
}

func micros(ns int64) string { return fmt.Sprintf("%.1f", float64(ns)/1e3) }

// page writes lab/docs/replay.md.
func page(w io.Writer, rows []row, ps []prediction) {
	var fed, hungry, unknown []row
	for _, r := range rows {
		switch {
		case r.lacked == nil:
			unknown = append(unknown, r)
		case r.lacks():
			hungry = append(hungry, r)
		default:
			fed = append(fed, r)
		}
	}
	fmt.Fprint(w, head)
	for _, s := range []struct {
		title string
		rows  []row
	}{
		{"Traces that had the CPU", fed},
		{"Traces of real programs", unknown},
		{starvedTitle, hungry},
	} {
		strict, without := good(s.rows)
		fmt.Fprintf(w, "\n## %s\n\n%d of %d are in all bands, %d without the machine's part.\n", s.title, strict, len(s.rows), without)
		if s.title != starvedTitle {
			fmt.Fprintln(w)
			table(w, s.rows)
		}
	}
	fmt.Fprint(w, "\n## What if: twice the Ps, or half of them\n\n"+whatIf)
	predictions(w, ps)
	fmt.Fprint(w, reasons)
}

const head = `# How far the simulation is off

Made by ` + "`scripts/lab replay`" + `; do not edit. ` + "`scripts/lab replay DIR`" + ` makes the table for other traces.

The simulation takes the work out of a trace and has the model of the scheduler schedule it, as it was: same rules, same
GOMAXPROCS. What comes out differs from what was observed; that difference is the error of the model, and what any what-if
must be read beside. Numbers are medians of five runs with other seeds. Five costs are measured in the trace, where it
shows them often enough (from one goroutine to the next in a P's own queue, to one whom the network poller gave, from one that
yields to the head of the global queue, and the wake-up of a goroutine by a timer, 20 times each; the wake-up of a thread, 5
times), and each time one of the 16
measurements made next to that time of the trace is drawn: their tails are the kernel's doing, and late ones come together. All
other costs have their defaults.

Bands: busy time within 1 %, makespan within 3 %, time waited within 15 %, p50 and p99 of the waits within a factor of 1.5
(below 1 µs they count as 1 µs). The last column names the cause of waiting in which both runs differ most: simulated, not
observed. For the scenario traces, how long threads had no CPU was recorded; a trace counts as starved from 2 % of the
P-time on. For the real programs in this repository it is not known. Machine is the part of the time waited that is the
machine's, at most: what goroutines waited in the trace, and not in the model, for threads to wake up and for Ps in system
calls or in the scheduler (idle-p, p-unavailable, residue), but no more than threads had no CPU. The bands do not take it
off; how many traces were in them if it were taken off is said besides.

[replay-programs.md](replay-programs.md) has new recordings of real programs with no more Ps than cores.
`

const whatIf = `Programs in testdata/traces/whatif/programs, each recorded with one P and with two on a machine that had two cores for them.
The trace of the one predicts the makespan of the other. Model is its error for the trace that it was given; the bound is
for how long a mutex is known to be held, as far as the trace shows that, for more Ps only. Trusted is the makespan.

`

const reasons = `
## Why, where it is worse

* **idle-p-available, p-waking-up, scheduler-overhead**: goroutines waited in the observed run while a P was idle, its thread was waking
  up, or a P was in the scheduler. The model draws how long that takes from what can be measured in the trace: a wake-up by a
  goroutine when one thread only can have been meant. Where there are more threads than cores, or other programs, a wake-up
  takes as long as the kernel likes: esbuild has 8 Ps on a machine with 2 cores. Few wake-ups can be measured (16 in synctest,
  of which one took 5 ms): among so few, a late one is drawn too often. An interruption while a goroutine runs is in the trace,
  but looks like work.
  The kernel puts a thread that is woken on the core of who wakes it, and there it waits. So in the model one that is late is
  awake soon after its waker has gone to sleep, or all have, for a stop of the world. That has a core for each P: where there are
  fewer, threads wait for one all the same, and the model waits too little (annot, flightrec).
* **stw**: the model stops the world for as long as it was stopped, counted from when the last P had stopped. It also has to
  wait for threads that are waking up just then, and for those that lost their CPU between two goroutines.
* **behind, overtaken**: others ran first, in another order. Who steals when from whom is luck, and decides who waits for
  whom where hundreds of goroutines are queued; makespan and busy time do not care, the sum of waits does. In programs that
  wait little, a few waits of a time slice of the runtime's own goroutines (bgsweep, bgscavenge) are most of that sum. A thread that wakes
  up late shifts such a queue as well. Where each P is on the way to its 61st tick is known only from when it took one from the
  global queue for that, and a single goroutine there may wait for it: pingpong-starve-*.
* **p-unavailable**: a P was in a system call. sysmon takes it away when it wakes up; on a machine without a free core that
  is late, and the system call itself lasts longer. How late sysmon is cannot be measured: how long it meant to sleep is not in
  the trace. The scavenger is asked for where the sweep ends, and sysmon wakes it in its next pass, in the trace and in the model.
* **gc**: a cycle begins where its goroutine is at the same point of its work, and who waits for its end goes on when the
  marking is done. How much idle mark workers mark in a cycle, at most, is taken from the trace, unless nobody marks else; when
  they do, and what others mark meanwhile, is the model's choice. Who is preempted for the collector (forEachP) is preempted at the same point of its work,
  and the worker that ends a cycle keeps its P for as long as it did. A trace that begins within a cycle does not show its mark
  workers as such at first: cgo-zstd.
* **Timers and the network**: when a timer was due, or an answer there, shows only when somebody looks. The replay assumes
  the middle of the time since that P looked last. What woke an
  idle P was due 55 µs before, for that is how late the kernel wakes a thread, and the model is as late; but in part it was later
  (the poller counts in ms), and sleeps that ended together drift apart. What comes from the network comes at its time. But
  if a program talks to itself, which shows where most answers come after a system call of the goroutine that answered last
  time, or to which this one's own went, then an answer comes when that system call is made, as long after its beginning as it was
  seen, or as the call took if that is less; and with another GOMAXPROCS so it does in any case. If there is no such goroutine, it
  is the latest system call of any other of the program since it began to wait that was not over when somebody polled in
  between. Which it was is a guess. Answers that nobody in the trace can have sent come at their time.
* **Locks and channels**: who was blocked in the trace blocks in the replay, and is woken by whom it was woken by. Another
  schedule would have other conflicts, and other goroutines would meet. Only where a channel seems to be unbuffered, because nearly all
  goroutines of a class end by a send on it, whoever comes first waits, and the receiver takes who is first. So a trace with one P says little about a program that its locks limit: there
  goroutines meet at a lock only if one is preempted, or blocks, while it holds it, and a lock that is taken without waiting
  leaves no event. For more Ps such a prediction is a lower bound (lock-limited, lock-asleep). Two things show all the same.
  A time slice ends at any time, whatever its goroutine holds; so the part of such preemptions after which it is the preempted
  one that wakes up who waits for the mutex, with no other wake-up there in between, is about the part of the computing that is
  done under it. And who is asleep, or blocked elsewhere, and then wakes up in that way who came to wait meanwhile, holds it
  there. The column with the bound adds up both; a replay says it in a note. It is no prediction: to hand a mutex to a thread
  that sleeps takes time as well (lock-limited), the preemptions are few, and mutexes of one function count as one. With
  several Ps the conflicts are in the trace, and fewer Ps are predicted well.
* **Loops that wait for the clock or a flag** ("run until told to stop") look like a fixed amount of work: forever-*.
* **The beginning and the end**: the model begins without threads; what was running at the end of the trace ends there. That
  shows in traces of a few ms.
* **Changes of GOMAXPROCS** come when they came, whatever the program did before; a what-if with another GOMAXPROCS has it
  from beginning to end.
* **Another GOMAXPROCS**: the work is what was done with the trace's own. Where goroutines run at once, the same work can take
  half as long again, or twice as long (caches, cores that share their units), and tests, benchmarks and servers ask how many Ps there are.
  A what-if says of the makespan and of waiting apart whether it can be trusted. The makespan cannot where the model is out of
  its band for that; where it changes by more than 10 % in sum if computing takes 1.6 times as long on more Ps, or as much less on
  fewer (1.05 times if the trace has no cycle of the garbage collector), if system calls and the wake-up of threads take twice as long
  (the latter four times, if the trace does not show how long: with one P it does not), and if deadlines and polls are over at once.
  A deadline is a timer that woke who waited for something else, too: under another schedule that may come first. A poll is
  a time.Sleep in a place where somebody slept, looked, and slept again with nothing in between that others notice, as one waits
  for a file lock (bbolt); and a function that a timer runs counts, too, for it comes in the model when it came. Nor can the makespan be
  trusted where goroutines wait for a mutex and more Ps save more than 10 %; where more than 5 % of the waits follow on the network, and nobody in the trace can have
  ended them; and for the benchmarks of package testing that run in as many goroutines as there are Ps. Waiting cannot where the
  makespan cannot; where the trace has one P and the what-if more; where goroutines wait for a mutex and it has more Ps; where the
  model is out of its bands for the makespan or the time waited; where more than 5 % of the waits follow on the network; where more than 25 % of the
  time waited is for threads to wake up or for Ps in system calls; and where the longer or shorter computing changes it by more
  than 25 %.
`
