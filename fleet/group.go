package fleet

import (
	"cmp"
	"maps"
	"slices"
	"strconv"
	"strings"

	"github.com/gmpscope/gmpscope/analyze/findings"
	"github.com/gmpscope/gmpscope/internal/jsondoc"
)

// Bounds of what is held of groups. What comes after them is one of its kind.
const (
	maxGroups       = 2000
	maxGroupClasses = 64
)

type group struct {
	values []string // of the labels, as Grouping.By; nil for the one that stands for others
	sums
	ratios   Histogram                // of its traces, millionths
	by       [len(Causes{})]Histogram // the same by cause
	classes  map[string]int64         // waiting, ns
	findings map[string]int64         // traces that have it
	found    int64                    // traces with any
	worst    jsondoc.FleetTrace
	most     int64 // ratio of worst
	outliers int64

	median, mad int64 // its center, for outliers
}

func newGroup(values []string) *group {
	return &group{values: values, classes: map[string]int64{}, findings: map[string]int64{}}
}

func (g *group) add(r *Record) {
	g.sums.add(r)
	if v, ok := ratio(r.User.TotalNs, r.Ps.RunningNs); ok {
		g.ratios.Add(v, 1)
		for i, ns := range r.User.Causes {
			part, _ := ratio(ns, r.Ps.RunningNs)
			g.by[i].Add(part, 1)
		}
		if g.worst.Key == "" || v > g.most {
			g.worst, g.most = traceOf(r), v
		}
	}
	for i := range r.Classes {
		c := &r.Classes[i]
		name := className(r, c.Name)
		if _, ok := g.classes[name]; !ok && len(g.classes) >= maxGroupClasses {
			name = others
		}
		g.classes[name] = add(g.classes[name], c.Waits.TotalNs)
	}
	seen := map[string]bool{}
	for i := range r.Findings {
		if f := &r.Findings[i]; serious(f) && !seen[f.ID] && len(g.findings) < maxGroupClasses {
			seen[f.ID] = true
			g.findings[f.ID]++
		}
	}
	if len(seen) > 0 {
		g.found++
	}
}

// serious reports whether a finding is more than a note.
func serious(f *Finding) bool {
	return f.Severity == string(findings.Warning) || f.Severity == string(findings.Critical)
}

// className distinguishes classes of traces whose names mean nothing beyond them.
func className(r *Record, name string) string {
	if r.OwnNames && name != "" {
		return name + " of " + r.Key[:12]
	}
	return name
}

func (g *group) document(by []string) jsondoc.FleetGroup {
	d := jsondoc.FleetGroup{
		Labels: labelled(by, g.values), FleetSums: g.sums.document(),
		OutlierN: g.outliers, FindingN: g.found, WorstTrace: g.worst,
	}
	median, mad := g.center()
	d.Median, d.MAD = unit(median), unit(mad)
	d.Finding, _ = most(g.findings)
	d.Class, d.ClassNs = most(g.classes)
	return d
}

// center is the median of the ratios of the traces and their median absolute deviation.
func (g *group) center() (median, mad int64) {
	median = g.ratios.Quantile(0.5)
	return median, g.ratios.Deviation(median)
}

// most returns the name with the largest number, the first of several.
func most(m map[string]int64) (name string, n int64) {
	for _, k := range slices.Sorted(maps.Keys(m)) {
		if m[k] > n {
			name, n = k, m[k]
		}
	}
	return name, n
}

// labelled gives values their names. Of the group that stands for others all are empty.
func labelled(by, values []string) []jsondoc.FleetLabel {
	out := []jsondoc.FleetLabel{}
	for i, name := range by {
		l := jsondoc.FleetLabel{Name: name}
		if values != nil {
			l.Value = values[i]
		}
		out = append(out, l)
	}
	return out
}

func traceOf(r *Record) jsondoc.FleetTrace {
	return jsondoc.FleetTrace{Key: r.Key, Trace: r.Sources[0].Name}
}

// valuesOf returns the values of labels that a trace has, once for each different ones.
func valuesOf(r *Record, by []string) [][]string {
	var out [][]string
	for _, s := range r.Sources {
		values := make([]string, len(by))
		for i, name := range by {
			switch name {
			case "gomaxprocs":
				values[i] = strconv.FormatInt(r.Trace.GOMAXPROCS, 10)
			case "go":
				values[i] = r.Trace.GoVersion
			default:
				if at := slices.IndexFunc(s.Labels, func(l Label) bool { return l.Name == name }); at >= 0 {
					values[i] = s.Labels[at].Value
				}
			}
		}
		if !slices.ContainsFunc(out, func(v []string) bool { return slices.Equal(v, values) }) {
			out = append(out, values)
		}
	}
	return out
}

func keyed(values []string) string {
	var b strings.Builder
	for _, v := range values {
		b.WriteString(strconv.Quote(v))
	}
	return b.String()
}

// compareNatural orders texts with numbers in them by the numbers: 1.9 before 1.10. A
// version comes after its own pre-releases, 1.2-rc1 before 1.2.
func compareNatural(a, b string) int {
	x, y := a, b
	for x != "" && y != "" {
		i, j := digits(x), digits(y)
		if i > 0 && j > 0 {
			m, n := strings.TrimLeft(x[:i], "0"), strings.TrimLeft(y[:j], "0")
			if c := cmp.Or(cmp.Compare(len(m), len(n)), strings.Compare(m, n)); c != 0 {
				return c
			}
			x, y = x[i:], y[j:]
			continue
		}
		if x[0] != y[0] {
			return compareBytes(x[0], y[0])
		}
		x, y = x[1:], y[1:]
	}
	switch {
	case strings.HasPrefix(x, "-"):
		return -1
	case strings.HasPrefix(y, "-"):
		return 1
	}
	return cmp.Or(cmp.Compare(len(x), len(y)), strings.Compare(a, b))
}

func compareBytes(a, b byte) int {
	switch {
	case a == '-':
		return -1
	case b == '-':
		return 1
	}
	return cmp.Compare(a, b)
}

func digits(s string) int { return len(s) - len(strings.TrimLeft(s, "0123456789")) }
