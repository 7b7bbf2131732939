package truth

import (
	"math"
	"slices"
	"testing"

	"github.com/gmpscope/gmpscope/reference"
)

// recorded returns, by goroutine, the waits of a recording as the queue
// operations tell them, with nothing inferred. Times are those of the records.
func recorded(recs []Record) map[int64][][]stay {
	out := make(map[int64][][]stay)
	now := make(map[int64][]stay)
	to := func(r Record, in reference.Place) { now[r.G] = append(now[r.G], stay{r.When, in}) }
	for _, r := range recs {
		switch r.Kind {
		case PutRunnext:
			to(r, reference.Place{Queue: reference.QueueRunnext, P: r.P})
		case PutLocal, PutStolen:
			to(r, localPlace(r.P))
		case PutGlobal:
			to(r, globalPlace)
		case Grab:
			to(r, directPlace)
		case TookRunnext, TookLocal, TookGlobal, TookTick, TookSteal:
			to(r, reference.Place{Queue: reference.QueueDirect, P: r.P})
		case Start:
			out[r.G] = append(out[r.G], now[r.G])
			delete(now, r.G)
		}
	}
	return out
}

// agreeing returns for how much of a wait in [from, to) two tellings of it put
// the goroutine into the queues of the same P.
func agreeing(a, b []stay, from, to int64) (ns int64) {
	at := func(s []stay, t int64) (in reference.Place, until int64) {
		in, until = directPlace, math.MaxInt64
		for _, x := range s {
			if x.from > t {
				return in, x.from
			}
			in = x.in
		}
		return in, until
	}
	for t := from; t < to; {
		x, xu := at(a, t)
		y, yu := at(b, t)
		end := min(xu, yu, to)
		if same(x, y) {
			ns += end - t
		}
		t = end
	}
	return ns
}

// checkReplay holds the histories that the lines of a joint give against its
// records: with the moves, and without, as in older and compact truths.
func checkReplay(t *testing.T, j *Joint, recs []Record, ds []reference.Decision) {
	t.Helper()
	checkLines(t, "with moves", 0.99, j.Lines, recs, ds)
	var old []Line
	for _, l := range j.Lines {
		if l.K != "move" {
			old = append(old, l)
		}
	}
	checkLines(t, "without", 0.9, old, recs, ds)
}

// checkLines wants at least a share of the waiting time as recorded.
func checkLines(t *testing.T, what string, share float64, lines []Line, recs []Record, ds []reference.Decision) {
	t.Helper()
	real := recorded(recs)
	list := waitsOf(ds)
	derived := histories(lines, ds, list)
	// The clock is that of the records, but for when it begins. A thread may lose
	// its processor between a record and the event, so the median counts.
	var zeros []int64
	starts := make(map[int64][]int64)
	for _, r := range recs {
		if r.Kind == Start {
			starts[r.G] = append(starts[r.G], r.When)
		}
	}
	for _, l := range lines {
		if l.K == "start" && int(l.N) < len(starts[l.G]) {
			zeros = append(zeros, starts[l.G][l.N]-l.T)
		}
	}
	slices.Sort(zeros)
	zero := zeros[len(zeros)/2]
	n := make(map[int64]int)
	var right, of, open int64
	next := 0
	for i := range ds {
		if ds[i].Kind != reference.KindStart || ds[i].Flags&reference.FlagFirst != 0 {
			continue
		}
		g := ds[i].G
		k := n[g]
		n[g]++
		if next == len(list) || list[next].start != i {
			continue
		}
		w, h := list[next], derived[next]
		next++
		if k >= len(real[g]) {
			continue
		}
		exact := make([]stay, 0, len(real[g][k]))
		for _, s := range real[g][k] {
			exact = append(exact, stay{s.from - zero, s.in})
		}
		from, to := ds[w.ready].Time, ds[w.start].Time
		if len(exact) > 0 { // a wait begins with its event, which comes before the put
			exact[0].from = min(exact[0].from, from)
		}
		of += to - from
		open += max(0, to-max(from, h.open))
		right += agreeing(exact, h.stays, from, min(to, h.open))
	}
	t.Logf("%s: %.3f s of waiting, %.3f %% as recorded, %.3f %% open", what, float64(of)/1e9, 100*float64(right)/float64(of), 100*float64(open)/float64(of))
	if float64(right) < share*float64(of) {
		t.Errorf("%s: the replay agrees with the records for %d of %d ns", what, right, of)
	}
}
