package convoy

import (
	"cmp"
	"slices"
	"strings"

	"github.com/gmpscope/gmpscope/analyze/findings"
)

func (w *watcher) Finish(f *findings.Facts) []findings.Finding {
	// Only now are the usual runs of the victims known.
	byCause := map[int32][]cell{}
	var causes []int32
	for _, c := range w.cells {
		victims := w.view.ClassStat(c.victim)
		median := victims.Median()
		if c.victim == c.cause && float64(c.runs) >= w.t.Common*float64(victims.Runs) {
			continue
		}
		if victims.Serves(c.cause) && w.view.ClassStat(c.cause).Busy() {
			continue
		}
		if c.runs == 0 || median == 0 || float64(c.runNs)/float64(c.runs) < w.t.Ratio*float64(median) {
			continue
		}
		if byCause[c.cause] == nil {
			causes = append(causes, c.cause)
		}
		byCause[c.cause] = append(byCause[c.cause], c)
	}
	var out []findings.Finding
	for _, cause := range causes {
		cells := byCause[cause]
		slices.SortFunc(cells, func(x, y cell) int {
			return cmp.Or(cmp.Compare(y.victims.Ns, x.victims.Ns), cmp.Compare(x.victim, y.victim))
		})
		if x, ok := w.finding(f, cause, cells); ok {
			out = append(out, x)
		}
	}
	return out
}

// evidence is what a finding about the runs of one class says.
type evidence struct {
	cause    int32
	cells    []cell // costliest first
	cost     int64
	held     int64 // times that one was held up
	runs     int64
	longest  cell
	medianNs int64           // run of those held up most
	class    *findings.Class // of the cause
	rare     bool            // the runs are, in their class
	together int64           // goroutines of it that waited behind one that ran, having stopped in the same function, at most; 0: no crowd
	in       string          // that function
	inBy     string          // its caller, if it is known and that is where the one that ran had waited
}

// finding is about the runs of one class; cells is not empty, costliest first.
func (w *watcher) finding(f *findings.Facts, cause int32, cells []cell) (findings.Finding, bool) {
	n := evidence{
		cause: cause, cells: cells, runs: cells[0].runs, longest: cells[0],
		medianNs: w.view.ClassStat(cells[0].victim).Median(), class: w.view.ClassStat(cause),
	}
	for _, c := range cells {
		n.cost += c.victims.Ns
		n.held += c.victims.N
		n.runs = max(n.runs, c.runs)
		if c.longest > n.longest.longest {
			n.longest = c
		}
	}
	s, ok := w.t.Grade.Severity(n.cost, f.RecordedNs())
	if !ok {
		return findings.Finding{}, false
	}
	if n.runs < w.t.MinCount || s == findings.Critical && n.runs < w.t.CriticalCount {
		s = s.Lower()
	}
	minor := n.minor(f)
	if minor {
		s = findings.Note
	}
	x := findings.Finding{
		Severity: s, CostNs: n.cost, FromNs: n.longest.victims.From, ToNs: n.longest.victims.To, Basis: findings.Inferred,
		Actors: w.actors(f, &n),
	}
	if !minor {
		n.gather(f, &x.Actors[len(x.Actors)-1])
	}
	n.rare = n.class.Runs > 0 && float64(n.runs) < w.t.Rare*float64(n.class.Runs) && float64(n.longest.runNs) < w.t.Minor*float64(n.class.RunNs)
	w.phrase(f, &x, &n)
	switch {
	case n.rare:
		x.Severity, x.Basis = findings.Note, findings.Suspected
	case 10*n.runs < n.class.Runs:
		x.Feigned = findings.ByStall
	}
	return x, true
}

// minorShare is the share of the waiting of those who were held up below which the long runs
// are not what they waited for. Of the labelled recordings in which the long runs are the
// trouble the lowest share is 49 %; where long runs come of another one, as the garbage
// collector or a crowd, the highest is 32 %.
const minorShare = 0.4

// minor reports whether those who were held up waited mostly for something else.
func (n *evidence) minor(f *findings.Facts) bool {
	var waited int64
	for i := range f.Waits.Classes {
		c := &f.Waits.Classes[i]
		if slices.ContainsFunc(n.cells, func(x cell) bool { return x.victim == c.ID }) {
			waited += c.Waits.TotalNs
		}
	}
	return float64(n.cost) < minorShare*float64(waited)
}

// crowd is how many goroutines that have begun the same are more than happens to be.
func crowd(f *findings.Facts) int64 { return 2 * int64(max(2, f.GOMAXPROCS)) }

// gather notes how many goroutines waited behind one of their own class, at most, that had
// stopped in the function which it runs, or where it had waited last if it is not known what it
// runs: they had begun the same. A function that they begin with does not count.
func (n *evidence) gather(f *findings.Facts, cause *findings.Actor) {
	start := findings.Short(cause.Class)
	in, by := cause.Short(), ""
	if in == start {
		after := findings.Actor{Class: cause.Class, Stack: f.Frames(n.longest.after)}
		in, by = after.Short(), after.Caller()
	}
	if in == start {
		return
	}
	var most int64
	for i := range n.cells {
		for _, a := range n.cells[i].alike {
			if a.most > most && slices.ContainsFunc(f.Frames(a.stack), func(s string) bool { return strings.HasPrefix(s, in+" ") }) {
				most = a.most
			}
		}
	}
	if most >= crowd(f) {
		n.together, n.in, n.inBy = most, in, by
	}
}

func (w *watcher) actors(f *findings.Facts, n *evidence) (actors []findings.Actor) {
	for _, c := range n.cells[:min(maxVictims, len(n.cells))] {
		a := f.Class(findings.Victim, c.victim)
		a.G, a.P = c.victims.G, findings.OnP(c.victims.P)
		actors = append(actors, a)
	}
	a := f.Class(findings.Cause, n.cause)
	a.G, a.P, a.Stack = n.longest.g, findings.OnP(n.longest.p), f.Frames(n.longest.stack)
	if doing := w.view.Doing(f, n.cause); doing != nil {
		a.Stack, n.longest.after = doing, 0
	}
	return append(actors, a)
}

// maxVictims is how many classes of those held up are named.
const maxVictims = 3
