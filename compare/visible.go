package compare

import (
	"math"
	"slices"

	"github.com/gmpscope/gmpscope/analyze"
	"github.com/gmpscope/gmpscope/analyze/breakdown"
	units "github.com/gmpscope/gmpscope/analyze/work"
)

// What a user feels is how long it takes from wanting something to having it, and how
// much gets done. Neither is in a trace by itself; these come near to it, each from
// what both sides have in common.

// work is something that gets done again and again, and that no change of the
// scheduling, of locks or of channels by itself makes more or less of.
type work struct {
	class classKey
	what  string // "ended": goroutines; "sleep", "network": waits for these; "task": user tasks
}

// The names of the metrics that are felt, besides durationName.
const (
	heldName = "held_share"
	workName = "work_per_s"
	lifeName = "life_ns"
	taskName = "task_ns"
)

// userVisible are the primary metrics that are asked first.
var userVisible = []string{durationName, heldName, workName, lifeName, taskName}

// the least number of times, in each trace, from which on something counts as work.
const minWork = 20

// userVisibleMetrics are those that need what the sides have in common.
func userVisibleMetrics(before, after []*analyze.Result) (ms []metric) {
	all := slices.Concat(before, after)
	if slices.ContainsFunc(all, func(r *analyze.Result) bool { return r.Breakdown.Program.LifeNs() == 0 }) {
		return nil
	}
	ms = append(ms, metric{name: heldName, title: "time held up / (time held up + running)", unit: "share", better: Lower, primary: true, of: heldShare})
	done := common(all, doneOf)
	if len(done) > 0 {
		ms = append(ms, metric{name: workName, title: "work done", unit: "1/s", better: Higher, primary: true, of: func(r *analyze.Result) float64 {
			return mean(done, doneOf(r), func(n float64) float64 { return n / (float64(r.RecordedNs()) / 1e9) })
		}})
	}
	if lifetimes := common(all, completeOf); len(lifetimes) > 0 && alikeRates(lifetimes, before, after) {
		ms = append(ms, metric{name: lifeName, title: "life of a goroutine, mean", unit: "ns", better: Lower, primary: true, of: func(r *analyze.Result) float64 {
			return mean(lifetimes, lifeOf(r), func(ns float64) float64 { return ns })
		}})
	}
	if tasks := common(all, tasksOf); len(tasks) > 0 {
		ms = append(ms, metric{name: taskName, title: "task, mean", unit: "ns", better: Lower, primary: true, of: func(r *analyze.Result) float64 {
			return mean(tasks, taskTimes(r), func(ns float64) float64 { return ns })
		}})
	}
	return ms
}

// amount is how much of something there was for the same work, before and after, medians.
type amount struct{ before, after float64 }

// amountOf measures what a result has of something: for the same work, a piece of it that
// both sides know, or else a second.
func amountOf(ofResult func(*analyze.Result) float64, before, after []*analyze.Result) amount {
	done, same := common(slices.Concat(before, after), doneOf), finished(before, after)
	of := func(rs []*analyze.Result) float64 {
		var xs []float64
		for _, r := range rs {
			per := 1.0
			switch {
			case same:
			case len(done) > 0:
				per = mean(done, doneOf(r), func(n float64) float64 { return n })
			default:
				per = float64(r.RecordedNs()) / 1e9
			}
			xs = append(xs, ratio(ofResult(r), per))
		}
		return median(xs)
	}
	return amount{of(before), of(after)}
}

// against reports whether there is as much as before at least where a share of it
// fell, or no more where it rose: then the rest changed, of which it is a share.
func (a amount) against(share *Metric) bool {
	return share.Delta < 0 && a.after >= a.before || share.Delta > 0 && a.after <= a.before
}

// heldShare is the share of the time in which goroutines of the program ran or were held
// up that they were held up: by the scheduler, by one another at a lock, or by a channel
// that was full. Waits for something to do are not among it.
func heldShare(r *analyze.Result) float64 {
	held := heldNs(r)
	return ratio(held, held+float64(r.Breakdown.Program.RunningNs))
}

func heldNs(r *analyze.Result) float64 {
	s := &r.Breakdown.Program
	return float64(s.RunnableNs + s.BlockedNs[breakdown.ReasonSync] + s.BlockedNs[breakdown.ReasonChanSend])
}

func waitingNs(r *analyze.Result) float64 { return float64(r.Waits.User.TotalNs) }

// common are the keys that count at least minWork in each result.
func common(rs []*analyze.Result, of func(r *analyze.Result) map[work]float64) []work {
	seen := map[work]int{}
	for _, r := range rs {
		for k, n := range of(r) {
			if n >= minWork {
				seen[k]++
			}
		}
	}
	var out []work
	for k, n := range seen {
		if n == len(rs) {
			out = append(out, k)
		}
	}
	slices.SortFunc(out, compareWork)
	return out
}

func compareWork(x, y work) int {
	return slices.Compare([]string{x.class.name, x.class.creator, x.what}, []string{y.class.name, y.class.creator, y.what})
}

// mean is the geometric mean of what the keys have, so that each counts by its ratio.
func mean(keys []work, of map[work]float64, f func(float64) float64) float64 {
	sum := 0.0
	for _, k := range keys {
		sum += math.Log(max(f(of[k]), math.SmallestNonzeroFloat64))
	}
	return math.Exp(sum / float64(len(keys)))
}

// doneOf counts the work in a result.
func doneOf(r *analyze.Result) map[work]float64 {
	out := map[work]float64{}
	for k, n := range completeOf(r) {
		out[k] = n
	}
	for k, n := range tasksOf(r) {
		out[k] = n
	}
	for _, c := range r.Waits.Classes {
		if c.System {
			continue
		}
		for _, b := range c.BlockedBefore {
			if b.Reason == breakdown.ReasonSleep.String() || b.Reason == breakdown.ReasonNetwork.String() {
				out[work{classKey{c.Name, c.Creator}, b.Reason}] += float64(b.Count)
			}
		}
	}
	return out
}

// completeOf counts the goroutines that were created and ended in a trace.
func completeOf(r *analyze.Result) map[work]float64 {
	out := map[work]float64{}
	for _, c := range r.Breakdown.Classes {
		if !c.Runtime {
			out[work{classKey{c.Name, c.Creator}, "ended"}] += float64(c.Complete)
		}
	}
	return out
}

// lifeOf is their mean life.
func lifeOf(r *analyze.Result) map[work]float64 {
	n, ns := completeOf(r), map[work]float64{}
	for _, c := range r.Breakdown.Classes {
		if !c.Runtime {
			ns[work{classKey{c.Name, c.Creator}, "ended"}] += float64(c.CompleteNs)
		}
	}
	for k := range ns {
		ns[k] = ratio(ns[k], n[k])
	}
	return ns
}

// tasksOf counts user tasks by type.
func tasksOf(r *analyze.Result) map[work]float64 {
	return sumTasks(r, func(k *units.UnitKind) int64 { return k.Count })
}

// taskTimes is their mean length.
func taskTimes(r *analyze.Result) map[work]float64 {
	n, ns := tasksOf(r), sumTasks(r, func(k *units.UnitKind) int64 { return k.TotalNs })
	for k := range ns {
		ns[k] = ratio(ns[k], n[k])
	}
	return ns
}

// sumTasks sums up a number of the user tasks, by type.
func sumTasks(r *analyze.Result, of func(*units.UnitKind) int64) map[work]float64 {
	out := map[work]float64{}
	for i := range r.Work.Kinds {
		if k := &r.Work.Kinds[i]; k.How == units.Task.String() {
			out[work{classKey{name: k.Name}, "task"}] += float64(of(k))
		}
	}
	return out
}

// alikeRates reports whether as much of each was asked for a second on both sides: else
// a goroutine may be another piece of work.
func alikeRates(keys []work, before, after []*analyze.Result) bool {
	rate := func(rs []*analyze.Result, k work) float64 {
		sum := 0.0
		for _, r := range rs {
			sum += completeOf(r)[k] / max(1, float64(r.RecordedNs()))
		}
		return sum / float64(len(rs))
	}
	for _, k := range keys {
		if far(rate(before, k), rate(after, k)) {
			return false
		}
	}
	return true
}

// finished reports whether on both sides the same goroutines were created and came to
// their end: then the program did the same work, whatever it ran for it.
func finished(before, after []*analyze.Result) bool {
	count := func(r *analyze.Result) (n float64) {
		for _, c := range completeOf(r) {
			n += c
		}
		return n
	}
	all := slices.Concat(before, after)
	n := count(all[0])
	return n >= 2 && !slices.ContainsFunc(all, func(r *analyze.Result) bool {
		return math.Abs(count(r)-n) > 0.02*n
	})
}
