package html

import (
	"fmt"
	"slices"
	"strings"

	"github.com/gmpscope/gmpscope/analyze/findings"
	"github.com/gmpscope/gmpscope/internal/doc"
	"github.com/gmpscope/gmpscope/report"
	"github.com/gmpscope/gmpscope/report/internal/words"
)

// issueFrames is how many frames of a stack are copied.
const issueFrames = 6

// issueText is what somebody pastes into an issue: the verdict in Markdown, with what the first lines of the sections about
// waits and Ps say, the trace, a stack, and where the report shows it.
func issueText(d *report.Document) string {
	r, v, names := d.Result, d.Verdict, d.Names()
	s := &doc.Section{Title: v.Label}
	for _, text := range []string{v.Headline, v.Detail, v.Try} {
		s.Blocks = append(s.Blocks, doc.Para{Text: words.Cut(words.Visible(text), 600)})
	}
	s.Blocks = append(s.Blocks, report.WaitingSection(r).Blocks[0])
	if ps := report.ProcessorsSection(r); ps != nil {
		s.Blocks = append(s.Blocks, ps.Blocks[0])
	}
	s.Blocks = append(s.Blocks, slices.DeleteFunc(report.TraceFacts(r), func(f doc.Fact) bool {
		return !slices.Contains([]string{"name", "Go", "duration", "GOMAXPROCS"}, f.Term)
	}))
	if i := v.Finding; i >= 0 && i < len(r.Findings) {
		f, facts := &r.Findings[i], doc.Facts{}
		add := func(term, code string) {
			facts = append(facts, doc.Fact{Term: term, Value: doc.Cell{Name: code, Plain: true}})
		}
		if at := slices.IndexFunc(f.Actors, func(a findings.Actor) bool { return a.Role == findings.Cause && len(a.Stack) > 0 }); at >= 0 {
			var frames []string
			for _, s := range f.Actors[at].Stack[:min(len(f.Actors[at].Stack), issueFrames)] {
				frames = append(frames, words.Cut(names.Text(findings.Frame(s)), 200))
			}
			add("stack", strings.Join(frames, " ← "))
		}
		if i < report.MaxFindings {
			add("in the report", strings.TrimSpace(fmt.Sprintf("#finding-%d %s", i+1, window(f.FromNs, f.ToNs))))
		}
		s.Blocks = append(s.Blocks, facts)
	}
	s.Blocks = append(s.Blocks, doc.Para{Text: "(by " + d.Tool + ")"})
	return doc.Markdown(s, names.Function)
}
