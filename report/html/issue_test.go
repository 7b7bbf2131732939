package html

import (
	"strings"
	"testing"
)

// What is copied for an issue has the verdict, numbers and the place in the report, in at
// most ten lines; names in it mean nothing to Markdown.
func TestIssueText(t *testing.T) {
	doc := fakeDoc(2, 10)
	doc.Verdict.Label, doc.Verdict.Finding = "Scheduling delays: critical", 0
	doc.Verdict.Headline = "main.(*x).<b>`run`\nwaits"
	got := issueText(doc)
	if n := strings.Count(got, "\n"); n < 4 || n > 9 {
		t.Errorf("%d lines:\n%s", n+1, got)
	}
	for _, want := range []string{"**Scheduling delays: critical**: main.(\\*x).&lt;b>'run'", "Waiting for a P: ", "GOMAXPROCS ", "#finding-1"} {
		if !strings.Contains(got, want) {
			t.Errorf("no %q in\n%s", want, got)
		}
	}
	doc.Verdict.Finding = -1
	if strings.Contains(issueText(doc), "#finding") {
		t.Error("it names a finding that the verdict is not about")
	}
}
