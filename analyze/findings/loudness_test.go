package findings_test

import (
	"testing"

	"github.com/gmpscope/gmpscope/analyze/findings"
	. "github.com/gmpscope/gmpscope/analyze/findings/findingstest"
	"github.com/gmpscope/gmpscope/analyze/procs"
	"github.com/gmpscope/gmpscope/analyze/waits"
	"github.com/gmpscope/gmpscope/reference"
)

// found is a detector that has made a finding.
func found(x findings.Finding) findings.Detector {
	d := findings.Detector{ID: "x", AnyLength: true, Kind: x.Kind, CostOf: x.CostOf, New: func(*findings.View) findings.Watcher { return fixed{x} }}
	if x.CostOf == "" && x.Kind != findings.KindMachine {
		d.InLine = findings.Queued()
	}
	return d
}

type fixed struct{ findings.Finding }

func (x fixed) Finish(*findings.Facts) []findings.Finding { return []findings.Finding{x.Finding} }

const parts = 40

// job has goroutine 1 create those of class 2, which run one after the other.
func job(s *Stream) {
	s.Local(1, 0, reference.WhyTimer).Start(1, 0)
	for g := int64(2); g < 2+parts; g++ {
		s.Class(2, g).Create(g, 1)
	}
	s.Stop(1, reference.WhyBlock)
	each(s)
}

// requests has the network wake those of class 2 together.
func requests(s *Stream) {
	for g := int64(2); g < 2+parts; g++ {
		s.Class(2, g).Local(g, 0, reference.WhyNetwork)
	}
	each(s)
}

// handlers has a goroutine that the network wakes create one of class 2 each time.
func handlers(s *Stream) {
	for g := int64(2); g < 2+parts; g++ {
		s.Local(1, 0, reference.WhyNetwork).Start(1, 0).Class(2, g).Create(g, 1).Block(1, reference.ReasonNetwork)
	}
	each(s)
}

// each has them run, one after the other.
func each(s *Stream) {
	for g := int64(2); g < 2+parts; g++ {
		s.Start(g, 0).Pass(Ms).Stop(g, reference.WhyExit)
	}
}

func TestLoudness(t *testing.T) {
	const busy, idle = 900 * Ms, 50 * Ms
	victims := []findings.Actor{{Role: findings.Victim, Class: "main.class2", Creator: "main.main"}}
	for _, c := range []struct {
		name    string
		stream  func(*Stream)
		cause   waits.Cause
		used    int64 // of 1 s
		longest int64
		x       findings.Finding
		want    findings.Severity
	}{
		{"parts of a job", job, waits.CauseQueueing, busy, 9 * Ms, findings.Finding{Kind: findings.KindCause}, findings.Note},
		{"parts of a job, out of turn", job, waits.CauseQueueing, busy, 9 * Ms, findings.Finding{Kind: findings.KindCause, OutOfTurn: true}, findings.Critical},
		{"requests", requests, waits.CauseQueueing, busy, 9 * Ms, findings.Finding{Kind: findings.KindCause}, findings.Critical},
		{"a request at a time", handlers, waits.CauseOvertaken, busy, 9 * Ms, findings.Finding{Kind: findings.KindSymptom}, findings.Critical},
		{"others come first", job, waits.CauseOvertaken, busy, 9 * Ms, findings.Finding{Kind: findings.KindCause}, findings.Critical},
		{"a P was idle", job, waits.CauseIdlePAvailable, busy, 9 * Ms, findings.Finding{Kind: findings.KindCause}, findings.Critical},
		{"blocked", job, waits.CauseQueueing, busy, 9 * Ms, findings.Finding{Kind: findings.KindCause, CostOf: findings.OfBlocked}, findings.Critical},

		{"idle program", requests, waits.CauseQueueing, idle, Ms, findings.Finding{Kind: findings.KindCause}, findings.Note},
		{"idle, but one waits long", requests, waits.CauseQueueing, idle, 2 * Ms, findings.Finding{Kind: findings.KindCause}, findings.Critical},
		{"idle, blocked", requests, waits.CauseQueueing, idle, Ms, findings.Finding{Kind: findings.KindCause, CostOf: findings.OfBlocked}, findings.Critical},

		{"machine, suspected", job, waits.CauseQueueing, busy, 9 * Ms, findings.Finding{Kind: findings.KindMachine, Basis: findings.Inferred}, findings.Warning},
		{"machine, by its CPUs", job, waits.CauseQueueing, busy, 9 * Ms, findings.Finding{Kind: findings.KindMachine, Basis: findings.Certain}, findings.Critical},
		{"machine, by the kernel", job, waits.CauseQueueing, busy, 9 * Ms, findings.Finding{Kind: findings.KindMachine, Proven: true}, findings.Critical},
		{"strained", requests, waits.CauseQueueing, busy, 9 * Ms, findings.Finding{Kind: findings.KindSymptom, Doubts: []string{findings.Strained}}, findings.Critical},
	} {
		s := New(1)
		c.stream(s)
		f := s.Facts()
		f.Waits.User = waits.Summary{TotalNs: 800 * Ms, MaxNs: c.longest}
		f.Waits.Classes = []waits.Class{
			{ID: 2, Name: "main.class2", Creator: "main.main", Waits: waits.Summary{TotalNs: 800 * Ms, Causes: []waits.CauseTime{{Cause: c.cause, Ns: 800 * Ms}}}},
		}
		f.Procs.Ps = []procs.Proc{{RunningNs: c.used, IdleNs: 1000*Ms - c.used, LifetimeNs: 1000 * Ms}}
		x := c.x
		x.ID, x.Severity, x.CostNs, x.Actors = "x", findings.Critical, 20*Ms, victims
		if got := s.DetectWith(found(x), f); len(got) != 1 || got[0].Severity != c.want {
			t.Errorf("%s: %+v, want %s", c.name, got, c.want)
		}
	}
}
