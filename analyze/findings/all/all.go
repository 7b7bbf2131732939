// Package all lists the detectors, in the order of the catalogue. A test keeps
// it complete: each directory beside it that holds a doc.md is a detector.
package all

import (
	"github.com/gmpscope/gmpscope/analyze/findings"
	"github.com/gmpscope/gmpscope/analyze/findings/convoy"
	globalqueueneglect "github.com/gmpscope/gmpscope/analyze/findings/global-queue-neglect"
	latepreemption "github.com/gmpscope/gmpscope/analyze/findings/late-preemption"
	runnextmonopoly "github.com/gmpscope/gmpscope/analyze/findings/runnext-monopoly"
	"github.com/gmpscope/gmpscope/analyze/findings/starvation"
	tracequality "github.com/gmpscope/gmpscope/analyze/findings/trace-quality"
	workconservation "github.com/gmpscope/gmpscope/analyze/findings/work-conservation"
)

// Thresholds are those of all detectors, in JSON under their IDs.
type Thresholds struct {
	TraceQuality       tracequality.Thresholds       `json:"trace-quality"`
	Starvation         starvation.Thresholds         `json:"starvation"`
	WorkConservation   workconservation.Thresholds   `json:"work-conservation"`
	Convoy             convoy.Thresholds             `json:"convoy"`
	RunnextMonopoly    runnextmonopoly.Thresholds    `json:"runnext-monopoly"`
	GlobalQueueNeglect globalqueueneglect.Thresholds `json:"global-queue-neglect"`
	LatePreemption     latepreemption.Thresholds     `json:"late-preemption"`
}

// Default returns the default thresholds.
func Default() Thresholds {
	return Thresholds{
		TraceQuality:       tracequality.Default(),
		Starvation:         starvation.Default(),
		WorkConservation:   workconservation.Default(),
		Convoy:             convoy.Default(),
		RunnextMonopoly:    runnextmonopoly.Default(),
		GlobalQueueNeglect: globalqueueneglect.Default(),
		LatePreemption:     latepreemption.Default(),
	}
}

// Detectors returns all detectors with thresholds t, in their order.
func Detectors(t Thresholds) []findings.Detector {
	return []findings.Detector{
		tracequality.New(t.TraceQuality),
		starvation.New(t.Starvation),
		workconservation.New(t.WorkConservation),
		convoy.New(t.Convoy),
		runnextmonopoly.New(t.RunnextMonopoly),
		globalqueueneglect.New(t.GlobalQueueNeglect),
		latepreemption.New(t.LatePreemption),
	}
}

// Docs returns the explanations of all detectors, in their order.
func Docs() []findings.Doc {
	var out []findings.Doc
	for _, d := range Detectors(Default()) {
		out = append(out, findings.Doc{ID: d.ID, Title: d.Title, Text: d.Doc})
	}
	return out
}
