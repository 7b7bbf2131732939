package compare

import (
	"fmt"
	"math"
	"slices"
	"time"

	"github.com/gmpscope/gmpscope/analyze"
	"github.com/gmpscope/gmpscope/analyze/findings"
	"github.com/gmpscope/gmpscope/analyze/sidecar"
	"github.com/gmpscope/gmpscope/internal/quantity"
)

// Conditions are what the traces, and the files beside them, show of the machine on both
// sides.
type Conditions struct {
	Differs []string `json:"differs"` // differences, in sentences
	// Slower is the factor by which the machine alone may have slowed the after side, at
	// most; below 1: sped up; 1 if nothing is known to differ; 1000 or 0.001 if all that is
	// known is that one side was short of CPUs.
	Slower float64 `json:"slower"`
	Turns  bool    `json:"turns"` // sides were recorded in turns; if not, or if times are unknown, drift of the machine counts as a difference
	Busy   bool    `json:"busy"`  // threads lacked CPUs on either side
}

// Bounds from which on machines differ.
const (
	lackDiffers   = 0.1  // of the P-time, in which threads with a P had no CPU
	othersDiffer  = 0.15 // of the CPUs, used by other programs
	hardlyIdle    = 0.8  // of the CPUs, from which on programs are in each other's way
	costsTwice    = 2    // who has half of the CPUs may take four times as long: there is queueing, too
	mostOfMachine = 0.9  // of the CPUs that others can take in effect
	mostTraces    = 0.5  // of the traces of a side: the machine of that side
	fewTraces     = 0.25 // likewise: not the machine of that side
	anyFactor     = 1000 // what a machine may account for of which no more is known than that it was short of CPUs
)

func machineOf(before, after []*analyze.Result) Conditions {
	m := Conditions{Differs: []string{}, Slower: 1, Turns: inTurns(before, after)}
	lackedBefore, lackedAfter := lackOf(before), lackOf(after)
	b, a := lackedBefore.share, lackedAfter.share
	m.Busy = max(b, a) >= lackDiffers || lackedBefore.much || lackedAfter.much
	slower := 0.0
	if math.Abs(a-b) >= lackDiffers {
		m.Differs = append(m.Differs, fmt.Sprintf("Threads with a P had no CPU for %s of the time before and %s after.", quantity.Percent(b), quantity.Percent(a)))
		slower = costsTwice * math.Log((1-min(b, mostOfMachine))/(1-min(a, mostOfMachine)))
	}
	ub, ua := usesOf(before), usesOf(after)
	// Not idle, and not by the program alone.
	crowded := func(u uses) bool { return u.busy >= hardlyIdle && u.others >= othersDiffer }
	m.Busy = m.Busy || crowded(ub) || crowded(ua)
	if ub.n > 0 && ua.n > 0 {
		if math.Abs(ua.others-ub.others) >= othersDiffer && max(ua.busy, ub.busy) >= hardlyIdle {
			m.Differs = append(m.Differs, fmt.Sprintf("Other programs used %s of the machine's CPUs before and %s after.", quantity.Percent(ub.others), quantity.Percent(ua.others)))
			// Both are signs of the same.
			if x := costsTwice * math.Log((1-min(ub.others, mostOfMachine))/(1-min(ua.others, mostOfMachine))); math.Abs(x) > math.Abs(slower) {
				slower = x
			}
		}
		if hosts(before) != "" && hosts(after) != "" && hosts(before) != hosts(after) {
			m.Differs = append(m.Differs, "The recordings are of different machines, or of different boots of one.")
		}
	}
	// How much threads lacked is not known by what a trace shows of it: the times between runs.
	if sb, sa := lackedBefore.traces, lackedAfter.traces; !m.Turns && (ub.n == 0 || ua.n == 0) && max(sb, sa) >= mostTraces && min(sb, sa) < fewTraces {
		m.Differs = append(m.Differs, fmt.Sprintf("Threads lacked CPUs in %s of the traces before and %s of those after.", quantity.Percent(sb), quantity.Percent(sa)))
		slower = math.Log(anyFactor)
		if sb > sa {
			slower = -slower
		}
	}
	m.Slower = exp(slower)
	return m
}

// lack is what findings show of CPUs that threads of a side lacked. How much that is differs from one
// run to the next, and is no property of the program.
type lack struct {
	share  float64 // of the P-time without a CPU, the median over traces
	traces float64 // share of the traces with a lack, if but a little
	much   bool    // one of them has more than a note of it
}

func lackOf(rs []*analyze.Result) (l lack) {
	var shares []float64
	lacking := 0
	for _, r := range rs {
		most, lacks := int64(0), 0
		for f := range r.AllFindings() {
			if f.Kind != findings.KindMachine {
				continue
			}
			lacks = 1
			l.much = l.much || f.Severity != findings.Note
			if f.CostOf == findings.OfPTime {
				most = max(most, f.CostNs)
			}
		}
		lacking += lacks
		shares = append(shares, quantity.Ratio(float64(most), lifetime(r)))
	}
	l.share, l.traces = quantity.Median(shares), quantity.Ratio(float64(lacking), float64(len(rs)))
	return l
}

// uses is how the CPUs of a machine were used, by the files beside the traces: shares of all CPUs,
// medians over the traces that have one.
type uses struct {
	n            int
	others, busy float64
}

func usesOf(rs []*analyze.Result) (u uses) {
	var others, busy []float64
	for _, r := range rs {
		h := hostOf(r)
		if h == nil || h.CPUs == 0 || h.Use == nil {
			continue
		}
		others = append(others, h.Use.Others()/float64(h.CPUs))
		busy = append(busy, float64(h.Use.BusyNs)/float64(h.Use.Ns)/float64(h.CPUs))
	}
	return uses{len(others), quantity.Median(others), quantity.Median(busy)}
}

func hostOf(r *analyze.Result) *sidecar.Host {
	if r.Trace.Sidecar == nil {
		return nil
	}
	return r.Trace.Sidecar.Host
}

// hosts names the boots of a side, if all are known.
func hosts(rs []*analyze.Result) (all string) {
	var boots []string
	for _, r := range rs {
		h := hostOf(r)
		if h == nil || h.Boot == "" {
			return ""
		}
		boots = append(boots, h.Boot)
	}
	slices.Sort(boots)
	return list(slices.Compact(boots))
}

// inTurns reports whether the sides were recorded in turns, by their times: neither began after the
// other was done, but for a trace's length where there is one of each. Times are known to the second.
func inTurns(before, after []*analyze.Result) bool {
	b, ok := timesOf(before)
	a, known := timesOf(after)
	if !ok || !known {
		return false
	}
	late := 2 * time.Second
	if len(b) == 1 && len(a) == 1 {
		late += 2 * time.Duration(max(before[0].Trace.DurationNs, after[0].Trace.DurationNs))
	}
	return b[0].Sub(a[len(a)-1]) <= late && a[0].Sub(b[len(b)-1]) <= late
}

// timesOf returns when traces were begun, in order; not ok if that is not known of one.
func timesOf(rs []*analyze.Result) (out []time.Time, ok bool) {
	for _, r := range rs {
		t, err := time.Parse(time.RFC3339, r.Trace.Wall)
		if err != nil {
			return nil, false
		}
		out = append(out, t)
	}
	slices.SortFunc(out, time.Time.Compare)
	return out, true
}
