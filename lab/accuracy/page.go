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
		case waits.CauseIdlePAvailable, waits.CausePWakingUp, waits.CauseUnavailable, waits.CauseOverhead:
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

// outOfBand returns the rows of traces that are not in all bands.
func outOfBand(rows []row) []row {
	return slices.DeleteFunc(slices.Clone(rows), func(r row) bool { return len(r.res.OutOfBand()) == 0 })
}

// table writes a row for each trace.
func table(w io.Writer, rows []row) {
	fmt.Fprintln(w, "| trace | makespan, ms | error, % | waited, error, % | p50, µs | p99, µs | CPU lacked, % | machine, % | out of band | most different |")
	fmt.Fprintln(w, "|---|---:|---:|---:|---:|---:|---:|---:|---|---|")
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
		fmt.Fprintf(w, "| %s | %.1f | %s | %s | %s→%s | %s→%s | %s | %s | %s | %s |\n", r.name, float64(o.MakespanNs)/1e6,
			percent(f.Error.Makespan), percent(f.Error.Waits.Total),
			micros(o.Waits.P50), micros(f.Simulated.Waits.P50), micros(o.Waits.P99), micros(f.Simulated.Waits.P99),
			lacked, machine, strings.Join(out, ", "), why)
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
			fmt.Fprintln(w, "Those that are not:")
			fmt.Fprintln(w)
			table(w, outOfBand(s.rows))
		}
	}
	fmt.Fprint(w, "\n## What if: twice the Ps, or half of them\n\n"+whatIf)
	predictions(w, ps)
	fmt.Fprint(w, reasons)
}

const head = `# How far the simulation is off

For those who change the simulator. Made by ` + "`scripts/lab replay`" + `; do not edit. ` + "`scripts/lab replay DIR`" + ` prints all rows, also for other traces.

The simulation schedules the work of a trace again, with the same rules and GOMAXPROCS. The difference to what was observed is the error of
the model. Numbers are medians of five runs with other seeds. Costs are drawn from the 16 nearest measurements in the trace where it shows
enough of them: 20 of a switch within a P's own queue, to a goroutine from the network poller, from one that yields to
the head of the global queue, and of the wake-up of a goroutine by a timer; 5 of the wake-up of a thread. Other costs have their defaults.

Bands: busy time within 1 %, makespan within 3 %, time waited within 15 %, p50 and p99 of the waits within a factor of 1.5
(below 1 µs they count as 1 µs). The last column names the cause of waiting that differs most: simulated, not
observed. CPU lacked is the time that threads were ready and had no CPU, as part of the P-time; a trace counts as starved from 2 % on; "?" is
not recorded. Machine is the part of the time waited that is at most the machine's: what goroutines waited in the trace, and not in
the model, for idle-p-available, p-waking-up, p-unavailable and scheduler-overhead, but no more than threads lacked CPUs.

[replay-programs.md](replay-programs.md) has recordings of real programs with no more Ps than cores.
`

const whatIf = `Programs in testdata/traces/whatif/programs, recorded with one P and with two on a machine with two cores for them. The trace
of the one predicts the makespan of the other. Model is the error of the makespan for the trace's own GOMAXPROCS; the bound is the time that a mutex
is known to be held, for more Ps only. Trusted is the makespan.

`

const reasons = `
## Why, where it is worse

* **idle-p-available, p-waking-up, scheduler-overhead**: the model draws how long a wake-up takes from the wake-ups in the trace for which
  only one thread can have been meant. Among few of these (16 in synctest, of which one took 5 ms) a late one is drawn too often. With
  more threads than cores, or beside other programs, the kernel decides (esbuild: 8 Ps on 2 cores). An interruption while a
  goroutine runs looks like work. A woken thread waits on its waker's core until the waker sleeps; the model has a core for each P, so
  with fewer it waits too little (annot, flightrec).
* **world-stopped**: the model stops the world for as long as observed, from when the last P had stopped, and waits for its own late threads besides.
* **queueing, overtaken**: who steals from whom is chance, and decides who waits for whom where hundreds are queued: the sum of waits
  changes, makespan and busy time do not. In programs that wait little, a few waits of bgsweep and bgscavenge are most of the sum. The
  phase of a P's 61st tick is known only from a tick that took something, and a single goroutine in the global queue may wait for it: pingpong-starve-*.
* **p-unavailable**: how late sysmon retakes a P is not in the trace, since its intended sleep is not.
* **garbage-collector**: a cycle begins where its goroutine is at the same point of its work. The most that idle workers mark in a cycle is that of the
  trace; when they do is the model's choice. A trace that begins within a cycle does not show its mark workers as such at first: cgo-zstd.
* **Timers and the network**: when a timer was due, or an answer there, shows only when a P polls. The model takes the middle of the time since
  that P polled last; for what woke an idle P, 55 µs before, the usual delay of the kernel. If a program talks to itself, an answer comes when
  the system call that sent it is made: that of the goroutine that answered last time, or else the latest call in question, which is a guess. Other answers come at
  their time.
* **Locks and channels**: goroutines block where they blocked, and are woken by those that woke them, except on a channel
  that seems unbuffered. Another schedule would have other conflicts. With one P, goroutines meet at a lock only if the holder is preempted or
  blocks: for more Ps such a prediction is a lower bound (lock-limited, lock-asleep). The mutex bound adds up what shows of the lock: the
  share of preemptions, of all, after which the preempted goroutine unlocks it, and waits of goroutines that sleep while they hold it.
  It is no prediction: waking a thread takes time too, the preemptions are few, and mutexes of one function count as one.
* **Loops that wait for the clock or a flag** look like a fixed amount of work: forever-*.
* **The beginning and the end**: the model begins without threads, and what ran at the end of the trace ends there: it shows in traces of a few ms.
* **Changes of GOMAXPROCS** come when they came; a what-if with another GOMAXPROCS has it from beginning to end.
* **Another GOMAXPROCS**: [docs/replay.md](../../docs/replay.md#how-far-to-trust-it) says when makespan and waiting are called untrusted. For that the work is
  simulated again with computing that takes 1.6 times as long on more Ps, or as much less on fewer (1.05 times in a trace without a GC cycle); with system
  calls and thread wake-ups that take twice as long (wake-ups four times if they are not measured); and with deadlines and polls that are over at
  once. A deadline is a timer that woke a goroutine which waited for something else, too, or that ran a function; a poll is a time.Sleep to which a
  goroutine comes back without an effect on others, as for a file lock.
`
