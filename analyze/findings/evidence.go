package findings

import (
	"math"
	"slices"

	"github.com/gmpscope/gmpscope/internal/quantity"
)

// Evidence is a measured number, perhaps with its threshold.
type Evidence struct {
	What        Text     `json:"what"`                   // what was measured
	Value       Text     `json:"value"`                  // with unit, for people
	Limit       Text     `json:"limit,omitempty"`        // threshold, with unit; absent if none
	Ns          int64    `json:"ns,omitempty"`           // value, or what it is a part of, where that is a time
	Amount      *float64 `json:"amount,omitempty"`       // value as a number; absent if none
	LimitAmount *float64 `json:"limit_amount,omitempty"` // threshold as a number; absent if none, or of another unit
	Unit        string   `json:"unit,omitempty"`         // of both: "ns", "1", "share" or "per_s"; absent if the value is no number
}

// A Measure is a number with its unit and its wording.
type Measure struct {
	text   Text
	unit   string
	amount float64
	ns     int64
}

// Time returns a Measure of a time, in ns.
func Time(ns int64) Measure { return Measure{said(quantity.Duration(ns)), "ns", float64(ns), ns} }

// Count returns a Measure of a number of things.
func Count(n int64) Measure { return Measure{said(quantity.Count(n)), "1", float64(n), 0} }

// Number returns a Measure without a unit.
func Number(f float64) Measure { return Measure{said(quantity.Number(f)), "1", f, 0} }

// Times returns a Number worded as a multiple.
func Times(f float64) Measure { return Measure{said(quantity.Times(f)), "1", f, 0} }

// Share returns a Measure of a share, from 0 to 1.
func Share(f float64) Measure { return Measure{said(quantity.Percent(f)), "share", f, 0} }

// PartOf returns a Share: part / whole.
func PartOf(part, whole int64) Measure { return Share(quantity.Ratio(part, whole)) }

// Rate returns a Measure per second.
func Rate(f float64) Measure {
	text := quantity.Number(f)
	if f >= 100 {
		text = quantity.Count(int64(f))
	}
	return Measure{said(text), "per_s", f, 0}
}

// Said returns words in place of a Measure, where there is no number.
func Said(format string, args ...any) Measure { return Measure{text: Say(format, args...)} }

// said returns a Text of words alone.
func said(s string) Text { return Text{{Text: s}} }

// With returns m with words appended.
func (m Measure) With(format string, args ...any) Measure {
	m.text = append(slices.Clip(m.text), Say(format, args...)...)
	return m
}

// Of returns m worded as a part of a time, in ns.
func (m Measure) Of(ns int64) Measure {
	m.ns = ns
	return m
}

// Measured returns evidence of a measure, with a threshold if there is one.
func Measured(what string, m Measure, limit ...Measure) Evidence {
	return MeasuredOf(said(what), m, limit...)
}

// MeasuredOf is Measured for a text with names in it.
func MeasuredOf(what Text, m Measure, limit ...Measure) Evidence {
	e := Evidence{What: what, Value: m.text, Ns: m.ns}
	e.Amount, e.Unit = m.number(), m.unit
	for _, l := range limit {
		e.Limit = l.text
		if l.unit == m.unit {
			e.LimitAmount = l.number()
		}
	}
	return e
}

// number is the amount; nil if it is none.
func (m *Measure) number() *float64 {
	if m.unit == "" || math.IsNaN(m.amount) || math.IsInf(m.amount, 0) {
		return nil
	}
	return &m.amount
}

// Measured appends evidence to a finding.
func (x *Finding) Measured(what string, m Measure, limit ...Measure) {
	x.MeasuredOf(said(what), m, limit...)
}

// MeasuredOf appends evidence, as [MeasuredOf] returns it.
func (x *Finding) MeasuredOf(what Text, m Measure, limit ...Measure) {
	x.Evidence = append(x.Evidence, MeasuredOf(what, m, limit...))
}
