package html

import (
	"strings"
	"testing"
)

// What is copied for an issue has the verdict, numbers and the place in the report, in at
// most ten paragraphs; names in it mean nothing to Markdown.
func TestIssueText(t *testing.T) {
	doc := fakeDoc(2, 10)
	doc.Verdict.Label, doc.Verdict.Finding = "Scheduling delays: critical", 0
	doc.Verdict.Headline = "main.(*x).<b>`run`\nwaits"
	got := issueText(doc)
	if n := strings.Count(got, "\n\n"); n < 4 || n > 9 {
		t.Errorf("%d paragraphs:\n%s", n+1, got)
	}
	for _, want := range []string{"**Scheduling delays: critical**\n\nmain.(\\*x).&lt;b&gt;'run'", "waited for a P for ", "GOMAXPROCS: ", "`#finding-1"} {
		if !strings.Contains(got, want) {
			t.Errorf("no %q in\n%s", want, got)
		}
	}
	doc.Verdict.Finding = -1
	if strings.Contains(issueText(doc), "#finding") {
		t.Error("it names a finding that the verdict is not about")
	}
}
