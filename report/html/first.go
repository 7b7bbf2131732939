package html

import (
	"fmt"
	"html/template"
	"path"
	"slices"

	"github.com/gmpscope/gmpscope/analyze"
	"github.com/gmpscope/gmpscope/analyze/findings"
	"github.com/gmpscope/gmpscope/internal/doc"
	"github.com/gmpscope/gmpscope/internal/quantity"
	"github.com/gmpscope/gmpscope/internal/vocabulary"
	"github.com/gmpscope/gmpscope/report"
	"github.com/gmpscope/gmpscope/report/internal/words"
)

// firstView is what the first screen shows of what the headline is about, and beside it.
type firstView struct {
	Parts  []firstPart // who does it, and who waits
	Basis  string      // how that is known; empty if the headline is about no finding
	Href   string      // to its card
	Window string      // to where it is worst in the timeline
	Moment *moment     // nil if no wait of its victims is shown
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
func (v *view) first(d *report.Document) {
	r, names := d.Result, d.Names()
	v.First = &firstView{}
	if i := d.Verdict.Finding; i >= 0 && i < len(r.Findings) {
		v.First.about(&r.Findings[i], names)
		if x := &r.Findings[i]; x.CostOf != findings.OfBlocked || x.Kind == findings.KindSymptom { // else no wait for a P shows it
			if m := newMoment(&r.Waits, x, names); m != nil {
				v.First.Moment = m
				v.Gaps = v.Gaps || slices.Contains(m.Legend, notKept)
			}
		}
		if i < report.MaxFindings {
			v.First.Href = fmt.Sprintf("#finding-%d", i+1)
		}
	}
	v.First.also(r, names, d.Verdict.Finding)
	v.First.bars(r, d.Verdict.Blocking)
	v.First.Issue = issueText(d)
}

func (f *firstView) about(x *findings.Finding, names *words.Names) {
	f.Basis, f.Window = words.Basis(x.Basis), window(x.FromNs, x.ToNs)
	for _, role := range []struct{ role, title string }{{findings.Cause, "Caused by"}, {findings.Victim, "Affected"}} {
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
	switch class, function := string(a.Short()), string(function); {
	case function == "":
		return firstPart{Name: name(class, names), Place: place}
	case a.Role == findings.Cause || a.Class == "" || function == class:
		return firstPart{Name: name(function, names), Place: place}
	default:
		return firstPart{Name: name(class, names), Place: "in " + names.Class(function) + ", " + place}
	}
}

func (f *firstView) also(r *analyze.Result, names *words.Names, but int) {
	for i := range r.Findings[:min(len(r.Findings), report.MaxFindings)] {
		x := &r.Findings[i]
		switch {
		case i == but:
		case x.Severity == findings.Note || len(x.SymptomOf) > 0 || x.Kind == findings.KindTrace || len(f.Also) == maxAlso:
			f.Notes++
		default:
			f.Also = append(f.Also, firstAlso{string(x.Severity), words.Cut(names.Text(x.InBrief()), 200), fmt.Sprintf("#finding-%d", i+1)})
		}
	}
}

// bars shows what the Ps did, and what goroutines were blocked on or, if the headline is about
// waits for a P, why they waited.
func (f *firstView) bars(r *analyze.Result, blocked bool) {
	var ps, why []doc.Part
	all := report.AllPs(r.Procs.Ps)
	for i, ns := range report.PStates(&all) {
		ps = append(ps, doc.Part{Key: report.StateKeys[i], Title: procStates[i].Title, Ns: ns})
	}
	f.bar("What the Ps did", fmt.Sprintf("%s × %s", quantity.Plural(int64(r.Trace.GOMAXPROCS), "P", "Ps"), quantity.Duration(r.Trace.DurationNs)), ps)
	if blocked {
		for _, b := range report.BlockedBySize(&r.Breakdown.Program) {
			why = append(why, doc.Part{Key: report.BlockedKey(b.Reason.String()), Title: words.Title(vocabulary.Blocked, b.Reason.String()), Ns: b.Ns})
		}
		f.bar("What goroutines were blocked on", quantity.Duration(r.Breakdown.Program.Blocked())+" in all", why)
		return
	}
	for _, c := range words.BySize(r.Waits.User.Causes) {
		why = append(why, doc.Part{Key: report.CauseKey(c.Cause), Title: words.Cause(c.Cause), Ns: c.Ns})
	}
	f.bar("Why runnable goroutines waited", quantity.Duration(r.Waits.User.TotalNs)+" in all", why)
}

// bar adds a bar, with a legend of what is a two-hundredth or more, if there is anything.
func (f *firstView) bar(title, note string, parts []doc.Part) {
	whole := length(parts)
	if whole == 0 {
		return
	}
	b := firstBar{Title: title, Note: note, Bar: newBar(parts, whole, 0, 18, title)}
	for _, p := range parts {
		if p.Ns*200 >= whole {
			b.Legend = append(b.Legend, legendItem{p.Key, p.Title + " " + quantity.Part(p.Ns, whole)})
		}
	}
	f.Bars = append(f.Bars, b)
}
