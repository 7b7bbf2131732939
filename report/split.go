package report

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/gmpscope/gmpscope/internal/doc"
	"github.com/gmpscope/gmpscope/internal/quantity"
	"github.com/gmpscope/gmpscope/replay"
	"github.com/gmpscope/gmpscope/report/internal/words"
)

// splitLines reports the parts of a split of the waiting, and how far they can be trusted.
func splitLines(s *replay.Decomposition) []string {
	p := s.Total
	if p.ObservedNs == 0 {
		return []string{"Nobody waited, so that there is nothing to hold against the reference."}
	}
	if s.Untrusted != "" {
		return append([]string{fmt.Sprintf("The waiting cannot be held against the reference: %s. Try a change itself, and compare the traces: gmpscope diff.", s.Untrusted)}, s.Notes...)
	}
	ideal := "that shares them fairly at each instant (policy gps)"
	if s.Ideal == "fifo" {
		ideal = "that has one queue and loses nothing (policy fifo, which waits less here than fair sharing)"
	}
	// Capacity, policy and excess add up to what was observed, but where one of
	// them is below zero they are no parts of it.
	part := func(ns int64) string {
		if min(p.CapacityNs, p.PolicyNs, p.ExcessNs) < 0 {
			return ""
		}
		return " (" + quantity.Part(ns, p.ObservedNs) + ")"
	}
	out := []string{fmt.Sprintf("Of %s waited, %s%s are capacity: the same work, becoming runnable at the same times on %s, would wait that long under an ideal scheduler %s. Only less work, or more Ps, take that away.",
		quantity.Duration(p.ObservedNs), quantity.Duration(p.CapacityNs), part(p.CapacityNs), quantity.Plural(int64(s.GOMAXPROCS), "P", "Ps"), ideal)}
	if p.PolicyNs >= 0 {
		out = append(out, fmt.Sprintf("The rules and costs of Go's scheduler, simulated, add %s%s: policy.", quantity.Duration(p.PolicyNs), part(p.PolicyNs)))
	} else {
		out = append(out, fmt.Sprintf("Go's scheduler, simulated, waits %s less than that: policy is below zero. It lets some finish early where the ideal one treats all alike.", quantity.Duration(-p.PolicyNs)))
	}
	if p.ExcessNs >= 0 {
		out = append(out, fmt.Sprintf("%s%s are excess: observed beyond the simulation. That is the machine (threads that wake up late, or had no CPU), or what the model does not know; a trace does not tell which.", quantity.Duration(p.ExcessNs), part(p.ExcessNs)))
	} else {
		out = append(out, fmt.Sprintf("The simulation waits %s longer than was observed: the model is off by that much, and excess is below zero.", quantity.Duration(-p.ExcessNs)))
	}
	stretch := "all of the trace"
	if s.FromNs > 0 || s.EndNs < s.DurationNs {
		stretch = fmt.Sprintf("%s to %s of %s of the trace", quantity.Instant(s.FromNs), quantity.Instant(s.EndNs), quantity.Duration(s.DurationNs))
	}
	out = append(out, fmt.Sprintf("This is inference, from %s: the model, given the work of the trace, is off: %s (median of %s).",
		stretch, errorLine(s.Error.Makespan, s.Error.Waits.Total), quantity.Plural(int64(s.Seeds), "run", "runs")))
	return append(out, s.Notes...)
}

// errorLine reports how far the model is off.
func errorLine(makespan, waited *float64) string {
	return fmt.Sprintf("makespan %s, time waited %s", signed(makespan), signed(waited))
}

// SplitSection returns the section about the comparison of the waiting with simulated schedulers;
// nil without one.
func SplitSection(s *replay.Decomposition) *doc.Section {
	if s == nil {
		return nil
	}
	out := &doc.Section{ID: "reference", Title: "Against the reference"}
	for _, l := range splitLines(s) {
		out.Blocks = append(out.Blocks, doc.Para{Text: words.Ended(words.Sentence(words.Cut(words.Visible(l), 1200)))})
	}
	if s.Untrusted != "" {
		return out
	}
	split := func(p replay.Parts) []doc.Part {
		return []doc.Part{{Key: "behind", Title: "capacity: unavoidable", Ns: p.CapacityNs}, {Key: "overtaken", Title: "policy: Go's own rules", Ns: p.PolicyNs}, {Key: "missed", Title: "excess: neither explains it", Ns: p.ExcessNs}}
	}
	whole := int64(1)
	for i := range s.Classes {
		// A part below zero has no bar.
		whole = max(whole, quantity.Sum(split(s.Classes[i].Parts), func(p *doc.Part) int64 { return max(p.Ns, 0) }))
	}
	t := doc.Table{Columns: []doc.Column{{Title: "goroutine group", Left: true, Cut: 44}, {Title: "waited"}, {Title: "capacity"}, {Title: "policy"}, {Title: "excess"}}}
	row := func(name doc.Cell, p replay.Parts) {
		t.Rows = append(t.Rows, doc.Row{Cells: []doc.Cell{name, doc.Duration(p.ObservedNs), doc.Duration(p.CapacityNs), doc.Duration(p.PolicyNs), doc.Duration(p.ExcessNs)}})
	}
	row(doc.Cell{Text: "all"}, s.Total)
	for i := range s.Classes {
		c := &s.Classes[i]
		row(doc.Cell{Name: cmp.Or(c.Name, words.Unknown), Bars: [][]doc.Part{split(c.Parts)}, Whole: whole}, c.Parts)
	}
	out.Blocks = append(out.Blocks, doc.Legend(split(replay.Parts{})), t, doc.Para{Text: "The three parts add up to what was waited. A part below zero has no bar.", Small: true, Where: doc.Page})
	return out
}

// gainOf finds what a finding's victims could gain; nil if that was not asked for, or is not known.
func gainOf(s *replay.Decomposition, finding int) *replay.Gain {
	if s == nil {
		return nil
	}
	if i := slices.IndexFunc(s.Prospects, func(x replay.Gain) bool { return x.Finding == finding }); i >= 0 {
		return &s.Prospects[i]
	}
	return nil
}

// gainLines reports in sentences what the victims of a finding could gain: what comes of its advice,
// simulated, and what of their waiting is whose doing. Names may be nil.
func gainLines(names *words.Names, s *replay.Decomposition, p *replay.Gain) []string {
	var out []string
	if a := p.Advice; a != nil {
		out = append(out, adviceLine(names, s, p, a))
	}
	// If an earlier finding has the same victims, once is enough.
	shown := slices.ContainsFunc(s.Prospects, func(x replay.Gain) bool { return x.Finding < p.Finding && x.Class == p.Class && x.Creator == p.Creator })
	if p.ObservedNs > 0 && !shown {
		parts := fmt.Sprintf("Of all the %s that %s waited, simulation gives %s to capacity (no scheduler could avoid it), %s to Go's rules, and %s to neither.",
			quantity.Duration(p.ObservedNs), names.Class(p.Class), quantity.Duration(p.CapacityNs), quantity.Duration(p.PolicyNs), quantity.Duration(p.ExcessNs))
		if len(s.OutOfBand) > 0 {
			parts += fmt.Sprintf(" The model is out of its bands for this trace (%s): %s.", strings.Join(s.OutOfBand, ", "), errorLine(s.Error.Makespan, s.Error.Waits.Total))
		}
		out = append(out, parts)
	}
	return out
}

func adviceLine(names *words.Names, s *replay.Decomposition, p *replay.Gain, a *replay.Advice) string {
	what := names.Class(p.Class) + " waits"
	if a.Metric == replay.MetricMakespan {
		what = "all takes"
	}
	model := fmt.Sprintf("As it was, the model gives %s for the %s observed (error: %s).", quantity.Duration(a.SimulatedNs), quantity.Duration(a.ObservedNs), signed(a.Error))
	change := words.Visible(a.Change)
	verdict := a.Verdict
	if verdict == replay.Helps && quantity.Duration(a.ChangedNs) == quantity.Duration(a.SimulatedNs) {
		verdict = replay.NoHelp // what rounds to nothing is no gain
	}
	switch verdict {
	case replay.Helps:
		return fmt.Sprintf("Simulated, “%s” (%s): %s %s, not %s (%s in %s). %s",
			change, a.Why, what, quantity.Duration(a.ChangedNs), quantity.Duration(a.SimulatedNs), between(a.MinNs, a.MaxNs, quantity.Duration), quantity.Plural(int64(s.Seeds), "run", "runs"), model)
	case replay.NoHelp:
		if a.Metric == replay.MetricMakespan {
			return fmt.Sprintf("Simulated, “%s” (%s): all takes as long, %s, and %s without; what waited may be done sooner. %s",
				change, a.Why, between(a.MinNs, a.MaxNs, quantity.Duration), quantity.Duration(a.SimulatedNs), model)
		}
		return fmt.Sprintf("Simulated, “%s” (%s): no gain beyond run-to-run variation: %s %s, and %s without. %s",
			change, a.Why, what, between(a.MinNs, a.MaxNs, quantity.Duration), quantity.Duration(a.SimulatedNs), model)
	}
	why := ""
	if a.Untrusted != "" {
		why = ": " + a.Untrusted
	}
	return fmt.Sprintf("What would come of the advice cannot be simulated%s. %s", why, model)
}
