package truth

import (
	"errors"
	"fmt"
	"go/ast"
	"go/build"
	"go/parser"
	"go/token"
	"go/types"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// A tree is one parsed package whose files can be given insertions. Insertions
// go into the text at offsets found in the syntax tree, always within a line:
// comments, compiler directives and line numbers stay as they are, so stacks in
// the trace read like those of the untouched runtime.
type tree struct {
	fset  *token.FileSet
	files []*sourceFile
	errs  []error
}

type sourceFile struct {
	path  string
	src   []byte
	ast   *ast.File
	edits []edit
}

type edit struct {
	offset int
	text   string
}

// parseTree reads the Go files of dir that are part of a build with ctx.
func parseTree(dir string, ctx *build.Context) (*tree, error) {
	names, err := filepath.Glob(filepath.Join(dir, "*.go"))
	if err != nil {
		return nil, err
	}
	t := &tree{fset: token.NewFileSet()}
	for _, name := range names {
		if strings.HasSuffix(name, "_test.go") {
			continue
		}
		if ok, err := ctx.MatchFile(dir, filepath.Base(name)); err != nil || !ok {
			continue
		}
		src, err := os.ReadFile(name)
		if err != nil {
			return nil, err
		}
		if err := t.add(name, src); err != nil {
			return nil, err
		}
	}
	if len(t.files) == 0 {
		return nil, fmt.Errorf("no Go files in %s", dir)
	}
	return t, nil
}

func (t *tree) add(path string, src []byte) error {
	f, err := parser.ParseFile(t.fset, path, src, parser.SkipObjectResolution)
	if err != nil {
		return err
	}
	t.files = append(t.files, &sourceFile{path: path, src: src, ast: f})
	return nil
}

// patched returns the text of every file that has insertions, by path.
func (t *tree) patched() map[string][]byte {
	out := make(map[string][]byte)
	for _, f := range t.files {
		if len(f.edits) == 0 {
			continue
		}
		// Stable: insertions at one place keep the order in which they were asked for.
		slices.SortStableFunc(f.edits, func(a, b edit) int { return a.offset - b.offset })
		var b []byte
		last := 0
		for _, e := range f.edits {
			b = append(b, f.src[last:e.offset]...)
			b = append(b, e.text...)
			last = e.offset
		}
		out[f.path] = append(b, f.src[last:]...)
	}
	return out
}

func (t *tree) err() error { return errors.Join(t.errs...) }

func (t *tree) fail(format string, args ...any) {
	t.errs = append(t.errs, fmt.Errorf(format, args...))
}

// A function is where anchors are looked for. The zero function stands for one
// that does not exist; everything done to it reports an error.
type function struct {
	t    *tree
	file *sourceFile
	decl *ast.FuncDecl
	name string
}

// fn finds a function by name, or a method as "Type.name".
func (t *tree) fn(name string) *function {
	if f := t.lookup(name); f != nil {
		return f
	}
	t.fail("function %s not found", name)
	return &function{t: t, name: name}
}

func (t *tree) lookup(name string) *function {
	recv, method, isMethod := strings.Cut(name, ".")
	for _, f := range t.files {
		for _, d := range f.ast.Decls {
			d, ok := d.(*ast.FuncDecl)
			if !ok || d.Body == nil {
				continue
			}
			if isMethod {
				if d.Recv == nil || d.Name.Name != method {
					continue
				}
				if strings.TrimPrefix(types.ExprString(d.Recv.List[0].Type), "*") != recv {
					continue
				}
			} else if d.Recv != nil || d.Name.Name != name {
				continue
			}
			return &function{t: t, file: f, decl: d, name: name}
		}
	}
	return nil
}

// param returns the name of the function's i-th parameter.
func (f *function) param(i int) string {
	if f.decl == nil {
		return "_"
	}
	for _, field := range f.decl.Type.Params.List {
		for _, n := range field.Names {
			if i == 0 {
				return n.Name
			}
			i--
		}
	}
	f.t.fail("function %s has too few parameters", f.name)
	return "_"
}

func (f *function) insert(pos token.Pos, text string) {
	f.file.edits = append(f.file.edits, edit{f.t.fset.Position(pos).Offset, text})
}

// entry inserts code as the first statement.
func (f *function) entry(code string) {
	if f.decl != nil {
		f.insert(f.decl.Body.Lbrace+1, " "+code+"; ")
	}
}

// A matcher reports whether a statement is the one looked for.
type matcher func(ast.Stmt) bool

// before inserts code in front of every statement that m matches; there must
// be exactly n of them, or at least one if n is 0.
func (f *function) before(what string, n int, m matcher, code string) {
	for _, s := range f.find(what, n, m) {
		f.insert(s.Pos(), code+"; ")
	}
}

// after is like before, behind the statement.
func (f *function) after(what string, n int, m matcher, code string) {
	for _, s := range f.find(what, n, m) {
		f.insert(s.End(), "; "+code)
	}
}

// inside inserts code at the start of the body of the if statements that m matches.
func (f *function) inside(what string, n int, m matcher, code string) {
	for _, s := range f.find(what, n, m) {
		if s, ok := s.(*ast.IfStmt); ok {
			f.insert(s.Body.Lbrace+1, " "+code+"; ")
		}
	}
}

func (f *function) find(what string, n int, m matcher) []ast.Stmt {
	if f.decl == nil {
		return nil
	}
	var found []ast.Stmt
	// Only statements that are members of a list: something can be put in front of those.
	ast.Inspect(f.decl.Body, func(node ast.Node) bool {
		var list []ast.Stmt
		switch node := node.(type) {
		case *ast.BlockStmt:
			list = node.List
		case *ast.CaseClause:
			list = node.Body
		case *ast.CommClause:
			list = node.Body
		}
		for _, s := range list {
			if m(s) {
				found = append(found, s)
			}
		}
		return true
	})
	if len(found) != n && (n != 0 || len(found) == 0) {
		f.t.fail("function %s: %d places match %q, want %d", f.name, len(found), what, n)
		return nil
	}
	return found
}

// calls matches a statement that is a call of fun, or an if whose condition
// contains one.
func calls(fun string) matcher {
	return func(s ast.Stmt) bool {
		switch s := s.(type) {
		case *ast.ExprStmt:
			return isCall(s.X, fun)
		case *ast.IfStmt:
			found := false
			ast.Inspect(s.Cond, func(n ast.Node) bool {
				if e, ok := n.(ast.Expr); ok && isCall(e, fun) {
					found = true
				}
				return !found
			})
			return found
		}
		return false
	}
}

// assigns matches an assignment or definition whose i-th left side is lhs and
// whose right side starts with a call of fun.
func assigns(i int, lhs, fun string) matcher {
	return func(s ast.Stmt) bool {
		a, ok := s.(*ast.AssignStmt)
		return ok && i < len(a.Lhs) && types.ExprString(a.Lhs[i]) == lhs && isCall(a.Rhs[0], fun)
	}
}

// sets matches an assignment of the expression rhs to lhs.
func sets(lhs, rhs string) matcher {
	return func(s ast.Stmt) bool {
		a, ok := s.(*ast.AssignStmt)
		return ok && types.ExprString(a.Lhs[0]) == lhs && types.ExprString(a.Rhs[0]) == rhs
	}
}

// returns matches a return of these results; "_" stands for any.
func returns(results ...string) matcher {
	return func(s ast.Stmt) bool {
		r, ok := s.(*ast.ReturnStmt)
		if !ok || len(r.Results) != len(results) {
			return false
		}
		for i, e := range r.Results {
			if results[i] != "_" && types.ExprString(e) != results[i] {
				return false
			}
		}
		return true
	}
}

// conditionIs matches an if with exactly this condition.
func conditionIs(cond string) matcher {
	return func(s ast.Stmt) bool {
		i, ok := s.(*ast.IfStmt)
		return ok && types.ExprString(i.Cond) == cond
	}
}

// bodyCalls matches an if whose body directly holds a call of fun.
func bodyCalls(fun string) matcher {
	return func(s ast.Stmt) bool {
		i, ok := s.(*ast.IfStmt)
		return ok && slices.ContainsFunc(i.Body.List, calls(fun))
	}
}

// isCall reports whether e is a call of fun. What follows a "(" in fun must be
// the first argument: "atomic.StoreRel(&pp.runqtail".
func isCall(e ast.Expr, fun string) bool {
	c, ok := e.(*ast.CallExpr)
	if !ok {
		return false
	}
	name, arg, hasArg := strings.Cut(fun, "(")
	if types.ExprString(c.Fun) != name {
		return false
	}
	return !hasArg || len(c.Args) > 0 && types.ExprString(c.Args[0]) == arg
}

// hasField reports whether a struct type of the package has a field.
func (t *tree) hasField(typ, field string) bool {
	found := false
	for _, f := range t.files {
		ast.Inspect(f.ast, func(n ast.Node) bool {
			spec, ok := n.(*ast.TypeSpec)
			if !ok || spec.Name.Name != typ {
				return true
			}
			s, ok := spec.Type.(*ast.StructType)
			if !ok {
				return false
			}
			for _, fl := range s.Fields.List {
				for _, name := range fl.Names {
					found = found || name.Name == field
				}
			}
			return false
		})
	}
	return found
}

type stmt = ast.Stmt

// definesFromRing matches name := a slot of a run queue's ring, as a pointer.
func definesFromRing(s ast.Stmt, name string) bool {
	a, ok := s.(*ast.AssignStmt)
	if !ok || len(a.Lhs) != 1 || types.ExprString(a.Lhs[0]) != name {
		return false
	}
	c, ok := a.Rhs[0].(*ast.CallExpr)
	if !ok {
		return false
	}
	sel, ok := c.Fun.(*ast.SelectorExpr)
	if !ok || sel.Sel.Name != "ptr" {
		return false
	}
	idx, ok := sel.X.(*ast.IndexExpr)
	return ok && types.ExprString(idx.X) == "pp.runq"
}

// importEndingIn returns the path of an import of package pkg with this ending.
func (t *tree) importEndingIn(pkg, ending string) string {
	for _, f := range t.files {
		if f.ast.Name.Name != pkg {
			continue
		}
		for _, i := range f.ast.Imports {
			if path := strings.Trim(i.Path.Value, `"`); strings.HasSuffix(path, ending) {
				return path
			}
		}
	}
	return ""
}
