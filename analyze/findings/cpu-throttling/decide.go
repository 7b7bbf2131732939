package cputhrottling

import (
	"slices"

	"github.com/gmpscope/gmpscope/analyze/findings"
)

// evidence is what a finding says.
type evidence struct {
	beat      findings.Beat
	cost      int64   // goroutine-time that stood still
	running   int64   // of it, of goroutines that had a P
	stoppedNs int64   // without a time slice where goroutines may have run for one
	lengths   []int64 // ns, as stoppedNs
	apart     []int64 // ns from the end of one to that of the next
	sure      int     // silences that no program makes by itself
	most      int     // goroutines that had a P in one
	worst     findings.Silence
	usedNs    int64 // running time of Ps without the silences
}

func (w *watcher) Finish(f *findings.Facts) []findings.Finding {
	if m := f.Records(); m != nil {
		return w.byKernel(f, m)
	}
	if q := f.Quota; q != nil && (q.Counted().Throttled == 0 || Counts(f, q)) {
		return w.byCount(f, q)
	}
	b := w.silences.Beat(w.t.PeriodNs)
	if !b.IsPeriodic(w.t.PeriodNs, w.t.MinCount, w.t.Chance, w.t.Within) {
		return nil
	}
	n := w.count(f, b)
	// A goroutine that works for 20 ms in every 100 ms is silent too.
	// And many in one period are near a multiple of it, namely none.
	if 2*n.sure < len(b.Silences) || middle(n.apart) > w.t.EachNs || float64(middle(n.apart)) < (1-w.t.Within)*float64(w.t.PeriodNs) {
		return nil
	}
	severity, ok := w.t.Grade.Severity(n.cost, f.RecordedNs())
	if !ok {
		return nil
	}
	n.usedNs = f.RanNs() - n.running
	x := findings.Finding{
		ID: ID, Severity: severity, CostNs: n.cost, FromNs: n.worst.From, ToNs: n.worst.To, Basis: findings.Suspected,
	}
	if n.worst.Running > 0 {
		a := f.Class(findings.Victim, n.worst.Class)
		a.G, a.P = n.worst.G, findings.OnP(n.worst.P)
		x.Actors = append(x.Actors, a)
	}
	if f.WithoutCPUNs() > 0 || f.Quota != nil {
		x.Basis = findings.Certain
	}
	w.phrase(f, &x, &n)
	f.SoftenIfBrief(&x)
	return []findings.Finding{x}
}

// count adds up the silences of b.
func (w *watcher) count(f *findings.Facts, b findings.Beat) evidence {
	n := evidence{beat: b, worst: b.Silences[0]}
	for i, s := range b.Silences {
		ns := s.Ns()
		if s.StallSigns() == 0 {
			ns -= w.t.SliceNs
		}
		n.stoppedNs += ns
		n.cost += ns * max(1, s.Running+s.Waiting)
		n.running += ns * s.Running
		n.lengths = append(n.lengths, ns)
		n.most = max(n.most, int(s.Running))
		if i > 0 {
			n.apart = append(n.apart, s.To-b.Silences[i-1].To)
		}
		yields := findings.Signalled(f.Frames(w.ended[s.Class]))
		if s.StallSigns() >= 2 || s.Ns() > w.t.LongNs && (s.StallSigns() == 1 || yields) ||
			s.Ns() > w.t.PairNs && s.Running >= 2 && (yields || !w.view.ClassStat(s.Class).OftenRunsFor(s.Ns())) {
			n.sure++
		}
		if s.Ns()*(s.Running+s.Waiting) > n.worst.Ns()*(n.worst.Running+n.worst.Waiting) {
			n.worst = s
		}
	}
	return n
}

func middle(list []int64) int64 {
	s := slices.Sorted(slices.Values(list))
	return s[len(s)/2]
}
