package html

import (
	"fmt"
	"strings"

	"github.com/gmpscope/gmpscope/analyze"
	"github.com/gmpscope/gmpscope/analyze/findings"
	"github.com/gmpscope/gmpscope/internal/quantity"
	"github.com/gmpscope/gmpscope/report"
	"github.com/gmpscope/gmpscope/report/internal/words"
)

// issueText is what somebody pastes into an issue: the verdict in Markdown, with three
// numbers, a stack, and where the report shows it.
func issueText(doc *report.Document) string {
	r, v, names := doc.Result, doc.Verdict, doc.Names()
	lines := []string{
		"**" + plain(v.Label) + "**: " + plain(v.Headline),
		plain(v.Detail),
		plain(v.Try),
		fmt.Sprintf("Waiting for a P: %s in %s; longest %s; Ps idle %s.", quantity.Duration(r.Waits.User.TotalNs),
			quantity.Plural(r.Waits.User.Count, "wait", "waits"), quantity.Duration(r.Waits.User.MaxNs), idleShare(r)),
		fmt.Sprintf("Trace: %s, Go %s, GOMAXPROCS %d, %s.", code(wholeName(r.Trace.Name).Short), plain(r.Trace.GoVersion), r.Trace.GOMAXPROCS, quantity.Duration(r.Trace.DurationNs)),
	}
	if i := v.Finding; i >= 0 && i < len(r.Findings) {
		f := &r.Findings[i]
		if s := culpritStack(f, names); s != "" {
			lines = append(lines, s)
		}
		if i < report.MaxFindings {
			lines = append(lines, fmt.Sprintf("In the report: `#finding-%d`, `%s`", i+1, window(f.FromNs, f.ToNs)))
		}
	}
	var out []string
	for _, l := range lines {
		if l != "" {
			out = append(out, l)
		}
	}
	return strings.Join(append(out, "(by "+plain(doc.Tool)+")"), "\n")
}

// culpritStack is the stack of who does it, innermost frame first, in a line.
func culpritStack(f *findings.Finding, names *words.Names) string {
	for i := range f.Actors {
		a := &f.Actors[i]
		if a.Role != findings.Cause || len(a.Stack) == 0 {
			continue
		}
		var frames []string
		for _, s := range a.Stack[:min(len(a.Stack), issueFrames)] {
			frames = append(frames, code(names.Text(findings.Frame(s))))
		}
		return "Stack: " + strings.Join(frames, " ← ")
	}
	return ""
}

// issueFrames is how many frames of a stack are copied.
const issueFrames = 6

// idleShare is the part of the P-time that was idle.
func idleShare(r *analyze.Result) string {
	idle, life := int64(0), int64(0)
	for _, p := range r.Procs.Ps {
		idle, life = idle+p.IdleNs, life+p.LifetimeNs-p.NotRecordedNs
	}
	return quantity.Part(idle, life)
}

// plain is s as one line of Markdown that means nothing but its characters.
func plain(s string) string {
	s = words.Cut(words.Visible(s), 600)
	return strings.NewReplacer("*", `\*`, "_", `\_`, "<", "&lt;", "[", `\[`, "`", "'").Replace(s)
}

// code is s as code in Markdown.
func code(s string) string {
	return "`" + strings.ReplaceAll(words.Cut(words.Visible(s), 200), "`", "'") + "`"
}
