package words

import (
	"fmt"
	"slices"
	"time"

	"github.com/gmpscope/gmpscope/internal/jsondoc"
	"github.com/gmpscope/gmpscope/internal/quantity"
)

// FleetCommand returns the command line that writes the report of a trace, or of a window of
// it.
func FleetCommand(t *jsondoc.FleetTrace) string {
	cmd := "gmpscope report " + quoted(t.Trace)
	if t.ToNs > t.FromNs {
		cmd += " --from " + time.Duration(t.FromNs).String() + " --to " + time.Duration(t.ToNs).String()
	}
	return cmd
}

// FleetClasses returns the names of classes in a report about many traces.
func FleetClasses(f *jsondoc.Fleet) []string {
	out := slices.Concat(
		each(f.Classes, func(c *jsondoc.FleetClass) []string { return []string{c.Name, c.Creator} }),
		each(f.Groups, func(g *jsondoc.FleetGroup) []string { return []string{g.Class} }),
		each(f.Outliers, func(o *jsondoc.FleetOutlier) []string { return []string{o.Class} }),
		each(f.Findings, func(x *jsondoc.FleetFinding) []string { return []string{x.Class} }),
		each(f.Worst, func(w *jsondoc.FleetWait) []string { return []string{w.Class} }))
	for i := range f.Work {
		out = append(append(out, f.Work[i].Name), each(f.Work[i].Parts, func(p *jsondoc.FleetPart) []string { return []string{p.Where} })...)
	}
	return out
}

// each returns what each element of a list has.
func each[T any](list []T, of func(*T) []string) (out []string) {
	for i := range list {
		out = append(out, of(&list[i])...)
	}
	return out
}

// FleetGroup returns the name of a group of traces: the values of its labels.
func FleetGroup(labels []jsondoc.FleetLabel) string {
	out := ""
	for _, l := range labels {
		part := Visible(l.Value)
		switch {
		case part == "":
			continue
		case l.Name == "gomaxprocs":
			part = "GOMAXPROCS " + part
		case l.Name == "go":
			part = "Go " + part
		}
		if out != "" {
			out += ", "
		}
		out += part
	}
	if out == "" {
		return "(no label)"
	}
	return out
}

// FleetHeadline returns, in a sentence, what stands out among many traces.
func FleetHeadline(f *jsondoc.Fleet) string {
	traces, groups := quantity.Plural(f.Traces, "trace", "traces"), quantity.Plural(int64(len(f.Groups)), "group", "groups")
	switch {
	case f.Traces == 0:
		return "There is no trace that could be read"
	case len(f.Outliers) == 0:
		return fmt.Sprintf("No group and no trace waits more than its peers: %s, %s", traces, groups)
	case f.Outliers[0].Kind == "group":
		o := &f.Outliers[0]
		return fmt.Sprintf("%s waits %s as long as it runs, its peers %s", Cut(FleetGroup(o.Labels), 44), PerRunning(o.Value), PerRunning(o.Median))
	}
	return fmt.Sprintf("%s of %s more than the others of their group", quantity.Count(f.OutlierN), quantity.Plural(f.Traces, "trace waits", "traces wait"))
}

// PerRunning returns, in words, the ratio of waiting to running time: what stands between
// "waits" and "as long as it runs".
func PerRunning(f float64) string {
	if f < 2 {
		return quantity.Percent(f)
	}
	return quantity.Times(f)
}
