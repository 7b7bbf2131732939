package compare

import (
	_ "embed"
	"encoding/json"
	"strings"
)

// variance is how much one number of a program differs between recordings of it, as variances of
// its logarithm (of shares: of the logarithm of the odds).
type variance struct {
	Kind   string `json:"kind"`   // of the metric: "requests", "tests", "run" or "whole"
	Metric string `json:"metric"` // the last part of its name
	Busy   bool   `json:"busy"`   // whether threads lacked CPUs
	// Between is the variance from one recording to the next, and DF how well it is known for a
	// program: as if by so many recordings of it.
	Between float64 `json:"between"`
	DF      float64 `json:"df"`
	Most    float64 `json:"most"` // four of five programs have no larger one
	// Apart is what recordings at other times differ by besides.
	Apart    float64 `json:"apart"`
	Programs int     `json:"programs"` // by so many programs,
	Traces   int     `json:"traces"`   // and recordings
}

// variances is written by `lab variances`.
//
//go:embed variances.json
var variancesJSON []byte

var variances = func() (out []variance) {
	if err := json.Unmarshal(variancesJSON, &out); err != nil {
		panic(err) // it is compiled in, and a test reads it
	}
	return out
}()

// leastApart is what recordings at different times differ by at least: by a tenth.
const leastApart = 0.1 * 0.1

// varianceOf returns the row for a metric; that of all programs where its kind has none.
func varianceOf(kind, metric string, busy bool) variance {
	best := variance{Between: 0.05, DF: 2, Most: 0.2}
	apart, exact := leastApart, false
	for _, v := range variances {
		if v.Metric != metric {
			continue
		}
		if v.Kind == kind {
			apart = max(apart, v.Apart) // between the times a machine may become busy, or idle
		}
		if v.Busy == busy && !exact {
			best, exact = v, v.Kind == kind
		}
	}
	best.Apart = apart
	return best
}

// Number is the value, in the traces after the change, of a metric that decides the verdict, for
// estimates of how much recordings of one program vary.
type Number struct {
	// Kind is what the metric is about: "whole" for whole traces, else how the kind of units
	// was found. Metric is the last part of the metric's name.
	Kind, Metric string
	Value        float64 // natural logarithm of the geometric mean over these traces; of a share p, of that of the odds p/(1-p)
}

// Decided returns the metrics that decide the verdict, as they are in the traces after the change: the
// keys are their names.
func (r *Result) Decided() map[string]Number {
	out := map[string]Number{}
	add := func(m *Metric, kind string) {
		if m.Primary {
			to, _ := scaleOf(m.Unit)
			out[m.Name] = Number{kind, lastPart(m.Name), to(m.After.Value)}
		}
	}
	for i := range r.Metrics {
		add(&r.Metrics[i], "whole")
	}
	for i := range r.Work {
		for j := range r.Work[i].Metrics {
			add(&r.Work[i].Metrics[j], rowOf(r.Work[i].How))
		}
	}
	return out
}

func lastPart(name string) string { return name[strings.LastIndexByte(name, '.')+1:] }
