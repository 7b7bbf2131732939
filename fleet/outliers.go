package fleet

import (
	"cmp"
	"slices"
	"strings"

	"github.com/gmpscope/gmpscope/analyze/waits"
	"github.com/gmpscope/gmpscope/internal/jsondoc"
)

// The rule of B. Iglewicz and D. Hoaglin, How to Detect and Handle Outliers (1993): the
// modified z-score 0.6745 × (x − median) / MAD is above 3.5. Only who waits more is one.
const (
	zFactor    = 0.6745
	zThreshold = 3.5

	// The least MAD, by the median and in millionths: where all are nearly equal, what
	// differs by little is none.
	leastMAD      = 0.05
	leastMADUnits = 1000

	minPeers    = 3 // groups, with the one that is judged
	minOfGroup  = 5 // traces
	maxOutliers = 200
)

// outliers are the groups and traces that wait more than their peers.
type outliers struct {
	by     []string
	groups []jsondoc.FleetOutlier
	traces []jsondoc.FleetOutlier // the first of them
	n      int64
}

// score is the modified z-score.
func score(value, median, mad int64) float64 {
	return zFactor * float64(value-median) / max(float64(mad), leastMAD*float64(median), leastMADUnits)
}

// compareGroups holds each group against those that differ from it in one label of users: in
// the version, if there are enough, or else in another one but the first, such as the
// host. Other services, and other GOMAXPROCS, are other work.
func (o *outliers) compareGroups(groups []*group) {
	for _, g := range groups {
		g.median, g.mad = g.center()
	}
	judged := map[*group]bool{}
	for _, d := range o.dimensions() {
		families := map[string][]*group{}
		for _, g := range groups {
			if g.ratios.Total() == 0 || g.values[d] == "" {
				continue
			}
			rest := slices.Clone(g.values)
			rest[d] = ""
			key := keyed(rest)
			families[key] = append(families[key], g)
		}
		for _, family := range families {
			if len(family) >= minPeers {
				o.compareFamily(family, d, judged)
			}
		}
	}
	slices.SortFunc(o.groups, compareOutliers)
}

// dimensions are the labels in which peers of a group may differ, by their index, the one
// to begin with first.
func (o *outliers) dimensions() (out []int) {
	for i, name := range o.by {
		if !slices.Contains(derived, name) {
			out = append(out, i)
		}
	}
	if len(out) > 1 {
		out = out[1:]
	}
	slices.Reverse(out)
	if i := slices.IndexFunc(out, func(d int) bool { return o.by[d] == versionLabel }); i >= 0 {
		out = slices.Insert(slices.Delete(out, i, i+1), 0, slices.Index(o.by, versionLabel))
	}
	return out
}

// compareFamily judges the groups of a family that have not been judged.
func (o *outliers) compareFamily(family []*group, d int, judged map[*group]bool) {
	var medians Histogram
	var by [len(Causes{})]Histogram
	for _, g := range family {
		medians.Add(g.median, 1)
		for i := range by {
			by[i].Add(g.by[i].Quantile(0.5), 1)
		}
	}
	median := medians.Quantile(0.5)
	mad := medians.Deviation(median)
	for _, g := range family {
		value := g.median
		z := score(value, median, mad)
		done := judged[g]
		judged[g] = true
		if done || z < zThreshold {
			continue
		}
		x := o.outlier("group", g.values, value, median, mad, g.ps.RunningNs)
		x.Score, x.Peers, x.PeerN = z, o.by[d], int64(len(family))
		x.Cause, x.CauseNs = excess(func(i int) (int64, int64) { return g.by[i].Quantile(0.5), by[i].Quantile(0.5) }, g.ps.RunningNs)
		x.FleetTrace = g.worst
		x.Finding, _ = most(g.findings)
		x.Class, _ = most(g.classes)
		o.groups = append(o.groups, x)
		o.n++
	}
}

func (o *outliers) outlier(kind string, values []string, value, median, mad, running int64) jsondoc.FleetOutlier {
	return jsondoc.FleetOutlier{
		Kind: kind, Labels: labelled(o.by, values), Value: unit(value), Median: unit(median), MAD: unit(mad),
		ExcessNs: int64(unit(value-median) * float64(running)),
	}
}

// excess returns the cause that is the farthest above its median, by the ratio and the
// median of each in millionths, and how much of the waiting that is.
func excess(of func(cause int) (value, median int64), running int64) (cause string, ns int64) {
	far := int64(0)
	for i, c := range waits.Causes() {
		if value, median := of(i); value-median > far {
			far, cause = value-median, string(c)
		}
	}
	return cause, int64(unit(far) * float64(running))
}

// add judges a trace within its groups.
func (o *outliers) add(r *Record, groups []*group) {
	value, ok := ratio(r.User.TotalNs, r.Ps.RunningNs)
	if !ok {
		return
	}
	for _, g := range groups {
		z := score(value, g.median, g.mad)
		if g.values == nil || g.ratios.Total() < minOfGroup || z < zThreshold {
			continue
		}
		g.outliers++
		o.n++
		x := o.outlier("trace", g.values, value, g.median, g.mad, r.Ps.RunningNs)
		x.Score, x.Peers, x.PeerN, x.FleetTrace = z, "group", g.ratios.Total(), traceOf(r)
		x.Cause, x.CauseNs = excess(func(i int) (int64, int64) {
			part, _ := ratio(r.User.Causes[i], r.Ps.RunningNs)
			return part, g.by[i].Quantile(0.5)
		}, r.Ps.RunningNs)
		if i := slices.IndexFunc(r.Findings, func(f Finding) bool { return serious(&f) }); i >= 0 {
			x.Finding = r.Findings[i].ID
		}
		if len(r.Classes) > 0 && r.Classes[0].Waits.TotalNs != 0 {
			x.Class = className(r, r.Classes[0].Name)
		}
		o.traces = append(o.traces, x)
		if len(o.traces) > 2*maxOutliers {
			o.cut()
		}
	}
}

// cut keeps the first traces.
func (o *outliers) cut() {
	slices.SortFunc(o.traces, compareOutliers)
	o.traces = o.traces[:min(len(o.traces), maxOutliers)]
}

func compareOutliers(x, y jsondoc.FleetOutlier) int {
	return cmp.Or(cmp.Compare(y.ExcessNs, x.ExcessNs), strings.Compare(x.Key, y.Key), compareLabels(x.Labels, y.Labels))
}

// list returns groups, then traces.
func (o *outliers) list() []jsondoc.FleetOutlier {
	o.cut()
	out := slices.Concat([]jsondoc.FleetOutlier{}, o.groups, o.traces)
	return out[:min(len(out), maxOutliers)]
}
