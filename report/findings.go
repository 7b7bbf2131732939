package report

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/gmpscope/gmpscope/analyze"
	"github.com/gmpscope/gmpscope/analyze/findings"
	"github.com/gmpscope/gmpscope/internal/doc"
	"github.com/gmpscope/gmpscope/internal/quantity"
	"github.com/gmpscope/gmpscope/report/internal/words"
)

// MaxFindings is the most findings that text and page show, MaxFrames the most frames of a stack.
const (
	MaxFindings = 60
	MaxFrames   = 24
	maxActors   = 12
)

// FindingsSection returns the section about findings and detectors: the finding of the headline
// first, and notes on demand.
func FindingsSection(d *Document) *doc.Section {
	r, names := d.Result, d.Names()
	s := &doc.Section{ID: "findings", Title: "Findings"}
	suppressed := suppressedBlocks(names, r.Suppressed)
	if len(r.Findings) == 0 {
		none := "No detector found anything."
		if len(suppressed) > 0 {
			none = "No detector found anything else."
		}
		s.Blocks = append(s.Blocks, doc.Para{Text: none})
	}
	if len(r.Doubts) > 0 {
		w := doc.Warning{ID: "doubts", Title: "Low confidence"}
		for _, x := range r.Doubts {
			w.Items = append(w.Items, words.Doubt(x.ID)+": "+words.Cut(words.Visible(x.Text), 1000))
		}
		s.Blocks = append(s.Blocks, w)
	}
	notes := doc.Fold{ID: "notes"}
	for i := range r.Findings[:min(len(r.Findings), MaxFindings)] {
		f := d.finding(i)
		switch {
		case i == d.Verdict.Finding:
			f.Leads = true
			s.Blocks = slices.Insert(s.Blocks, len(s.Blocks)-i+len(notes.Blocks), doc.Block(f))
		case r.Findings[i].Severity == findings.Note:
			notes.Blocks = append(notes.Blocks, f)
		default:
			s.Blocks = append(s.Blocks, f)
		}
	}
	if n := len(notes.Blocks); n > 0 {
		notes.Title = quantity.Plural(int64(n), "note", "notes") + ", small or about the recording"
		s.Blocks = append(s.Blocks, notes)
	}
	if n := len(r.Findings) - MaxFindings; n > 0 {
		s.Blocks = append(s.Blocks, doc.Para{Text: fmt.Sprintf("… and %s, of lower rank.", quantity.Plural(int64(n), "more finding", "more findings"))})
	}
	s.Blocks = append(s.Blocks, suppressed...)
	return detectorsThatRan(s, r)
}

// suppressedBlocks list the suppressed findings; nil if there are none.
func suppressedBlocks(names *words.Names, list []findings.Suppressed) []doc.Block {
	if line, items := names.Suppressed(list); line != "" {
		return []doc.Block{doc.Para{Text: line}, doc.List{Items: items}}
	}
	return nil
}

// detectorsThatRan adds what each detector looks for, and how much it found: text names those that found nothing.
func detectorsThatRan(s *doc.Section, r *analyze.Result) *doc.Section {
	if len(r.Detectors) == 0 {
		return s
	}
	t := doc.Table{Columns: []doc.Column{{Title: "detector", Left: true}, {Title: "looks for", Left: true}, {Title: "found"}}}
	var quiet, configured []string
	for _, x := range r.Detectors {
		c := doc.Cell{Text: x.ID, Term: doc.Term{doc.Detector, x.ID}}
		if x.Found == 0 {
			quiet = append(quiet, words.Visible(x.ID))
		}
		if x.Configured {
			configured = append(configured, words.Visible(x.ID))
			c.Note = "by thresholds of the configuration"
		}
		t.Rows = append(t.Rows, doc.Row{Cells: []doc.Cell{c, {Text: words.Visible(x.Title)}, doc.Count(int64(x.Found))}})
	}
	ran := quantity.Plural(int64(len(r.Detectors)), "detector", "detectors") + " ran"
	text := ran
	if len(quiet) > 0 {
		text += "; nothing was found by " + strings.Join(quiet, ", ")
	}
	if len(configured) > 0 {
		text += ". The configuration sets thresholds of " + strings.Join(configured, ", ")
	}
	s.Blocks = append(s.Blocks, doc.Para{Where: doc.Text, Text: text + "."},
		doc.Fold{ID: "detectors", Where: doc.Page, Title: fmt.Sprintf("%s; %d found nothing", ran, len(quiet)), Blocks: []doc.Block{t}})
	return s
}

// finding puts finding i into words.
func (d *Document) finding(i int) doc.Finding {
	x, names := &d.Result.Findings[i], d.Names()
	f := findingOf(names, x)
	f.N = i + 1
	f.MoreActors = max(0, len(x.Actors)-maxActors)
	for j := range x.Actors[:len(x.Actors)-f.MoreActors] {
		f.Actors = append(f.Actors, actorOf(d.Result, names, &x.Actors[j]))
	}
	for _, t := range x.Advice {
		// The first screen has what to try first.
		if a := sentence(names, t); i != d.Verdict.Finding || !strings.Contains(strings.ToLower(d.Verdict.Try), strings.ToLower(strings.TrimSuffix(a.String(), "."))) {
			f.Advice = append(f.Advice, a)
		}
	}
	if p := gainOf(d.Split, i); p != nil {
		f.Gain = gainLines(names, d.Split, p)
	}
	return f
}

// findingOf puts into words what a finding says by itself.
func findingOf(names *words.Names, x *findings.Finding) doc.Finding {
	f := doc.Finding{
		ID: words.Visible(x.ID), Severity: string(findings.Note), Headline: words.Cut(names.Text(x.InBrief()), 200), Title: words.Ended(words.Cut(names.Text(x.Title), 600)),
		Doubts: words.Doubts(x.Doubts), Basis: words.Basis(x.Basis), FromNs: x.FromNs, ToNs: x.ToNs,
	}
	if x.Severity == findings.Warning || x.Severity == findings.Critical {
		f.Severity = string(x.Severity)
	}
	if x.CostNs > 0 {
		f.Cost, f.Part = quantity.Duration(x.CostNs), words.CostPart(x)
	}
	if x.ToNs > x.FromNs {
		from, to := quantity.Window(x.FromNs, x.ToNs)
		f.When = fmt.Sprintf("%s to %s (%s)", from, to, quantity.Duration(x.ToNs-x.FromNs))
	}
	for _, e := range x.Evidence {
		f.Evidence = append(f.Evidence, [3]string{words.Cut(names.Text(e.What), 400), words.Cut(names.Text(e.Value), 400), words.Cut(names.Text(e.Limit), 200)})
	}
	return f
}

// InShort returns the first findings of a document, at most most of them, with the number of
// the others.
func InShort(d *Document, most int) (out doc.Outcomes) {
	out.More = max(0, len(d.Result.Findings)-most)
	for i := range d.Result.Findings[:len(d.Result.Findings)-out.More] {
		f := findingOf(d.Names(), &d.Result.Findings[i])
		out.List = append(out.List, doc.Outcome{Severity: f.Severity, ID: f.ID, Titles: []string{f.Title}, Cost: f.Cost})
	}
	return out
}

// sentence returns a text as phrases, so that the page can link its detectors.
func sentence(names *words.Names, t findings.Text) (s doc.Sentence) {
	for i, p := range t {
		phrase := doc.Phrase{Text: words.Cut(names.Text(t[i:i+1]), 1000)}
		if p.Kind == findings.Detected {
			phrase.Term = doc.Term{doc.Detector, p.Text}
		}
		s = append(s, phrase)
	}
	return s
}

func actorOf(r *analyze.Result, names *words.Names, x *findings.Actor) doc.Actor {
	a := doc.Actor{Role: words.Visible(x.Role), Class: x.Class, Creator: x.Creator, G: max(0, x.G), Stopped: words.Cut(names.Stopped(r, x), 400)}
	a.Stack, a.MoreFrames = x.Stack[:min(len(x.Stack), MaxFrames)], max(0, len(x.Stack)-MaxFrames)
	switch {
	case x.G > 0:
		a.Where = "goroutine " + strconv.FormatInt(x.G, 10)
	case x.Class == "" && x.P != nil:
		a.Where = fmt.Sprintf("P%d", *x.P)
	}
	if c := words.ClassOf(r, x); c != nil {
		a.Stacks = stacksHref(r, c.ID)
	}
	return a
}
