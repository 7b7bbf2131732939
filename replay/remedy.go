package replay

import (
	"github.com/gmpscope/gmpscope/analyze/findings"
)

// remedy is the change of a simulation that stands for what a detector advises.
type remedy struct {
	// change makes it for a finding; ok is false where the finding does not name
	// what the change needs. Class needs no name: it is the finding's first cause.
	change func(f *findings.Finding, procs int) (c Change, ok bool)
	// why says how the change stands for the advice.
	why string
	// makespan says that the advice is about how long all takes: what it takes
	// away is no waiting for a P.
	makespan bool
}

// remedies are by the IDs of the detectors; those without one are in noRemedy.
var remedies = map[string]remedy{
	"starvation": {
		change: func(_ *findings.Finding, procs int) (Change, bool) { return Change{Procs: 2 * procs}, true },
		why:    "more Ps, or as much less to do for each; if the machine has the cores",
	},
	"convoy": {
		change: func(*findings.Finding, int) (Change, bool) { return Change{Yield: 100_000}, true },
		why:    "the long work in pieces, with a point between them at which others get in",
	},
	"runnext-monopoly": {
		change: func(*findings.Finding, int) (Change, bool) { return Change{Policy: "no-runnext"}, true },
		why:    "nobody overtakes by runnext, as if the parties did not talk at each step: the most that this advice can give",
	},
	"global-queue-neglect": {
		change: func(*findings.Finding, int) (Change, bool) { return Change{Policy: "fifo"}, true },
		why:    "one queue, served in order: the most that a way around the global queue can give",
	},
	"queue-imbalance": {
		change: func(*findings.Finding, int) (Change, bool) { return Change{Policy: "fifo"}, true },
		why:    "one queue for all Ps: the most that more even queues can give",
	},
	"retake-stall": {
		change: func(_ *findings.Finding, procs int) (Change, bool) { return Change{Procs: procs + 1}, true },
		why:    "one P more takes the queue over; if the machine has a core for it",
	},
	"syscall-retake-storm": {
		change: func(_ *findings.Finding, procs int) (Change, bool) { return Change{Procs: procs + 1}, true },
		why:    "one P more, as if CPU-bound goroutines left one free; if the machine has a core for it",
	},
	"gc-displacement": {
		change: func(*findings.Finding, int) (Change, bool) { return Change{NoGC: true}, true },
		why:    "no marking at all: the most that fewer and cheaper cycles can give",
	},
	"locked-thread-penalty": {
		change: func(*findings.Finding, int) (Change, bool) { return Change{Unlocked: true}, true },
		why:    "no goroutine wired to its thread: the most that unlocking can give",
	},
	"lock-convoy": {
		change: func(f *findings.Finding, _ int) (Change, bool) {
			for _, a := range f.Actors {
				if by := locker(a.Stack); a.Role == findings.Victim && by != "" {
					return Change{FreeLock: by}, true
				}
			}
			return Change{}, false
		},
		why:      "nobody waits for the lock: the most that shorter sections, or more locks, can give",
		makespan: true,
	},
	"serialization": {
		change:   func(*findings.Finding, int) (Change, bool) { return Change{Speed: 2}, true },
		why:      "the largest part of the critical path in half of the time",
		makespan: true,
	},
}

// noRemedy says why nothing that can be simulated stands for a detector's advice.
var noRemedy = map[string]string{
	"trace-quality":     "it is about the trace",
	"work-conservation": "the model leaves no P idle longer than threads take to wake up: the gain is in the split's excess",
	"late-preemption":   "the model preempts in time: the gain is in the split's excess",
	"preemption-thrash": "its advice changes who is admitted, not how long all wait",
	"handoff-latency":   "threads are the machine's",
	"p-thrash":          "its cost is CPU time of the scheduler, not waiting",
	"steal-storm":       "its cost is CPU time of the scheduler, not waiting",
	"thundering-herd":   "the work of those woken in vain is part of what the trace gives",
	"runnable-burst":    "to admit fewer moves the wait to where no trace shows it",
	"goroutine-churn":   "what creation costs is part of the goroutines' work",
	"cpu-throttling":    "CPUs are the machine's",
	"os-preemption":     "CPUs are the machine's",
	"gc-assist-wait":    "assists are part of the goroutines' work",
	"stw-stop-latency":  "the model stops a world in a time of its own",
	"slow-restart":      "threads are the machine's",
	"netpoll-delay":     "the time before the wake-up is no waiting for a P",
	"timer-lateness":    "the time before the wake-up is no waiting for a P",
	"yield-spinning":    "what is polled for is not in the trace",
	"locality-loss":     "the model has no caches",
}
