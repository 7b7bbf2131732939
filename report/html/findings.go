package html

import (
	"fmt"
	"html/template"
	"slices"
	"strings"

	"github.com/gmpscope/gmpscope/analyze"
	"github.com/gmpscope/gmpscope/analyze/findings"
	"github.com/gmpscope/gmpscope/analyze/findings/all"
	"github.com/gmpscope/gmpscope/internal/doc"
	"github.com/gmpscope/gmpscope/report"
	"github.com/gmpscope/gmpscope/report/internal/words"
)

type findingView struct {
	doc.Finding
	Actors  []actorView
	Href    string
	Groups  string      // of its actors, a line each
	Further [][3]string // evidence without a threshold
	Advice  [][]piece
	Besides bool // the verdict has advice too, which is not repeated
	Strip   template.HTML
	Picture *picture
}

// piece is a part of a sentence; a link if Href is set.
type piece struct{ Text, Href string }

type actorView struct {
	doc.Actor
	Again bool // it is the one before, with another stack
}

// groupsOf are the classes of the actors of a finding, a line each.
func groupsOf(f *findings.Finding) (s string) {
	for _, a := range f.Actors {
		s += words.Visible(a.Class) + "\n"
	}
	return s
}

// window is the link to a stretch of the timeline, which the page frames and names.
func window(from, to int64) string {
	if to <= from {
		return ""
	}
	return fmt.Sprintf("#frame=%d-%d", from, to)
}

// linked makes links of the detectors that an advice names: to the first of
// their findings, else to what they look for.
func linked(s doc.Sentence, first map[string]int) (out []piece) {
	for _, p := range s {
		x := piece{Text: p.Text}
		if n, ok := first[p.Term[1]]; ok {
			x.Href = fmt.Sprintf("#finding-%d", n)
		} else if isDetector[p.Term[1]] {
			x.Href = "#d-" + p.Term[1]
		}
		out = append(out, x)
	}
	return out
}

var isDetector = func() map[string]bool {
	m := map[string]bool{}
	for _, d := range all.Docs() {
		m[d.ID] = true
	}
	return m
}()

// newFinding draws a finding of r, and links its advice to others.
func newFinding(f doc.Finding, r *analyze.Result) *findingView {
	x := &r.Findings[f.N-1]
	v := &findingView{Finding: f, Href: window(f.FromNs, f.ToNs), Groups: groupsOf(x), Besides: len(f.Advice) < len(x.Advice)}
	v.Evidence = nil
	for _, e := range f.Evidence {
		if e[2] != "" {
			v.Evidence = append(v.Evidence, e)
		} else {
			v.Further = append(v.Further, e)
		}
	}
	for i, a := range f.Actors {
		b := actorView{Actor: a}
		if i > 0 {
			o := f.Actors[i-1]
			b.Again = len(a.Stack) > 0 && a.Role == o.Role && a.Class == o.Class && a.Creator == o.Creator && a.Where == o.Where && a.Stopped == o.Stopped
		}
		v.Actors = append(v.Actors, b)
	}
	first := map[string]int{}
	for i, f := range slices.Backward(r.Findings[:min(len(r.Findings), report.MaxFindings)]) {
		first[f.ID] = i + 1
	}
	for _, a := range f.Advice {
		if rest, ok := strings.CutPrefix(a[0].Text, "Or "); ok && v.Besides { // what it is an alternative to does not stand here
			a = slices.Clone(a)
			a[0].Text = words.Sentence(rest)
		}
		v.Advice = append(v.Advice, linked(a, first))
	}
	if v.Href != "" {
		v.Strip, v.Picture = whereStrip(f.FromNs, f.ToNs, r.Trace.DurationNs), newPicture(r, x)
	}
	return v
}

func nameOrNone(s string, names *words.Names) *Name {
	if s == "" {
		return nil
	}
	n := name(s, names)
	return &n
}
