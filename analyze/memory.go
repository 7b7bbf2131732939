package analyze

import (
	"fmt"
	"runtime"

	"github.com/gmpscope/gmpscope/analyze/timeline"
	"github.com/gmpscope/gmpscope/analyze/waits"
)

// MinMemory is the least Options.MaxMemory that has a chance, in bytes: what the
// analysis of a small trace takes, decoding and all.
const MinMemory = 96 << 20

const (
	workerMemory = 256 << 20 // a worker's share: some 16 MB of decoded events, and a usual generation, six-fold
	fineMemory   = 256 << 20 // from here on the picture over time and the longest waits keep their detail
)

// lowered are the limits under which an analysis works.
type lowered struct {
	workers  int
	timeline timeline.Options
	waits    waits.Options
	said     []string // what was lowered, and from what to what
}

// lower says how to stay within o.MaxMemory. What it does depends on the options
// alone, not on how much memory is in use, so that equal input gives equal
// output.
func lower(o *Options) lowered {
	l := lowered{workers: o.Workers}
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
