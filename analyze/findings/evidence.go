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

// A Measure is a number with its unit and its wording, to be the value or the threshold of an
// [Evidence]. [Time], [Count], [Number], [Share], [Rate] and others make one.
type Measure struct {
	text   Text
	unit   string
	amount float64
	ns     int64
}

// Time returns the Measure of a duration, in ns, with unit "ns".
func Time(ns int64) Measure { return Measure{said(quantity.Duration(ns)), "ns", float64(ns), ns} }

// Count returns the Measure of a number of things, with unit "1".
func Count(n int64) Measure { return Measure{said(quantity.Count(n)), "1", float64(n), 0} }

// Number returns the Measure of a number that need not be whole, with unit "1".
func Number(f float64) Measure { return Measure{said(quantity.Number(f)), "1", f, 0} }

// Times returns the Measure of a factor, worded as how many times something is; its unit is "1".
func Times(f float64) Measure { return Measure{said(quantity.Times(f)), "1", f, 0} }

// Share returns the Measure of a fraction from 0 to 1, worded in percent, with unit "share".
func Share(f float64) Measure { return Measure{said(quantity.Percent(f)), "share", f, 0} }

// PartOf returns the [Share] part/whole.
func PartOf(part, whole int64) Measure { return Share(quantity.Ratio(part, whole)) }

// Rate returns the Measure of how often something happens per second, with unit "per_s".
func Rate(f float64) Measure {
	text := quantity.Number(f)
	if f >= 100 {
		text = quantity.Count(int64(f))
	}
	return Measure{said(text), "per_s", f, 0}
}

// Said returns a Measure that is only words, as [Say] makes them, for a value that is no number: it
// has no unit.
func Said(format string, args ...any) Measure { return Measure{text: Say(format, args...)} }

// said returns a Text of words alone.
func said(s string) Text { return Text{{Text: s}} }

// With returns m with words appended to its wording, as [Say] makes them.
func (m Measure) With(format string, args ...any) Measure {
	m.text = append(slices.Clip(m.text), Say(format, args...)...)
	return m
}

// Of returns m with the time of which it is a part, in ns, for Evidence.Ns. The wording stays.
func (m Measure) Of(ns int64) Measure {
	m.ns = ns
	return m
}

// Measured returns the Evidence of what was measured, with its value m and the threshold that it
// crossed, if there is one.
func Measured(what string, m Measure, limit ...Measure) Evidence {
	return MeasuredOf(said(what), m, limit...)
}

// MeasuredOf is [Measured] for a text with names of functions or places in it.
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

// Measured appends to the evidence of a finding what the function [Measured] returns.
func (x *Finding) Measured(what string, m Measure, limit ...Measure) {
	x.MeasuredOf(said(what), m, limit...)
}

// MeasuredOf appends to the evidence of a finding what the function [MeasuredOf] returns.
func (x *Finding) MeasuredOf(what Text, m Measure, limit ...Measure) {
	x.Evidence = append(x.Evidence, MeasuredOf(what, m, limit...))
}
