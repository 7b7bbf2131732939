package serialization

import (
	"cmp"
	"maps"
	"math"
	"slices"

	"github.com/gmpscope/gmpscope/analyze/findings"
	"github.com/gmpscope/gmpscope/analyze/span"
)

// evidence is what a finding says.
type evidence struct {
	limit   float64 // of parallelism
	waiting bool    // goroutines waited for others meanwhile
	share   float64 // of the critical path, of its largest part
	lock    bool    // most of the waiting is for a lock
	even    int64   // how many goroutines ran side by side and were done together; 0: they did not
}

func (w *watcher) Finish(f *findings.Facts) []findings.Finding {
	w.advance(f.EndNs)
	r := &f.Span
	n := evidence{limit: max(w.t.Parallelism, float64(f.GOMAXPROCS)/2)}
	busy := float64(r.BusyNs)
	if busy == 0 || r.Parallelism() >= n.limit || float64(w.slack) < w.t.SlackShare*busy || busy < w.t.BusyShare*float64(f.RecordedNs()) {
		return nil
	}
	wait := w.starved.Total
	n.waiting = wait.N >= w.t.MinWakes && float64(wait.Ns) >= w.t.WaitShare*float64(w.slack)
	phases := float64(w.view.ParallelNs()) >= w.t.ParallelShare*busy
	s, ok := w.t.Grade.Severity(int64(w.lost), f.RecordedNs())
	if !ok || len(r.Path) == 0 || !n.waiting && !phases {
		return nil
	}
	top := r.Path[0]
	if f.RunsTests(top.Class) {
		return nil // one test after the other is no chain
	}
	n.share = float64(top.Ns) / float64(r.SpanNs)
	n.lock = n.waiting && 2*w.starvedBySemaphore > wait.Ns && slices.ContainsFunc(f.Frames(w.starved.Top(1)[0].Stack), findings.IsLock)
	if even(r.Parallelism()) && (!phases || float64(w.view.ParallelNs()) >= sideBySide*busy) {
		n.even = int64(math.Ceil(r.Parallelism()))
	}
	switch {
	case n.share < 0.5 && float64(wait.Ns) < 1.5*float64(w.slack):
		s = findings.Note // a question and its answer: nobody is kept from anything
	case n.lock:
		s = findings.Note
	case n.even > 0:
		s = findings.Note // as many goroutines as there are run side by side, and are done together
	case !n.waiting && int64(r.Hops)+w.view.ClassStat(top.Class).Creates < manyHops:
		s = findings.Note // one goroutine that computes alone for long is a fact, but keeps nobody
	case s == findings.Critical:
		s = findings.Warning // the scheduler does all that can be done here
	}
	x := findings.Finding{
		ID: ID, Severity: s, CostNs: int64(w.lost), FromNs: w.longFrom, ToNs: w.longTo, Basis: findings.Inferred,
	}
	if n.waiting {
		x.Actors = w.starved.Actors(f, findings.Victim, 3)
	}
	for _, part := range parts(r) {
		a := f.Class(findings.Cause, part.Class)
		a.Stack = f.Frames(cmp.Or(w.computes(f, part.Class), part.Stack))
		x.Actors = append(x.Actors, a)
	}
	w.phrase(f, &x, &n)
	f.DoubtIfStrained(&x)
	return []findings.Finding{x}
}

// even reports whether a speed-up is hardly less than a whole number of goroutines that
// compute side by side: then the work is divided evenly among so many.
func even(parallelism float64) bool {
	return parallelism > 1.5 && parallelism >= 0.9*math.Ceil(parallelism)
}

// sideBySide is the share of the busy time in which half of the Ps, and two, must run the
// program if they are said to work side by side and not in phases: half of it on three Ps and
// half on one comes to a speed-up of two, as well. Of the labelled recordings with an even
// speed-up it is 81 % where two goroutines work side by side, and 20 % where there are phases.
const sideBySide = 2.0 / 3

// minSlices is how many time slices must have ended in one function of the program.
const minSlices = 3

// computes is a stack in the function of the program in which most time slices of a class
// ended, 0 if these are few.
func (w *watcher) computes(f *findings.Facts, class int32) (stack int32) {
	type in struct{ n, most int64 }
	functions := map[string]*in{}
	var best int64
	keys := slices.SortedFunc(maps.Keys(w.sliced), func(x, y sliceEnd) int { return cmp.Compare(x.stack, y.stack) })
	last := map[string]int32{}
	for _, k := range keys {
		if k.class != class {
			continue
		}
		function, _ := f.ProgramsFunction(k.stack)
		x := functions[function]
		if x == nil {
			x = &in{}
			functions[function] = x
		}
		n := w.sliced[k]
		if n > x.most {
			x.most, last[function] = n, k.stack
		}
		if x.n += n; function != "" && x.n >= minSlices && x.n > best {
			best, stack = x.n, last[function]
		}
	}
	return stack
}

// parts are the largest of the critical path.
func parts(r *span.Result) []span.Segment {
	for i, part := range r.Path {
		if i == 3 || i > 0 && part.Ns < r.SpanNs/10 {
			return r.Path[:i]
		}
	}
	return r.Path
}

// manyHops is from how many wake-ups on the critical path and creations by
// its largest part on work changes between serial and parallel phases.
const manyHops = 10
