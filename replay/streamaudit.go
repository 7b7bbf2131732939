package replay

import (
	"context"
	"fmt"
	"slices"

	"github.com/gmpscope/gmpscope/analyze"
	"github.com/gmpscope/gmpscope/analyze/input"
	"github.com/gmpscope/gmpscope/analyze/procs"
	"github.com/gmpscope/gmpscope/reference"
	"github.com/gmpscope/gmpscope/reference/sim"
)

// Options select what [Audit] holds a trace against. The zero value is usable.
type Options struct {
	// Workers is the number of generations of the trace that are decoded at once; 0 means
	// GOMAXPROCS.
	Workers int
	// Divergences is the number of divergences kept; 0 means 100.
	Divergences int
	// Rules are the rules of the scheduler that wrote the trace; the zero value means those of
	// its format.
	Rules reference.Rules
}

// Result is what a replay of a trace found: the audit of its decisions, and, if there was one,
// the simulation of its work.
type Result struct {
	Trace analyze.Trace `json:"trace"`
	// Policy is the name of the rules against which the trace is checked.
	Policy     string `json:"policy"`
	GOMAXPROCS int    `json:"gomaxprocs"` // the largest, where it changes
	// Audit is nil for a trace of Go 1.21 or older, for which queues are not rebuilt.
	Audit    *AuditResult `json:"guided"`
	Observed Run          `json:"observed"`
	// Simulated is nil unless a [Simulation] made it.
	Simulated *Simulated `json:"free"`
}

// Run is how long the work of a trace took, how long goroutines waited, and how often work
// moved between Ps, in the trace or in simulations.
type Run struct {
	// MakespanNs is the time from the first event to the last; simulated, to the last stop of
	// a goroutine of the program, and as long after it as in the trace, since the tracer's
	// timers end no program.
	MakespanNs  int64  `json:"makespan_ns"`
	BusyNs      int64  `json:"busy_ns"` // P-time of the program's goroutines
	Waits       Waits  `json:"waits"`
	Steals      *int64 `json:"steals"`       // null if the trace cannot show them
	GlobalTakes *int64 `json:"global_takes"` // takes from the global queue, batches counted once; null if the trace cannot show them
}

// Waits are all waits of a run, the runtime's goroutines included.
type Waits struct {
	Count        int64    `json:"count"`         // waits that ended
	TotalNs      int64    `json:"total_ns"`      // sum
	P50          int64    `json:"p50_ns"`        // median
	P99          int64    `json:"p99_ns"`        // 99th percentile
	TimeWeighted Weighted `json:"time_weighted"` // each nanosecond of waiting counts once
}

// Weighted is the wait in progress at a random instant of waiting.
type Weighted struct {
	P50 int64 `json:"p50_ns"` // median
}

// policyName is the name of a set of rules: of the newest named policy that has the
// same for the run queues, not counting newer releases, so Go 1.22 to 1.25 share
// one, and so do Go 1.26 and 1.27. If there is none it is that of the release.
func policyName(r reference.Rules) string {
	name := "go" + r.Release
	for _, known := range reference.Releases() {
		if p := "go" + known.Release; known.SameQueues(r) && slices.Contains(sim.PolicyNames(), p) {
			name = p
		}
		if known.Release == r.Release {
			break
		}
	}
	return name
}

// StreamAudit is an audit of a trace alongside its analysis: it checks the decisions against the rules
// of the scheduler as they come ([StreamAudit.Add]), and then takes the result of the analysis
// ([StreamAudit.Finish]). [NewGuiding] makes one; [Audit] does all at once.
type StreamAudit struct {
	rules reference.Rules
	audit *Auditor // nil if there is nothing to replay
}

// NewGuiding returns a StreamAudit for a trace with the given header.
func NewGuiding(h input.Header, o Options) *StreamAudit {
	rules, _ := analyze.ChooseRules(h, o.Rules)
	g := &StreamAudit{rules: rules}
	if !h.V1 {
		g.audit = NewAuditor(AuditOptions{Rules: g.rules, Divergences: o.Divergences})
	}
	return g
}

// Add processes the next decision. It serves as analyze.Options.OnDecision, and never
// fails.
func (g *StreamAudit) Add(d *reference.Decision) error {
	if g.audit != nil {
		g.audit.Add(d)
	}
	return nil
}

// Finish returns the result of the audit, given that of the analysis.
func (g *StreamAudit) Finish(res *analyze.Result) *Result {
	out := &Result{Trace: res.Trace, Policy: policyName(g.rules), GOMAXPROCS: res.Trace.GOMAXPROCS, Observed: observed(res)}
	if a := g.audit; a != nil {
		a.time = max(a.time, res.Trace.DurationNs)
		guided := a.finish(res.Procs.Ps)
		out.Audit = &guided
	}
	return out
}

// Audit checks a trace against the rules of the scheduler: it analyses the trace and
// audits the decisions. For a damaged trace the result covers what could be read.
func Audit(ctx context.Context, src *input.Source, o Options) (*Result, error) {
	g := NewGuiding(src.Header(), o)
	res, err := analyze.Run(ctx, src, analyze.Options{Workers: o.Workers, Rules: o.Rules, NoDetail: true, NoFindings: true, OnDecision: g.Add})
	if err != nil {
		return nil, fmt.Errorf("replay: %w", err)
	}
	return g.Finish(res), nil
}

func observed(r *analyze.Result) Run {
	run := measured(r.Trace.DurationNs, &r.Waits.All, &r.Procs)
	if r.Trace.Reduced {
		run.Steals, run.GlobalTakes = nil, nil
	}
	return run
}

// finish ends the audit, and holds the accounts of the Ps against it.
func (a *Auditor) finish(ps []procs.Proc) AuditResult {
	a.Finish()
	for _, p := range ps {
		account := p.RunningNs + p.SystemNs + p.HostNs + p.GCNs + p.TracerNs
		if ran := a.ran(p.P); ran != account {
			a.violate(&reference.Decision{Time: a.time, G: reference.NoG, P: p.P}, TimeLost,
				fmt.Sprintf("%d ns, the sum of the run intervals on P%d", ran, p.P), fmt.Sprintf("%d ns in its account", account))
		}
	}
	return a.out
}
