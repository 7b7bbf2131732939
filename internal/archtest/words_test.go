package archtest

import (
	"go/ast"
	"go/parser"
	"go/token"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

var (
	privateWord = regexp.MustCompile(`^(un)?(told|tells?|story|stories|stints?|felt|honesty)([A-Z0-9_]|$)|(Told|Tells?|Story|Stories|Stints?|Felt|Honesty)([A-Z0-9_]|$)`)
	vagueVerb   = regexp.MustCompile(`^(?:(?:A|An|The) )?(\w+) (says|tells|takes)\b`)
)

// TestWords keeps names to the words of the field, and has a comment begin with what its
// subject returns, reports or does.
func TestWords(t *testing.T) {
	eachFile(t, filepath.Join("..", ".."), func(file, rel string) {
		if strings.Contains("/"+rel, "/testdata/") {
			return
		}
		fset := token.NewFileSet()
		f, err := parser.ParseFile(fset, file, nil, parser.ParseComments|parser.SkipObjectResolution)
		if err != nil {
			t.Errorf("%s: %v", rel, err)
			return
		}
		subject := func(id *ast.Ident, doc *ast.CommentGroup) {
			if m := vagueVerb.FindStringSubmatch(doc.Text()); m != nil && m[1] == id.Name {
				t.Errorf("%s:%d: %q: say what it returns, reports or does", rel, fset.Position(doc.Pos()).Line, m[0])
			}
		}
		ast.Inspect(f, func(n ast.Node) bool {
			switch n := n.(type) {
			case *ast.Ident:
				if privateWord.MatchString(n.Name) && !strings.HasSuffix(rel, "_test.go") {
					t.Errorf("%s:%d: %s: use a word of the field", rel, fset.Position(n.Pos()).Line, n.Name)
				}
			case *ast.FuncDecl:
				subject(n.Name, n.Doc)
			case *ast.GenDecl:
				for _, s := range n.Specs {
					if s, ok := s.(*ast.TypeSpec); ok {
						subject(s.Name, n.Doc)
					}
				}
			case *ast.Field:
				for _, id := range n.Names {
					subject(id, n.Doc)
				}
			}
			return true
		})
	})
}
