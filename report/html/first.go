package html

import (
	"cmp"
	"fmt"
	"html/template"
	"path"
	"slices"

	"github.com/gmpscope/gmpscope/analyze"
	"github.com/gmpscope/gmpscope/analyze/findings"
	"github.com/gmpscope/gmpscope/internal/quantity"
	"github.com/gmpscope/gmpscope/report"
	"github.com/gmpscope/gmpscope/report/internal/words"
)

// firstView is what the first screen shows of what the headline is about, and beside it.
type firstView struct {
	Parts  []firstPart // who does it, and who waits
	Basis  string      // how that is known; empty if the headline is about no finding
	Href   string      // to its card
	Window string      // to where it is worst in the timeline
	Moment *moment     // nil if no wait of its victims is told
	Also   []firstAlso
	Notes  int // findings that are notes, and not told
	Bars   []firstBar
	Issue  string // to be pasted into an issue
}

type firstPart struct {
	Role  string
	Name  Name
	Place string
}

// firstAlso is another finding, in a line.
type firstAlso struct{ Severity, Headline, Href string }

type firstBar struct {
	Title, Note string
	Bar         template.HTML
	Legend      []legendItem
}

// Bounds of the first screen.
const (
	maxParts = 2 // of each role
	maxAlso  = 4
)

// first fills in the first screen.
func (v *view) first(doc *report.Document) {
	r, names := doc.Result, doc.Names()
	v.First = &firstView{}
	if i := doc.Verdict.Finding; i >= 0 && i < len(r.Findings) {
		v.First.about(&r.Findings[i], names)
		if x := &r.Findings[i]; x.CostOf != findings.OfBlocked || x.Kind == findings.KindSymptom { // else no wait for a P tells of it
			if m := newMoment(&r.Waits, x, names); m != nil {
				v.First.Moment = m
				v.Gaps = v.Gaps || slices.Contains(m.Legend, notKept)
			}
		}
		if i < maxFindings {
			v.First.Href = fmt.Sprintf("#finding-%d", i+1)
		}
	}
	v.First.also(r, names, doc.Verdict.Finding)
	v.First.bars(r)
	v.First.Issue = issueText(doc)
}

func (f *firstView) about(x *findings.Finding, names *words.Names) {
	f.Basis, f.Window = words.Basis(x.Basis), window(x.FromNs, x.ToNs)
	for _, role := range []struct{ role, title string }{{findings.Cause, "Who does it"}, {findings.Victim, "Who waits"}} {
		n := 0
		for i := range x.Actors {
			a := &x.Actors[i]
			if a.Role != role.role || a.Class == "" && len(a.Stack) == 0 || n == maxParts {
				continue
			}
			p := newPart(a, names)
			if slices.ContainsFunc(f.Parts, func(q firstPart) bool { return q.Name == p.Name && q.Place == p.Place }) {
				continue
			}
			if n == 0 {
				p.Role = role.title
			}
			f.Parts = append(f.Parts, p)
			n++
		}
	}
}

// newPart is who has a role in a finding: of a culprit the function that does it, of a victim
// what the report calls it elsewhere, and where it stood.
func newPart(a *findings.Actor, names *words.Names) firstPart {
	function, place := findings.ProgramsFunction(a.Stack, a.Tested)
	if place != "" {
		place = words.Visible(path.Base(place))
	}
	switch class := a.Short(); {
	case function == "":
		return firstPart{Name: name(class, names), Place: place}
	case a.Role == findings.Cause || a.Class == "" || function == class:
		return firstPart{Name: name(function, names), Place: place}
	default:
		return firstPart{Name: name(class, names), Place: "in " + names.Class(function) + ", " + place}
	}
}

func (f *firstView) also(r *analyze.Result, names *words.Names, but int) {
	for i := range r.Findings[:min(len(r.Findings), maxFindings)] {
		x := &r.Findings[i]
		switch {
		case i == but:
		case x.Severity == findings.Note || len(x.SymptomOf) > 0 || x.Kind == findings.KindTrace || len(f.Also) == maxAlso:
			f.Notes++
		default:
			f.Also = append(f.Also, firstAlso{string(x.Severity), words.Cut(names.Prose(cmp.Or(x.Headline, x.Title)), 200), fmt.Sprintf("#finding-%d", i+1)})
		}
	}
}

// bars shows what the Ps did, and why goroutines of the program waited.
func (f *firstView) bars(r *analyze.Result) {
	var ns [len(stateKeys)]int64
	life := int64(0)
	for _, p := range r.Procs.Ps {
		for i, n := range parts(p) {
			ns[i] += n
			life += n
		}
	}
	if life > 0 {
		b := firstBar{Title: "What the Ps did", Note: fmt.Sprintf("%s × %s", quantity.Plural(int64(r.Trace.GOMAXPROCS), "P", "Ps"), quantity.Duration(r.Trace.DurationNs))}
		var segs []segment
		for i, n := range ns {
			if n*200 >= life {
				title := procStates[i].Title + " " + quantity.Part(n, life)
				segs, b.Legend = append(segs, segment{stateKeys[i], n, title}), append(b.Legend, legendItem{stateKeys[i], title})
			}
		}
		b.Bar = bar(segs, life, 18, "P-time by what the Ps did")
		f.Bars = append(f.Bars, b)
	}
	if u := r.Waits.User; u.TotalNs > 0 {
		b := firstBar{Title: "Why goroutines waited for a P", Note: quantity.Duration(u.TotalNs) + " in all"}
		for _, c := range words.BySize(u.Causes) {
			if c.Ns*200 >= u.TotalNs {
				b.Legend = append(b.Legend, legendItem{causeKey(c.Cause), words.Cause(c.Cause) + " " + quantity.Part(c.Ns, u.TotalNs)})
			}
		}
		b.Bar = bar(causeSegments(u.Causes, u.TotalNs), u.TotalNs, 18, "waiting by cause")
		f.Bars = append(f.Bars, b)
	}
}
