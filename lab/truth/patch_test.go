package truth

import (
	"go/ast"
	"go/build"
	"go/parser"
	"go/token"
	"os"
	"os/exec"
	"runtime"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

const snippet = `package x

import "some/atomic"

type list struct { size int }

// put is documented.
//
//go:nosplit
func put(q *list, v int) bool {
	if next {
		// A comment that has to stay.
		v = 2
	}
	w := q.pop()
	for {
		if q.size == 0 {
			return false
		}
		q.push(w) // to the end
		return true
	}
}

func (q *list) pop() int { return 0 }
`

func parsed(t *testing.T, src string) *tree {
	t.Helper()
	tr := &tree{fset: token.NewFileSet()}
	if err := tr.add("x.go", []byte(src)); err != nil {
		t.Fatal(err)
	}
	return tr
}

func TestInsertionsKeepLinesAndDirectives(t *testing.T) {
	tr := parsed(t, snippet)
	f := tr.fn("put")
	f.entry("hook(0)")
	f.inside("if next", 1, conditionIs("next"), "hook(1)")
	f.after("pop", 1, assigns(0, "w", "q.pop"), "hook(2)")
	f.before("push", 1, calls("q.push(w"), "hook(3)")
	f.before("return true", 1, returns("true"), "hook(4)")
	f.before("return", 2, returns("_"), "hook(5)")
	f.before("v = 2", 1, sets("v", "2"), "hook(6)")
	tr.fn("list.pop").entry("hook(7)")
	if err := tr.err(); err != nil {
		t.Fatal(err)
	}
	got := string(tr.patched()["x.go"])
	want := `package x

import "some/atomic"

type list struct { size int }

// put is documented.
//
//go:nosplit
func put(q *list, v int) bool { hook(0); 
	if next { hook(1); 
		// A comment that has to stay.
		hook(6); v = 2
	}
	w := q.pop(); hook(2)
	for {
		if q.size == 0 {
			hook(5); return false
		}
		hook(3); q.push(w) // to the end
		hook(4); hook(5); return true
	}
}

func (q *list) pop() int { hook(7);  return 0 }
`
	if d := cmp.Diff(want, got); d != "" {
		t.Errorf("patched source (-want +got):\n%s", d)
	}
	if _, err := parser.ParseFile(token.NewFileSet(), "x.go", got, 0); err != nil {
		t.Errorf("patched source: %v", err)
	}
	if a, b := strings.Count(snippet, "\n"), strings.Count(got, "\n"); a != b {
		t.Errorf("%d lines became %d", a, b)
	}
}

func TestMissingAnchorsAreNamed(t *testing.T) {
	tr := parsed(t, snippet)
	tr.fn("gone").entry("hook()")
	tr.fn("put").before("a call of nothing", 1, calls("nothing"), "hook()")
	tr.fn("put").before("some return", 1, returns("_"), "hook()")
	tr.fn("put").param(2)
	err := tr.err()
	if err == nil {
		t.Fatal("no error")
	}
	for _, want := range []string{
		"function gone not found",
		`function put: 0 places match "a call of nothing", want 1`,
		`function put: 2 places match "some return", want 1`,
		"function put has too few parameters",
	} {
		if !strings.Contains(err.Error(), want) {
			t.Errorf("error %q does not say %q", err, want)
		}
	}
	if tr.patched()["x.go"] != nil {
		t.Error("something was patched")
	}
}

func TestTreeQuestions(t *testing.T) {
	tr := parsed(t, snippet)
	if !tr.hasField("list", "size") || tr.hasField("list", "length") || tr.hasField("queue", "size") {
		t.Error("hasField is wrong")
	}
	if got := tr.importEndingIn("x", "/atomic"); got != "some/atomic" {
		t.Errorf("import is %q", got)
	}
	if got := tr.fn("put").param(1); got != "v" {
		t.Errorf("second parameter is %q", got)
	}
}

func TestContextKnowsReleases(t *testing.T) {
	for v, want := range map[string]bool{"1.22.12": false, "1.25.0": true, "1.27.4": true} {
		ctx, err := contextFor(v)
		if err != nil {
			t.Fatal(err)
		}
		if got := contains(ctx, "go1.25"); got != want {
			t.Errorf("Go %s has tag go1.25: %v, want %v", v, got, want)
		}
	}
	if _, err := contextFor("devel"); err == nil {
		t.Error("devel is accepted")
	}
}

func contains(ctx *build.Context, tag string) bool {
	for _, t := range ctx.ReleaseTags {
		if t == tag {
			return true
		}
	}
	return false
}

// The runtime that runs the tests has to be one that can be instrumented; the
// releases in between are tried when recordings are made.
func TestInstrumentThisRuntime(t *testing.T) {
	version := strings.TrimPrefix(runtime.Version(), "go")
	out, err := exec.Command("go", "env", "GOROOT").Output()
	goroot := strings.TrimSpace(string(out))
	if err != nil || strings.Contains(version, "devel") {
		t.Skip("no release's source at hand")
	}
	files, err := Instrument(goroot, version)
	if err != nil {
		t.Fatal(err)
	}
	hooks := 0
	for name, text := range files {
		f, err := parser.ParseFile(token.NewFileSet(), name, text, parser.SkipObjectResolution)
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		old, err := os.ReadFile(name)
		if err != nil {
			continue // the hook file
		}
		if a, b := strings.Count(string(old), "\n"), strings.Count(string(text), "\n"); a != b {
			t.Errorf("%s: %d lines became %d", name, a, b)
		}
		ast.Inspect(f, func(n ast.Node) bool {
			if c, ok := n.(*ast.CallExpr); ok {
				if id, ok := c.Fun.(*ast.Ident); ok && strings.HasPrefix(id.Name, "gmpscope") {
					hooks++
				}
			}
			return true
		})
	}
	if hooks < 50 {
		t.Errorf("only %d hooks", hooks)
	}
}
