package archtest

import (
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"path"
	"path/filepath"
	"strings"
	"testing"
)

// formats are the rooms that may compare versions: reference has the rules of each
// release, decoders and what makes traces for them follow the format, and
// lab/truth patches the source of a release.
var formats = []string{"reference", "analyze/input", "analyze/events", "analyze/reconstruct/legaltest", "internal/testkit/damage", "lab/truth"}

// TestVersions sees to it that what differs between releases is a field of
// reference.Rules: no other code compares the version of Go or of a format with a
// constant. Nor does any take the rules of the newest release, whatever the trace:
// a row that is added there would change what is said of older traces.
func TestVersions(t *testing.T) {
	root := filepath.Join("..", "..")
	err := filepath.WalkDir(root, func(file string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if d.IsDir() && (d.Name() == "testdata" || d.Name() != ".." && strings.HasPrefix(d.Name(), ".")) {
			return fs.SkipDir
		}
		rel, err := filepath.Rel(root, file)
		if err != nil {
			return err
		}
		rel = filepath.ToSlash(rel)
		if path.Ext(rel) != ".go" || strings.HasSuffix(rel, "_test.go") {
			return nil
		}
		set := token.NewFileSet()
		f, err := parser.ParseFile(set, file, nil, parser.SkipObjectResolution)
		if err != nil {
			return err
		}
		for _, pos := range newest(f) {
			t.Errorf("%s: takes the rules of the newest release: take those of the trace", set.Position(pos))
		}
		if anyOf(formats, path.Dir(rel)) {
			return nil
		}
		for _, pos := range comparisons(f) {
			t.Errorf("%s: compares versions: make what differs a field of reference.Rules", set.Position(pos))
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
}

// newest finds where the rules of the newest release are taken.
func newest(f *ast.File) []token.Pos {
	var found []token.Pos
	ast.Inspect(f, func(n ast.Node) bool {
		if s, ok := n.(*ast.SelectorExpr); ok && s.Sel.Name == "Latest" {
			if x, ok := s.X.(*ast.Ident); ok && x.Name == "reference" {
				found = append(found, s.Pos())
			}
		}
		return true
	})
	return found
}

// comparisons finds where a version is compared with a constant.
func comparisons(f *ast.File) []token.Pos {
	var found []token.Pos
	ast.Inspect(f, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.BinaryExpr:
			switch n.Op {
			case token.LSS, token.LEQ, token.GTR, token.GEQ, token.EQL, token.NEQ:
				if isVersion(n.X) && isConstant(n.Y) || isConstant(n.X) && isVersion(n.Y) {
					found = append(found, n.OpPos)
				}
			}
		case *ast.SwitchStmt:
			if n.Tag != nil && isVersion(n.Tag) {
				found = append(found, n.Switch)
			}
		}
		return true
	})
	return found
}

// isVersion reports whether an expression is called like a version.
func isVersion(x ast.Expr) bool {
	name := ""
	switch x := x.(type) {
	case *ast.Ident:
		name = x.Name
	case *ast.SelectorExpr:
		name = x.Sel.Name
	}
	switch strings.ToLower(name) {
	case "minor", "gominor", "goversion", "release", "traceformat":
		return true
	}
	return false
}

// isConstant reports whether an expression is a number or a string that is not
// empty: nobody decides anything by a version that is not there.
func isConstant(x ast.Expr) bool {
	lit, ok := x.(*ast.BasicLit)
	return ok && lit.Value != `""`
}

// TestComparisons has the check find what it is for, and nothing else.
func TestComparisons(t *testing.T) {
	for code, want := range map[string]int{
		`if r.rules.GoMinor >= 26 {}`:       1,
		`if 26 > h.Minor {}`:                1,
		`if o.Rules.Release == "1.26" {}`:   1,
		`switch h.Minor { case 26: }`:       1,
		`if o.Rules.Release == "" {}`:       0,
		`if r.rules.STWKeepsRunnext {}`:     0,
		`if runs < w.Minor*float64(n) {}`:   0,
		`if a.Release == b.Release {}`:      0,
		`rules := reference.RulesFor(26)`:   0,
		`if n := len(r.Releases); n > 3 {}`: 0,
	} {
		f, err := parser.ParseFile(token.NewFileSet(), "", "package p\nfunc f() {\n"+code+"\n}", 0)
		if err != nil {
			t.Fatal(err)
		}
		if got := len(comparisons(f)); got != want {
			t.Errorf("%s: %d comparisons of versions, want %d", code, got, want)
		}
	}
}
