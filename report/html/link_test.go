package html

import (
	"strings"
	"testing"

	"github.com/gmpscope/gmpscope/analyze"
	"github.com/gmpscope/gmpscope/analyze/work"
	"github.com/gmpscope/gmpscope/report"
)

// A task with a trace ID links to the page of its distributed trace, and only if there is a link.
func TestTraceLink(t *testing.T) {
	const id = "4bf92f3577b34da6a3ce929d0e0e4736"
	slow := work.Slow{Task: 1, EndNs: 10, Logs: []work.Log{{Text: "trace_id: " + id}}, Segments: []work.Segment{{Leaf: work.Leaf{What: "running"}, Ns: 10}}}
	kind := work.UnitKind{Name: "POST /charge", How: "task", Basis: "observed", Entry: true, Count: 1, Slowest: []work.Slow{slow}}
	doc := report.Build(&analyze.Result{Work: work.Units{Kinds: []work.UnitKind{kind}}}, "test")
	for link, want := range map[string]bool{"https://example.com/t/{trace_id}?q=\"": true, "": false} {
		var b strings.Builder
		if err := Write(&b, doc, Options{Link: link}); err != nil {
			t.Fatal(err)
		}
		if strings.Contains(b.String(), `href="https://example.com/t/`+id+`?q=%22"`) != want {
			t.Errorf("%q: the page has no such link, or one too many", link)
		}
	}
}

func TestCheckLink(t *testing.T) {
	for link, ok := range map[string]bool{
		"https://traces.example.com/trace/{trace_id}":             true,
		"http://localhost:16686/trace/{trace_id}?ui=1#{trace_id}": true,
		"https://example.com/?q=%7Btrace_id%7D":                   false,
		"https://{trace_id}.example.com/{trace_id}":               false,
		"https://example.com/":                                    false,
		"javascript:alert('{trace_id}')":                          false,
		"data:text/html,{trace_id}":                               false,
		"//example.com/{trace_id}":                                false,
		"https:///{trace_id}":                                     false,
		"https://user:secret@example.com/{trace_id}":              false,
		"https://example.com\n/{trace_id}":                        false,
		"{trace_id}":                                              false,
		"HTTPS://example.com/{trace_id}":                          true,
	} {
		if err := CheckLink(link); (err == nil) != ok {
			t.Errorf("%q: %v", link, err)
		}
	}
}
