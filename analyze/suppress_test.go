package analyze

import (
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/gmpscope/gmpscope/analyze/findings"
)

func about(id, class string) findings.Finding {
	return findings.Finding{ID: id, Actors: []findings.Actor{{Role: findings.Victim, Class: class}}}
}

func TestSuppress(t *testing.T) {
	r := &Result{
		Findings:  []findings.Finding{about("convoy", "main.a"), about("convoy", "main.b"), about("starvation", "main.a"), about("trace-quality", "")},
		Detectors: []Detector{{ID: "convoy", Found: 2}},
	}
	first := findings.Suppression{Finding: "convoy", Class: "main.a", Reason: "known", Owner: "x"}
	by := []findings.Suppression{
		{Finding: "starvation", Class: "main.b*"},
		first,
		{Finding: "convoy", Class: "*.a"},
		{Finding: "trace-quality", Class: "*"},
	}
	used := r.Suppress(by, nil)
	if diff := cmp.Diff([]bool{false, true, true, true}, used); diff != "" {
		t.Error("used:", diff)
	}
	if diff := cmp.Diff([]findings.Finding{about("convoy", "main.b"), about("starvation", "main.a")}, r.Findings); diff != "" {
		t.Error("findings:", diff)
	}
	want := []findings.Suppressed{{Finding: about("convoy", "main.a"), By: first}, {Finding: about("trace-quality", ""), By: by[3]}}
	if diff := cmp.Diff(want, r.Suppressed); diff != "" {
		t.Error("suppressed:", diff)
	}
	if r.Detectors[0].Found != 2 {
		t.Error("what a detector found depends on what is accepted")
	}
	var all []string
	for f := range r.AllFindings() {
		all = append(all, f.ID)
	}
	if want := []string{"convoy", "starvation", "convoy", "trace-quality"}; !slices.Equal(all, want) {
		t.Errorf("all findings: %v, want %v", all, want)
	}
}

// TestSuppressLinkersName uses suppressions that name functions as the linker does.
func TestSuppressLinkersName(t *testing.T) {
	r := &Result{Findings: []findings.Finding{about("convoy", "b.c/nats.go.(*Conn).readLoop")}}
	if used := r.Suppress([]findings.Suppression{{Finding: "convoy", Class: "b.c/nats%2ego.*"}}, nil); !used[0] {
		t.Error("it is not used")
	}
}

// TestSuppressAnonymous matches names as the program has them, and shows none of
// them.
func TestSuppressAnonymous(t *testing.T) {
	names := NewPseudonyms()
	names.Function("example.com/x.other")
	worker, std := names.Function("example.com/x.worker"), names.Function("net/http.(*conn).serve")
	dotted := names.Function("example.com/x%2ego.worker")
	r := &Result{Findings: []findings.Finding{about("convoy", worker), about("convoy", dotted), about("convoy", std), about("convoy", "goroutines of unknown start function")}}
	by := []findings.Suppression{
		{Finding: "convoy", Class: "example.com/x.work*", Reason: "our secret", Owner: "our team"},
		{Finding: "convoy", Class: "example.com/x.go.worker", Reason: "our secret", Owner: "our team"},
		{Finding: "convoy", Class: "net/http.(*conn).serve", Reason: "our secret", Owner: "their team"},
		{Finding: "convoy", Class: "*", Reason: "whatever", Owner: "our team"},
		{Finding: "convoy", Class: worker, Reason: "is no name of the program", Owner: "nobody"},
	}
	if diff := cmp.Diff([]bool{true, true, true, true, false}, r.Suppress(by, names)); diff != "" {
		t.Error("used:", diff)
	}
	var got []findings.Suppression
	for _, s := range r.Suppressed {
		got = append(got, s.By)
	}
	want := []findings.Suppression{
		{Finding: "convoy", Class: worker, Reason: "reason1", Owner: "owner1"},
		{Finding: "convoy", Class: dotted, Reason: "reason1", Owner: "owner1"},
		{Finding: "convoy", Class: std, Reason: "reason1", Owner: "owner2"},
		{Finding: "convoy", Class: "*", Reason: "reason2", Owner: "owner1"},
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
}
