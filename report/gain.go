package report

import (
	"fmt"
	"slices"
	"strings"

	"github.com/gmpscope/gmpscope/internal/quantity"
	"github.com/gmpscope/gmpscope/replay"
	"github.com/gmpscope/gmpscope/report/internal/words"
)

// gainOf finds what a finding's victims could gain; nil if that was not asked
// for, or is not known.
func gainOf(s *replay.Decomposition, finding int) *replay.Gain {
	if s == nil {
		return nil
	}
	if i := slices.IndexFunc(s.Prospects, func(x replay.Gain) bool { return x.Finding == finding }); i >= 0 {
		return &s.Prospects[i]
	}
	return nil
}

// gainLines reports in sentences what the victims of a finding could gain: what
// comes of its advice, simulated, and what of their waiting is whose doing. Names may
// be nil.
func gainLines(names *words.Names, s *replay.Decomposition, p *replay.Gain) []string {
	var out []string
	if a := p.Advice; a != nil {
		out = append(out, adviceLine(names, s, p, a))
	}
	if p.ObservedNs > 0 && !alreadyShown(s, p) {
		parts := fmt.Sprintf("Of all the %s that %s waited, simulation gives %s to capacity (no scheduler could avoid it), %s to Go's rules, and %s to neither.",
			quantity.Duration(p.ObservedNs), names.Class(p.Class), quantity.Duration(p.CapacityNs), quantity.Duration(p.PolicyNs), quantity.Duration(p.ExcessNs))
		if len(s.OutOfBand) > 0 {
			parts += " " + offLine(s)
		}
		out = append(out, parts)
	}
	return out
}

// alreadyShown reports whether an earlier finding has the same victims: once is enough.
func alreadyShown(s *replay.Decomposition, p *replay.Gain) bool {
	return slices.ContainsFunc(s.Prospects, func(x replay.Gain) bool { return x.Finding < p.Finding && x.Class == p.Class && x.Creator == p.Creator })
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

// offLine reports how far the simulation of the trace's own scheduler is off.
func offLine(s *replay.Decomposition) string {
	return fmt.Sprintf("The model is out of its bands for this trace (%s): %s.",
		strings.Join(s.OutOfBand, ", "), errorLine(s.Error.Makespan, s.Error.Waits.Total))
}
