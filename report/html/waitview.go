package html

import (
	"fmt"

	"github.com/gmpscope/gmpscope/analyze/waits"
	"github.com/gmpscope/gmpscope/internal/quantity"
	"github.com/gmpscope/gmpscope/internal/vocabulary"
	"github.com/gmpscope/gmpscope/report"
	"github.com/gmpscope/gmpscope/report/internal/words"
)

// newWaitView describes one wait in sentences.
func newWaitView(s waits.WaitDetail, names *words.Names) waitView {
	n := className(s.Name, names)
	o := waitView{
		G: s.G, P: s.P, Group: words.Visible(s.Name), From: s.FromNs, To: s.ToNs,
		Name:  n,
		Head:  fmt.Sprintf("Goroutine %d waited %s", s.G, quantity.Duration(s.WaitNs)),
		Basis: words.Basis(s.Basis),
		Bar:   bar(causeSegments(s.Causes, s.WaitNs), max(s.WaitNs, 1), 10, "why this goroutine waited"),
	}
	o.Href = waitWindow(&s)
	for _, c := range ordered(s.Causes) {
		if c.Ns > 0 {
			o.Legend = append(o.Legend, legendItem{report.CauseKey(c.Cause), fmt.Sprintf("%s %s", words.Cause(c.Cause), quantity.Duration(c.Ns))})
		}
	}
	for i, st := range s.Path {
		text := words.Moved(st)
		if i == 0 {
			text = fmt.Sprintf("became runnable and was put into %s %s", words.Queue(st.Queue, st.P), words.Phrase(vocabulary.Why, st.Why))
		}
		o.Steps = append(o.Steps, step{At: since(st.AtNs - s.FromNs), Text: text})
	}
	if s.MoreSteps > 0 {
		o.Steps = append(o.Steps, step{At: "…", Text: quantity.Plural(int64(s.MoreSteps), "more move", "more moves")})
	}
	o.Steps = append(o.Steps, step{At: since(s.WaitNs), Text: fmt.Sprintf("P%d %s, and it ran", s.P, words.Phrase(vocabulary.Source, s.Source))})
	o.Text = names.WaitSentences(s)
	for _, h := range s.Held {
		o.Held = append(o.Held, heldWords(h, names))
	}
	for _, r := range s.Runs {
		order := "became runnable earlier"
		if r.Later {
			order = "became runnable later"
		}
		x := runRow{Name: className(r.Name, names), At: since(r.FromNs - s.FromNs), Text: fmt.Sprintf("goroutine %d ran for %s", r.G, quantity.Duration(r.ToNs-r.FromNs)), Note: order}
		if r.End != "" {
			x.Note += ", then " + words.Phrase(vocabulary.End, r.End)
		}
		o.Runs = append(o.Runs, x)
	}
	o.MoreRuns = s.MoreRuns
	for _, a := range s.Ahead {
		o.Ahead = append(o.Ahead, aheadRow{Name: className(a.Name, names), Ns: quantity.Duration(a.Ns), Runs: quantity.Plural(a.Runs, "run", "runs")})
	}
	return o
}

// runRow is one run interval that went ahead.
type runRow struct {
	Name           Name
	At, Text, Note string
}

// heldWords reports what kept a P from running anyone.
func heldWords(h waits.PHold, names *words.Names) heldRow {
	r := heldRow{Ns: quantity.Duration(h.Ns), Key: report.CauseKey(h.Cause), Text: names.Held(h)}
	if h.Cause == waits.CauseUnavailable && len(h.Stack) > 0 {
		r.Where = words.Cut(words.Visible(h.Stack[0]), 300)
	}
	return r
}

// heldRow is one thing that kept a P.
type heldRow struct {
	Key, Text, Where, Ns string
}

// since writes how long after its beginning something happened in a wait.
func since(ns int64) string {
	if ns <= 0 {
		return "0"
	}
	return "+" + quantity.Duration(ns)
}
