package compare

import (
	"math"
	"math/rand/v2"
	"slices"

	"github.com/gmpscope/gmpscope/analyze"
	"github.com/gmpscope/gmpscope/analyze/findings"
)

const (
	resamples = 2000
	// noise and step are by which factors waiting per running, and the waiting
	// share, of two traces of one program may differ before anything is
	// concluded from them: windows of one trace do not show how much one run
	// differs from the next. Of 119 pairs of one program recorded twice, hours
	// apart on a busy machine, 14 % differed by more.
	noise = 3
	step  = 1.25
	// little is the waiting share below which it does not matter.
	little = 0.01
)

// runs is by which factors what users feel differs from one run of a program to the next:
// seldom by the one, hardly ever by the other. Of 386 pairs of recordings of 179 programs,
// minutes to a day apart, 8 % differed by the one in at least one metric, and 0.5 % by the
// other.
var runs = map[string]struct{ seldom, hardly float64 }{
	durationName: {1.25, 1.75},
	workName:     {1.3, 2},
	lifeName:     {1.5, 3},
	taskName:     {1.5, 3},
}

// cell is one window: goroutine-time of waiting and of running, in the same unit.
type cell struct{ waiting, running float64 }

// cells are the windows of a trace of which something is recorded.
func cells(r *analyze.Result) []cell {
	tl := &r.Timeline
	out := make([]cell, 0, tl.Bins)
	for i := range tl.Bins {
		from := int64(i) * tl.BinNs
		to := min(from+tl.BinNs, tl.EndNs)
		recorded := tl.RecordedNs(from, to)
		if recorded <= 0 && len(tl.NotRecorded) > 0 {
			continue
		}
		var c cell
		if i < len(tl.Runnable.Mean) {
			c.waiting = float64(tl.Runnable.Mean[i])
			if recorded < to-from { // the mean is that of what is recorded, the shares below are of all
				c.waiting *= float64(recorded) / float64(to-from)
			}
		}
		for k := range tl.Lanes {
			if l := &tl.Lanes[k]; i < len(l.User) {
				c.running += float64(l.User[i]) / 255
			}
		}
		out = append(out, c)
	}
	return out
}

func shareOf(cs []cell) float64 {
	var w, x float64
	for _, c := range cs {
		w += c.waiting
		x += c.running
	}
	return ratio(w, w+x)
}

// bootstrap reports how likely a difference of the waiting share is as large as
// the one seen, if both sides were stretches of one process: windows are drawn
// in blocks, so that what depends on its neighbours stays together. Also how far
// the ends of the confidence intervals lie from the middle: what is to be added
// to the difference, and what the ratio is to be multiplied by; nil where it may
// be by 0. Windows at the ends of a trace are in fewer blocks than others, and a
// timeline is coarse, so the resamples lie around another value than the one that
// was measured exactly.
func bootstrap(before, after [][]cell) (p float64, add, times *[2]float64) {
	all := func(sets [][]cell) []cell { return slices.Concat(sets...) }
	seen := shareOf(all(after)) - shareOf(all(before))
	rnd := rand.New(rand.NewPCG(1, 2))
	var b, a []cell
	diffs, ratios := make([]float64, resamples), make([]float64, resamples)
	for i := range diffs {
		b, a = b[:0], a[:0]
		for _, s := range before {
			b = blocks(b, s, rnd)
		}
		for _, s := range after {
			a = blocks(a, s, rnd)
		}
		x, y := shareOf(b), shareOf(a)
		diffs[i], ratios[i] = y-x, y/x
	}
	extreme := 0
	for _, d := range diffs {
		if math.Abs(d-seen) >= math.Abs(seen) { // centred: as if there were no difference
			extreme++
		}
	}
	if add = quantiles(diffs); add != nil {
		add[0], add[1] = add[0]-median(diffs), add[1]-median(diffs)
	}
	if times = quantiles(ratios); times != nil {
		if m := median(ratios); m > 0 {
			times[0], times[1] = times[0]/m, times[1]/m
		} else {
			times = nil
		}
	}
	return float64(extreme+1) / (resamples + 1), add, times
}

// blocks appends as many windows as s has, in blocks that begin anywhere.
func blocks(to, s []cell, rnd *rand.Rand) []cell {
	if len(s) == 0 {
		return to
	}
	length := max(1, int(math.Round(math.Sqrt(float64(len(s))))))
	for left := len(s); left > 0; {
		k := min(length, left)
		at := rnd.IntN(len(s) - k + 1)
		to = append(to, s[at:at+k]...)
		left -= k
	}
	return to
}

// byWindows judges what it can where there are too few traces for [Traces]: the waiting
// share by its p value, what users feel by how much it changed. The rows of the values are
// metrics, their columns traces.
func byWindows(ms []Metric, before, after []*analyze.Result, valuesBefore, valuesAfter [][]float64) {
	noisy := lacksCPUs(before) || lacksCPUs(after)
	n := min(len(before), len(after))
	for i := range ms {
		m := &ms[i]
		f, visible := runs[m.Name]
		switch {
		case visible && m.Primary:
			times := timesOf(m)
			m.Significant = !noisy && apart(valuesBefore[i], valuesAfter[i]) && times >= lessWith(f.hardly, n)
			m.suggestive = times >= lessWith(f.seldom, n)
		case m.Name == waitingName:
			shareByWindows(m, before, after)
			sure := *m.P < alpha && matters(m.Before.Median, m.After.Median, n)
			m.Significant = !noisy && sure && apart(valuesBefore[i], valuesAfter[i])
			m.suggestive = *m.P < alpha && large(m) && max(m.Before.Median, m.After.Median) >= little
		}
	}
}

// shareByWindows fills in the waiting share's p value and confidence intervals.
func shareByWindows(m *Metric, before, after []*analyze.Result) {
	sets := func(rs []*analyze.Result) (out [][]cell) {
		for _, r := range rs {
			out = append(out, cells(r))
		}
		return out
	}
	p, add, times := bootstrap(sets(before), sets(after))
	m.P, m.PAdjusted = &p, &p
	if add != nil {
		m.CI = &[2]float64{max(-1, m.Delta+add[0]), min(1, m.Delta+add[1])} // of shares
	}
	if m.Ratio != nil && times != nil {
		m.RatioCI = &[2]float64{*m.Ratio * times[0], *m.Ratio * times[1]}
	}
}

// lessWith is the factor that is asked for where there are n traces a side, all of which
// must agree: its n-th root.
func lessWith(factor float64, n int) float64 { return math.Pow(factor, 1/float64(n)) }

// lacksCPUs reports whether threads of a trace seem to have lacked CPUs, as known on one
// of these bases; on any if there are none. How much differs from one run to the next
// then, and is no property of the program.
func lacksCPUs(rs []*analyze.Result, basis ...string) bool {
	return slices.ContainsFunc(rs, func(r *analyze.Result) bool {
		for f := range r.AllFindings() {
			if f.Kind == findings.KindMachine && f.Severity != findings.Note && (len(basis) == 0 || slices.Contains(basis, f.Basis)) {
				return true
			}
		}
		return false
	})
}

// apart reports whether all values of one side are greater than all of the other.
func apart(before, after []float64) bool {
	return slices.Max(before) < slices.Min(after) || slices.Max(after) < slices.Min(before)
}

// matters reports whether two waiting shares differ by more than one run differs from
// the next. They are compared as waiting per running, which does not saturate.
func matters(b, a float64, n int) bool {
	odds := func(s float64) float64 { return s / max(1e-9, 1-s) }
	return max(b, a) >= little && max(b, a) >= lessWith(step, n)*min(b, a) && max(odds(b), odds(a)) >= lessWith(noise, n)*min(odds(b), odds(a))
}
