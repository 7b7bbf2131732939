package fleet

import (
	"maps"
	"slices"
	"time"

	"github.com/gmpscope/gmpscope/internal/jsondoc"
)

// Bounds of the trend: hours that are held, and up to how many are shown as hours.
const (
	maxHours      = 24 * 400
	maxShownHours = 72
)

// trend is waiting over versions and over time.
type trend struct {
	by       []string // the labels of users
	at       []int    // their index in Grouping.By
	versions map[string]*trendSums
	hours    map[int64]*trendSums // by hours since 1970
}

type trendSums struct {
	values []string
	traces int64
	user   Waits
	ran    int64
}

func newTrend(by []string) trend {
	t := trend{by: []string{}, versions: map[string]*trendSums{}, hours: map[int64]*trendSums{}}
	for i, name := range by {
		if !slices.Contains(derived, name) {
			t.by, t.at = append(t.by, name), append(t.at, i)
		}
	}
	return t
}

func (s *trendSums) add(r *Record) {
	s.merge(&trendSums{traces: 1, user: r.User, ran: r.Ps.RunningNs})
}

func (s *trendSums) merge(o *trendSums) {
	s.traces += o.traces
	s.user.merge(&o.user)
	s.ran = add(s.ran, o.ran)
}

func (t *trend) add(r *Record, groups [][]string) {
	if r.Trace.WallUnix > 0 {
		hour := r.Trace.WallUnix / 3600
		if t.hours[hour] == nil && len(t.hours) < maxHours {
			t.hours[hour] = &trendSums{}
		}
		if s := t.hours[hour]; s != nil {
			s.add(r)
		}
	}
	version := slices.Index(t.by, versionLabel)
	for _, own := range t.own(groups) {
		if version < 0 || own[version] == "" {
			continue
		}
		key := keyed(own)
		if t.versions[key] == nil && len(t.versions) < maxGroups {
			t.versions[key] = &trendSums{values: own}
		}
		if s := t.versions[key]; s != nil {
			s.add(r)
		}
	}
}

// own returns the values of the labels of users, once for each different ones.
func (t *trend) own(groups [][]string) (out [][]string) {
	for _, values := range groups {
		own := make([]string, len(t.at))
		for i, at := range t.at {
			own[i] = values[at]
		}
		if !slices.ContainsFunc(out, func(v []string) bool { return slices.Equal(v, own) }) {
			out = append(out, own)
		}
	}
	return out
}

func (s *trendSums) document() jsondoc.FleetTrend {
	return jsondoc.FleetTrend{
		Labels: []jsondoc.FleetLabel{}, Traces: s.traces, RunningNs: s.ran, WaitingNs: s.user.TotalNs, WaitingPerRunning: per(s.user.TotalNs, s.ran),
		P99Ns: min(s.user.Histogram.Quantile(0.99), s.user.MaxNs), Causes: causeTimes(&s.user.Causes),
	}
}

func (t *trend) document() (versions, times []jsondoc.FleetTrend) {
	versions, times = []jsondoc.FleetTrend{}, []jsondoc.FleetTrend{}
	for _, s := range t.versions {
		d := s.document()
		d.Labels = labelled(t.by, s.values)
		versions = append(versions, d)
	}
	slices.SortFunc(versions, func(x, y jsondoc.FleetTrend) int { return compareTrend(x.Labels, y.Labels) })
	step, bins := int64(1), t.hours
	if len(t.hours) > maxShownHours {
		step, bins = 24, map[int64]*trendSums{}
		for _, hour := range slices.Sorted(maps.Keys(t.hours)) {
			if bins[hour/24] == nil {
				bins[hour/24] = &trendSums{}
			}
			bins[hour/24].merge(t.hours[hour])
		}
	}
	for _, at := range slices.Sorted(maps.Keys(bins)) {
		d := bins[at].document()
		d.From = time.Unix(at*step*3600, 0).UTC().Format(time.RFC3339)
		times = append(times, d)
	}
	return versions, times
}

// compareTrend orders by all labels but the version, then by that.
func compareTrend(a, b []jsondoc.FleetLabel) int {
	last := 0
	for i := range a {
		c := compareNatural(a[i].Value, b[i].Value)
		if a[i].Name == versionLabel {
			last = c
		} else if c != 0 {
			return c
		}
	}
	return last
}
