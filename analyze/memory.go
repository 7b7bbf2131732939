package analyze

import (
	"fmt"
	"runtime"

	"github.com/gmpscope/gmpscope/analyze/timeline"
	"github.com/gmpscope/gmpscope/analyze/waits"
)

// MinMemory is the least Options.MaxMemory that can be kept, in bytes: the
// analysis of traces of 120 MB with few goroutines takes that.
const MinMemory = 96 << 20

const (
	workerMemory = 256 << 20 // a worker's share: the decoded events, and a usual generation, six-fold
	baseMemory   = 48 << 20  // what a trace with few goroutines takes
	goMemory     = 1600      // of a goroutine that is alive: internal/bench holds that
	procMemory   = 6 << 10   // of a P: measured on 60,000 of them, and rounded up
	threadMemory = 256       // of a thread, likewise
	fineMemory   = 256 << 20 // from here on the picture over time and the longest waits keep their detail
)

// lowered are the limits under which an analysis works.
type lowered struct {
	memory   int64 // bytes; 0 means that there is no limit
	workers  int
	timeline timeline.Options
	waits    waits.Options
	said     []string // what was lowered, and from what to what
}

// lower says how to stay within o.MaxMemory. What it does depends on the options
// alone, not on how much memory is in use, so that equal input gives equal
// output.
func lower(o *Options) lowered {
	l := lowered{memory: o.MaxMemory, workers: o.Workers}
	if o.MaxMemory <= 0 {
		return l
	}
	if l.workers <= 0 {
		l.workers = runtime.GOMAXPROCS(0)
	}
	l.workers = int(min(int64(l.workers), max(1, o.MaxMemory/workerMemory))) // which does not change the result: nothing to say
	if o.MaxMemory < fineMemory {
		l.timeline.MaxBins = timeline.DefaultMaxBins / 4
		l.waits.Worst, l.waits.WorstPerClass, l.waits.WorstClasses = 5, 1, 10
		l.waits.PastPerP, l.waits.Past = 512, 1<<16
		l.said = append(l.said, fmt.Sprintf("to stay within %d MiB of memory the timeline has at most %d columns instead of %d, the 5 longest waits are told instead of 20, and what a P did more than 512 stints ago explains no wait, instead of 4096",
			o.MaxMemory>>20, l.timeline.MaxBins, timeline.DefaultMaxBins))
	}
	return l
}

// full says why an analysis that follows so many goroutines, Ps and threads does
// not fit; "" if it does. That they are alive at one time cannot be lowered.
func (l *lowered) full(goroutines, ps, threads int) string {
	need := int64(goroutines)*goMemory + int64(ps)*procMemory + int64(threads)*threadMemory
	if l.memory <= 0 || need <= l.memory-baseMemory {
		return ""
	}
	return fmt.Sprintf("%d goroutines, %d Ps and %d threads at one time are more than %d MiB of memory allow", goroutines, ps, threads, l.memory>>20)
}
