package report

import (
	"bytes"
	"fmt"
	"os"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/gmpscope/gmpscope/internal/vocabulary"
)

// valuesPage is docs/values.md.
func valuesPage() []byte {
	var b bytes.Buffer
	b.WriteString("# What the values in the JSON mean\n\n" +
		"For those who write programs that read the JSON. Made from package `internal/vocabulary` by `go test ./report -run ValuesPage -update`; do not edit. `gmpscope explain NAME` has\n" +
		"more about causes, sources and metrics; [json.md](json.md) has the keys.\n")
	for _, k := range []struct {
		kind         vocabulary.Kind
		title, intro string
	}{
		{vocabulary.Cause, "Causes of waiting", "Every nanosecond of every wait has the first of these causes that holds."},
		{vocabulary.Source, "Sources of starts", "`src`: from where a P took the goroutine that it started."},
		{vocabulary.State, "States of a P", "The keys of an element of `ps` that sum to its `lifetime_ns`."},
		{vocabulary.Severity, "Severities", "Of a finding; `ok` is that of a verdict without one."},
		{vocabulary.Whole, "Wholes", "`cost_of`: what the cost of a finding is a part of."},
		{vocabulary.Queue, "Queues", "`to`: where a goroutine was put."},
		{vocabulary.Why, "Reasons to become runnable, or to move", "`why` of `ready` and `move`."},
		{vocabulary.Reason, "Reasons for handoffs, retakes and preemptions", "The keys of `by_cause`."},
		{vocabulary.End, "Ends of run intervals", "`why` of `stop`."},
		{vocabulary.Waker, "Wakers", "`why` of an element of `woken_by`."},
		{vocabulary.Blocked, "Reasons to be blocked", "`reason` of an element of `blocked`."},
		{vocabulary.Level, "Levels of a basis", "How a decision or a finding is known."},
		{vocabulary.Rule, "Rules of a basis", "What stands after the colon."},
	} {
		fmt.Fprintf(&b, "\n## %s\n\n%s\n\n", k.title, k.intro)
		for _, t := range vocabulary.Of(k.kind) {
			meaning := t.Short
			if meaning == "" {
				meaning = t.Phrase
			}
			fmt.Fprintf(&b, "* `%s`: %s\n", t.Name, meaning)
		}
	}
	return b.Bytes()
}

func TestValuesPage(t *testing.T) {
	const file = "../docs/values.md"
	got := valuesPage()
	if *update {
		if err := os.WriteFile(file, got, 0o644); err != nil {
			t.Fatal(err)
		}
		return
	}
	want, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(string(want), string(got)); diff != "" {
		t.Errorf("%s (-update rewrites it):\n%s", file, diff)
	}
}
