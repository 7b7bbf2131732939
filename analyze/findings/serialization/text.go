package serialization

import (
	"fmt"
	"slices"

	"github.com/gmpscope/gmpscope/analyze/findings"
	"github.com/gmpscope/gmpscope/internal/quantity"
)

// phrase writes title, evidence and advice.
func (w *watcher) phrase(f *findings.Facts, x *findings.Finding, n *evidence) {
	r, wait, busy := &f.Span, w.starved.Total, float64(f.Span.BusyNs)
	name := f.Name(r.Path[0].Class)
	if i := slices.IndexFunc(x.Actors, func(a findings.Actor) bool { return a.Role == findings.Cause }); i >= 0 {
		name = x.Actors[i].Work()
	}
	x.Headline = fmt.Sprintf("One chain of work, mostly %s, leaves half of the Ps idle for %s of the time", findings.Short(name), quantity.Percent(float64(w.slack)/busy))
	x.Title = fmt.Sprintf("At least half of the Ps had nothing to do for %s of the busy time, waiting for one chain of work, %s of it in %s",
		quantity.Percent(float64(w.slack)/busy), quantity.Percent(n.share), name)
	if n.even > 0 {
		x.Headline = fmt.Sprintf("Only %s goroutines compute at a time, in %s: half of the Ps are idle", quantity.Count(n.even), findings.Short(name))
		x.Title = fmt.Sprintf("At least half of the Ps had nothing to do for %s of the busy time: about %s goroutines work at a time, and are done together; %s of the longest chain of work is in %s",
			quantity.Percent(float64(w.slack)/busy), quantity.Count(n.even), quantity.Percent(n.share), name)
	}
	x.Evidence = []findings.Evidence{
		{What: "work / span: the speed-up that any number of Ps could give", Value: quantity.Times(r.Parallelism()), Limit: quantity.Times(n.limit)},
		{What: "work (T1)", Value: quantity.Duration(r.WorkNs), Ns: r.WorkNs},
		{What: "span (Tinf): the critical path through wake-ups", Value: quantity.Duration(r.SpanNs) + " in " + quantity.Plural(r.Hops+1, "part", "parts"), Ns: r.SpanNs},
		{What: "busy time with at least half of the Ps idle and nobody ready to run", Value: quantity.Percent(float64(w.slack) / busy), Limit: quantity.Percent(w.t.SlackShare), Ns: w.slack},
		{What: "busy time", Value: quantity.Duration(r.BusyNs) + " (" + quantity.Percent(f.Share(r.BusyNs)) + " of the duration)", Limit: quantity.Percent(w.t.BusyShare), Ns: r.BusyNs},
		{What: "bound of the busy time, max(T1/P, Tinf)", Value: quantity.Duration(r.BoundNs()), Ns: r.BoundNs()},
		{What: "busy time beyond it, which scheduling could gain", Value: quantity.Duration(r.RecoverableNs()), Ns: r.RecoverableNs()},
		{What: "with the Ps that were usable: T1/Pa + Tinf·P/Pa", Value: quantity.Duration(r.ABPNs()) + " (Pa " + quantity.Number(r.Usable) + ")", Ns: r.ABPNs()},
	}
	if n.waiting {
		x.Evidence = append(x.Evidence, findings.Evidence{
			What: "goroutines that waited for others meanwhile, on average", Value: quantity.Number(float64(wait.Ns) / float64(w.slack)), Limit: quantity.Number(w.t.WaitShare), Ns: wait.Ns})
	}
	for _, part := range parts(r) {
		x.Evidence = append(x.Evidence, findings.Evidence{What: "of the critical path: " + f.Name(part.Class), Value: quantity.Percent(float64(part.Ns) / float64(r.SpanNs)), Ns: part.Ns})
	}
	switch {
	case n.even > 0:
		x.Advice = append(x.Advice, fmt.Sprintf("If %s is to use more than %s of the %s, divide its work among more goroutines: the pieces are even already.", name, quantity.Count(n.even), quantity.Plural(int64(f.GOMAXPROCS), "P", "Ps")))
	case 2*w.pieces > wait.Ns:
		x.Advice = append(x.Advice, "Cut the work more evenly: several goroutines are created at a time and waited for together, and the slowest, in "+name+", decides. With more and smaller pieces, whoever is done first takes the next.")
	case n.share >= 0.5:
		x.Advice = append(x.Advice, "Split what "+name+" does: more than one goroutine for that stage, or some of its work moved into the stages that wait for it. Making anything else faster gains nothing.")
	default:
		x.Advice = append(x.Advice, "The work passes from goroutine to goroutine, one at a time: let several items be under way at once, or do the steps of one item in one goroutine, which saves the hand-overs.")
	}
	x.Advice = append(x.Advice, "More Ps, or another order of scheduling, would not help: the limit is the order that the program itself imposes.")
	if n.lock {
		x.Advice = append(x.Advice, "Most of the waiting is for a lock: lock-convoy says more.")
	}
}
