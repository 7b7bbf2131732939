package fleet

import (
	"cmp"
	"maps"
	"slices"
	"strings"

	"github.com/gmpscope/gmpscope/analyze/findings"
	"github.com/gmpscope/gmpscope/internal/jsondoc"
)

// versionLabel is the label that has an order.
const versionLabel = "version"

// Bounds of what is held of findings, and of what is shown.
const (
	maxFound         = 4000
	maxVersions      = 512 // of a family
	maxShownVersions = 16
	maxShownFindings = 1000
)

// foundSet sums up the findings, notes left out, by family: the groups that differ in
// nothing but the version.
type foundSet struct {
	Grouping
	version  int // index of the version among the labels, -1 if they have none
	found    map[string]*found
	families map[string]map[string]bool // versions by family
}

// found is a finding in the traces of a family.
type found struct {
	id, class, severity, family string
	values                      []string
	traces, costNs, worstNs     int64
	versions                    map[string]bool
	worst                       jsondoc.FleetTrace
}

func newFoundSet(g Grouping) foundSet {
	return foundSet{Grouping: g, version: slices.Index(g.By, versionLabel), found: map[string]*found{}, families: map[string]map[string]bool{}}
}

func (s *foundSet) add(r *Record, groups [][]string) {
	for _, values := range groups {
		version, rest := "", values
		if s.version >= 0 {
			version, rest = values[s.version], slices.Delete(slices.Clone(values), s.version, s.version+1)
		}
		family := keyed(rest)
		if s.families[family] == nil {
			if len(s.families) >= maxGroups {
				continue
			}
			s.families[family] = map[string]bool{}
		}
		if len(s.families[family]) < maxVersions {
			s.families[family][version] = true
		}
		seen := map[string]bool{}
		for i := range r.Findings {
			if f := &r.Findings[i]; serious(f) {
				s.one(r, f, version, family, rest, seen)
			}
		}
	}
}

// one adds a finding of a trace; seen has those that counted for the trace already.
func (s *foundSet) one(r *Record, f *Finding, version, family string, rest []string, seen map[string]bool) {
	class := className(r, f.Class)
	key := keyed([]string{family, f.ID, class})
	x := s.found[key]
	if x == nil {
		if len(s.found) >= maxFound {
			return
		}
		x = &found{id: f.ID, class: class, family: family, values: rest, versions: map[string]bool{}, worstNs: -1}
		s.found[key] = x
	}
	if !seen[key] {
		seen[key] = true
		x.traces++
	}
	if len(x.versions) < maxVersions {
		x.versions[version] = true
	}
	x.costNs = add(x.costNs, f.CostNs)
	if f.Severity == string(findings.Critical) || x.severity == "" {
		x.severity = f.Severity
	}
	if f.CostNs > x.worstNs {
		x.worstNs, x.worst = f.CostNs, traceOf(r)
		x.worst.FromNs, x.worst.ToNs = f.FromNs, f.ToNs
	}
}

// document returns the new ones first, then those that cost most.
func (s *foundSet) document() []jsondoc.FleetFinding {
	var by []string
	for _, name := range s.By {
		if name != versionLabel {
			by = append(by, name)
		}
	}
	out := []jsondoc.FleetFinding{}
	for _, x := range s.found {
		versions := slices.SortedFunc(maps.Keys(x.versions), compareNatural)
		d := jsondoc.FleetFinding{
			ID: x.id, Class: x.class, Severity: x.severity, Labels: labelled(by, x.values), Traces: x.traces, CostNs: x.costNs, Worst: x.worst,
			New: s.isNew(x, versions[0]), Versions: []string{},
		}
		if s.version >= 0 {
			d.Versions = versions[:min(len(versions), maxShownVersions)]
		}
		out = append(out, d)
	}
	slices.SortFunc(out, func(x, y jsondoc.FleetFinding) int {
		if x.New != y.New {
			if x.New {
				return -1
			}
			return 1
		}
		return cmp.Or(cmp.Compare(y.CostNs, x.CostNs), strings.Compare(x.ID, y.ID), strings.Compare(x.Class, y.Class), compareLabels(x.Labels, y.Labels))
	})
	return out[:min(len(out), maxShownFindings)]
}

// isNew reports whether no earlier version has the finding, and there is one. Traces
// without a version are of none.
func (s *foundSet) isNew(x *found, first string) bool {
	since := cmp.Or(s.Since, first)
	if first == "" || compareNatural(first, since) < 0 {
		return false
	}
	for v := range s.families[x.family] {
		if v != "" && compareNatural(v, since) < 0 {
			return true
		}
	}
	return false
}
