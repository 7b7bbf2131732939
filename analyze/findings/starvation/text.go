package starvation

import (
	"fmt"

	"github.com/gmpscope/gmpscope/analyze/findings"
	"github.com/gmpscope/gmpscope/analyze/waits"
	"github.com/gmpscope/gmpscope/internal/quantity"
)

// phraseStarved writes title, evidence and advice.
func (w *watcher) phraseStarved(f *findings.Facts, x *findings.Finding, ahead []waits.RanAhead) {
	total := w.starved.Total
	x.Headline = fmt.Sprintf("%s %s their fair share; the longest: %s",
		quantity.Plural(total.N, "wait exceeded", "waits exceeded"), quantity.Times(w.t.Stretch), quantity.Duration(w.longest))
	x.Title = fmt.Sprintf("%s of over %s took more than %s what sharing the Ps fairly would have; the longest %s",
		quantity.Plural(total.N, "wait", "waits"), quantity.Duration(w.t.LongNs), quantity.Times(w.t.Stretch), quantity.Duration(w.longest))
	x.Evidence = []findings.Evidence{
		{What: "starved waits", Value: quantity.Count(total.N), Limit: quantity.Duration(w.t.LongNs) + ", and " + quantity.Times(w.t.Stretch) + " equal sharing"},
		{What: "longest of them", Value: quantity.Duration(w.longest), Limit: quantity.Duration(w.t.SevereNs), Ns: w.longest},
		{What: "of them severe", Value: quantity.Count(w.severe), Limit: quantity.Duration(w.t.SevereNs)},
		{What: "their length, summed", Value: quantity.Duration(w.waited), Ns: w.waited},
		{What: "of it, more than equal sharing", Value: quantity.Duration(total.Ns), Ns: total.Ns},
	}
	if u := f.Waits.User; u.TotalNs > 0 {
		x.Evidence = append(x.Evidence,
			findings.Evidence{What: "all waiting of the program", Value: quantity.Duration(u.TotalNs), Ns: u.TotalNs},
			findings.Evidence{What: "time-weighted median wait", Value: quantity.Duration(u.TimeWeighted.P50), Ns: u.TimeWeighted.P50},
			findings.Evidence{What: "share of it in waits over 10 ms", Value: quantity.Percent(u.TailMass["10ms"])})
	}
	if w.open > 0 {
		x.Evidence = append(x.Evidence, findings.Evidence{What: "starved waits that the end of the trace cut off", Value: quantity.Count(w.open)})
	}
	for _, a := range ahead {
		x.Evidence = append(x.Evidence, findings.Evidence{
			What: "ran on that P during the longest wait: " + f.Named(findings.Cause, a.Class, a.Name).Class, Value: fmt.Sprintf("%s in %s", quantity.Duration(a.Ns), quantity.Plural(a.Runs, "run", "runs")), Ns: a.Ns})
	}
	x.Advice = []string{advice(f)}
}

// phraseQueued writes title, evidence and advice.
func (w *watcher) phraseQueued(f *findings.Facts, x *findings.Finding) {
	q := w.queued.Total
	x.Headline = fmt.Sprintf("More work than Ps: up to %s goroutines wanted each P", quantity.Number(w.load))
	x.Title = fmt.Sprintf("There was more work than Ps: %s of %s or more are plain queueing, up to %s goroutines for each P",
		quantity.Plural(q.N, "wait", "waits"), quantity.Duration(w.t.SevereNs), quantity.Number(w.load))
	x.Evidence = []findings.Evidence{
		{What: "waits that equal sharing explains", Value: quantity.Count(q.N), Limit: quantity.Duration(w.t.SevereNs)},
		{What: "summed", Value: quantity.Duration(q.Ns), Limit: quantity.Percent(w.t.QueueShare) + " of the P-time", Ns: q.Ns},
		{What: "goroutines that wanted each P, at most", Value: quantity.Number(w.load)},
	}
	x.Advice = []string{"Nobody is treated unfairly; the load is too high for this many Ps. Run fewer CPU-bound goroutines at once, do less work, " + morePs(f)}
}

// morePs reports whether more Ps would help, by what is known of the CPUs.
func morePs(f *findings.Facts) string {
	switch {
	case f.CPUs == 0:
		return "or raise GOMAXPROCS if the machine has free cores."
	case f.CPUs >= float64(f.GOMAXPROCS+1):
		return "or raise GOMAXPROCS up to " + quantity.Count(int64(f.CPUs)) + ": the process had so many CPUs, as told."
	}
	return "or give the process more CPUs: it had none for more Ps."
}

// byCause reports which detector explains a cause of waiting further.
var byCause = map[waits.Cause]string{
	waits.CauseSTW:         "Most waiting is for a stopped world: look at what stops it, and how long the last P takes to stop.",
	waits.CauseUnavailable: "Most waiting is for a P that a system call or a locked thread holds: move blocking calls and locked threads away from urgent work.",
	waits.CauseGC:          "Most waiting is behind mark workers of the garbage collector: allocate less, or raise GOGC or GOMEMLIMIT.",
	waits.CauseIdlePWaking: "Most waiting is for a P that was waking up: threads start slowly on this machine.",
	waits.CauseIdlePMissed: "Most waiting happened while a P was idle: check what keeps this machine from waking threads in time: other programs, a CPU quota, more Ps than CPUs, power saving.",
	waits.CauseBehind:      "Most waiting is behind goroutines that were there earlier: make fewer runnable at once, split the long runs among them, or give them more Ps if the machine has the cores.",
	waits.CauseOvertaken:   "Most waiting is for goroutines that came later and ran first: look at pairs that wake one another without end, and at producers that fill the queue of their own P.",
	waits.CauseTracer:      "Most waiting is for the tracer itself: trace less.",
	waits.CauseResidue:     "Most waiting happened while no goroutine ran on the P: the machine may have fewer free cores than Ps.",
}

func advice(f *findings.Facts) string {
	var best waits.CauseTime
	for _, c := range f.Waits.User.Causes {
		if c.Ns > best.Ns {
			best = c
		}
	}
	if a := byCause[best.Cause]; a != "" {
		return a
	}
	return "Look at who ran meanwhile."
}
