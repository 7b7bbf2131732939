package analyze

import (
	"fmt"
	"runtime"

	"github.com/gmpscope/gmpscope/analyze/reconstruct"
	"github.com/gmpscope/gmpscope/analyze/timeline"
	"github.com/gmpscope/gmpscope/analyze/waits"
	"github.com/gmpscope/gmpscope/analyze/work"
)

// MinMemory is the least value of Options.MaxMemory, in bytes: what the analysis of a
// trace of 120 MB with few goroutines needs.
const MinMemory = 96 << 20

const (
	workerMemory = 256 << 20 // a worker's share: the decoded events, and a usual generation, six-fold
	baseMemory   = 48 << 20  // what a trace with few goroutines takes
	goMemory     = 1250      // of a goroutine that waits for a P, with a share for the collector: lab/bench holds that. Others that are alive take 870
	lifeMemory   = 600       // of a goroutine, for its units of work
	procMemory   = 6 << 10   // of a P: measured on 60,000 of them, and rounded up
	threadMemory = 256       // of a thread, likewise
	classMemory  = 5 << 10   // of goroutines with one start function and creator
	fineMemory   = 256 << 20 // from here on the picture over time, the longest waits and the slowest units keep their detail
	binMemory    = 192 << 20 // from here on the latencies of units do
	pathMemory   = 128 << 20 // from here on their paths look back as far as without a limit
)

// lowered are the limits under which an analysis works.
type lowered struct {
	memory   int64 // bytes; 0 means that there is no limit
	workers  int
	timeline timeline.Options
	waits    waits.Options
	work     work.Limits
	units    bool     // units of work are found
	said     []string // what was lowered, and from what to what
}

// lower reports how to stay within o.MaxMemory. What it does depends on the options
// alone, not on how much memory is in use, so that equal input gives equal
// output.
func lower(o *Options) lowered {
	l := lowered{memory: o.MaxMemory, workers: o.Workers, units: !o.NoWork && !o.NoDetail && !o.DecisionsOnly}
	if o.MaxMemory <= 0 {
		return l
	}
	if l.workers <= 0 {
		l.workers = runtime.GOMAXPROCS(0)
	}
	l.workers = int(min(int64(l.workers), max(1, o.MaxMemory/workerMemory))) // which does not change the result: nothing to say
	if o.MaxMemory >= fineMemory {
		return l
	}
	l.timeline.MaxBins, l.timeline.Brief = timeline.DefaultMaxBins/4, true
	l.waits.Worst, l.waits.WorstPerClass, l.waits.WorstClasses = 5, 1, 10
	l.waits.PastPerP, l.waits.Past = 512, 1<<16
	said := fmt.Sprintf("to stay within %d MiB of memory the timeline has at most %d columns instead of %d, the 5 longest waits are explained instead of 20, and explanations of waits look back 512 run intervals per P instead of 4096",
		o.MaxMemory>>20, l.timeline.MaxBins, timeline.DefaultMaxBins)
	l.said = append(l.said, said+"; "+l.lowerWork())
	return l
}

// lowerWork bounds the units of work, and returns how: paths of the slowest go first, then bins
// of latency, then the horizon of paths.
func (l *lowered) lowerWork() string {
	l.work.Slowest = 1
	said := fmt.Sprintf("of each kind of units of work the slowest is kept with its path instead of the slowest %d", work.DefaultSlowest)
	if l.memory < binMemory {
		l.work.Octaves = true
		said += ", typical and slow ones are told apart by octaves of latency instead of quarters of them, and not counted over time"
	}
	if l.memory < pathMemory {
		l.work.Intervals = work.DefaultIntervals / 4
		said += fmt.Sprintf(", and paths look back %d intervals instead of %d", l.work.Intervals, work.DefaultIntervals)
	}
	return said
}

// full returns why an analysis that holds so much, and tables of so many bytes,
// does not fit; "" if it does. What is alive at one time, or has a name of its own,
// cannot be lowered. Without a limit of the user's, a trace may take what suits its
// size: so many bytes, half of them for decoding.
func (l *lowered) full(held reconstruct.Holding, tables, suits int64) string {
	each := int64(goMemory)
	if l.units {
		each += lifeMemory
	}
	need := int64(held.Goroutines)*each + int64(held.Ps)*procMemory + int64(held.Threads)*threadMemory + int64(held.Classes)*classMemory + tables
	most, limit := l.memory-baseMemory, fmt.Sprintf("the limit of %d MiB of memory allows: raise it (--max-memory, analyze.Options.MaxMemory)", l.memory>>20)
	if l.memory <= 0 {
		most, limit = suits/2, fmt.Sprintf("the limit of %d MiB of memory for a trace of its size as stored allows: set one to allow more (--max-memory, analyze.Options.MaxMemory)", suits>>20)
	}
	if need <= most {
		return ""
	}
	return fmt.Sprintf("%d goroutines, %d Ps and %d threads at one time, of %d kinds and with %d MiB of names, are more than %s", held.Goroutines, held.Ps, held.Threads, held.Classes, tables>>20, limit)
}
