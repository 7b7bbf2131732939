package jsondoc

import (
	"cmp"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"path/filepath"
	"reflect"
	"regexp"
	"strconv"
	"strings"

	"github.com/gmpscope/gmpscope/internal/jsondoc"
)

// comment is a comment of the source, with the keys of the Go names in it.
type comment struct {
	text string
	keys map[string]string
}

// sources are the packages of the module, parsed as they are asked for.
type sources struct {
	dir      string
	packages map[string][]*ast.File
}

func newSources(dir string) *sources { return &sources{dir, map[string][]*ast.File{}} }

// files returns the files of the package of t.
func (s *sources) files(t reflect.Type) ([]*ast.File, error) {
	if files, ok := s.packages[t.PkgPath()]; ok {
		return files, nil
	}
	rel, ok := strings.CutPrefix(t.PkgPath(), module+"/")
	if !ok {
		return nil, fmt.Errorf("%s is not of this module", t)
	}
	dir := filepath.Join(s.dir, filepath.FromSlash(rel))
	names, err := filepath.Glob(filepath.Join(dir, "*.go"))
	if err != nil {
		return nil, err
	}
	var files []*ast.File
	fset := token.NewFileSet()
	for _, name := range names {
		if strings.HasSuffix(name, "_test.go") {
			continue
		}
		f, err := parser.ParseFile(fset, name, nil, parser.ParseComments)
		if err != nil {
			return nil, err
		}
		files = append(files, f)
	}
	s.packages[t.PkgPath()] = files
	return files, nil
}

// decls calls f with the declarations of the package of t, until it returns false.
func (s *sources) decls(t reflect.Type, f func(*ast.GenDecl) bool) error {
	files, err := s.files(t)
	if err != nil {
		return err
	}
	for _, file := range files {
		for _, d := range file.Decls {
			if g, ok := d.(*ast.GenDecl); ok && !f(g) {
				return nil
			}
		}
	}
	return nil
}

// declaration finds the declaration of t, and its comment.
func (s *sources) declaration(t reflect.Type) (*ast.TypeSpec, string, error) {
	var found *ast.TypeSpec
	text := ""
	err := s.decls(t, func(d *ast.GenDecl) bool {
		for _, spec := range d.Specs {
			if ts, ok := spec.(*ast.TypeSpec); ok && ts.Name.Name == t.Name() {
				found, text = ts, cmp.Or(ts.Doc.Text(), d.Doc.Text())
			}
		}
		return found == nil
	})
	if err == nil && found == nil {
		err = fmt.Errorf("%s has no declaration", t)
	}
	return found, text, err
}

func (s *sources) typeComment(t reflect.Type) (comment, error) {
	_, text, err := s.declaration(t)
	return comment{text, keysOf(t)}, err
}

func (s *sources) fieldComment(t reflect.Type, name string) (comment, error) {
	ts, _, err := s.declaration(t)
	if err != nil {
		return comment{}, err
	}
	st, ok := ts.Type.(*ast.StructType)
	if !ok {
		return comment{}, fmt.Errorf("%s is not declared as a struct", t)
	}
	for _, f := range st.Fields.List {
		for _, n := range f.Names {
			if n.Name == name {
				text := cmp.Or(f.Doc.Text(), f.Comment.Text())
				return comment{withoutSubject(text, name), keysOf(t)}, nil
			}
		}
	}
	return comment{}, fmt.Errorf("%s.%s has no declaration", t, name)
}

// withoutSubject drops the name of a field from the beginning of its comment, and the
// period of a single sentence: "Path is the way." becomes "the way".
func withoutSubject(text, name string) string {
	text = strings.TrimSpace(text)
	if !strings.Contains(text, ". ") && !strings.Contains(text, ".\n") {
		text = strings.TrimSuffix(text, ".")
	}
	for _, verb := range []string{" is ", " are ", " reports "} {
		if rest, ok := strings.CutPrefix(text, name+verb); ok {
			return rest
		}
	}
	return text
}

// words are the constants of a type of words, and the comment of their group. The
// constant of value 0 that stands for none of them, by its name, is left out.
func (s *sources) words(t reflect.Type) (out []word, group string, err error) {
	err = s.decls(t, func(d *ast.GenDecl) bool {
		if d.Tok != token.CONST {
			return true
		}
		ours := false
		for i, spec := range d.Specs {
			v := spec.(*ast.ValueSpec)
			if v.Type != nil {
				id, ok := v.Type.(*ast.Ident)
				ours = ok && id.Name == t.Name()
			} else if len(v.Values) > 0 {
				ours = false
			}
			if !ours || !v.Names[0].IsExported() || strings.HasSuffix(v.Names[0].Name, "None") {
				continue
			}
			var w word
			if w.text, err = wordOf(t, v, i); err != nil {
				return false
			}
			w.doc = comment{cmp.Or(v.Doc.Text(), v.Comment.Text()), keysOf(t)}
			out, group = append(out, w), d.Doc.Text()
		}
		return true
	})
	if err == nil && len(out) == 0 {
		err = fmt.Errorf("%s has no words", t)
	}
	return out, group, err
}

// wordOf is the word of constant number i of a group.
func wordOf(t reflect.Type, v *ast.ValueSpec, i int) (string, error) {
	if t.Kind() == reflect.String {
		lit, ok := v.Values[0].(*ast.BasicLit)
		if !ok {
			return "", fmt.Errorf("%s is no literal", v.Names[0].Name)
		}
		return strconv.Unquote(lit.Value)
	}
	x := reflect.New(t).Elem()
	x.SetUint(uint64(i)) // the groups begin with iota
	return x.Interface().(fmt.Stringer).String(), nil
}

var (
	goName   = regexp.MustCompile(`\[\*?([A-Z][A-Za-z]*|[a-z]+\.[A-Z][A-Za-z.]*)\]|\b([A-Za-z]+\.)*[A-Z][A-Za-z0-9]+\b('s)?`)
	quoted   = regexp.MustCompile(`"([^"\n]+)"`)
	flagName = regexp.MustCompile(`(^| )(--[a-z-]+)`)
	pageName = regexp.MustCompile(`\bdocs/([a-z]+\.md)`)
	ofDump   = regexp.MustCompile(`\b(of|and) dump\b`)
	ownWord  = regexp.MustCompile(`^([A-Z0-9]+|[GMP]s|CPUs)$`)
)

// plain is the comment without markup: names of Go fields as JSON keys.
func (c comment) plain() string {
	return c.write(func(s string) string { return s }, func(string) string { return "" })
}

// markdown is the comment for the page. section names the section of a type.
func (c comment) markdown(section func(name string) string) string {
	code := func(s string) string { return "`" + s + "`" }
	text := c.write(code, func(name string) string {
		if s := section(name); s != "" {
			return "[" + s + "](#" + anchor(s) + ")"
		}
		return ""
	})
	text = quoted.ReplaceAllString(text, "`$1`")
	text = flagName.ReplaceAllString(text, "$1`$2`")
	text = ofDump.ReplaceAllString(text, "$1 [dump](#dump)")
	return pageName.ReplaceAllString(text, "[$1]($1)")
}

// write returns the comment with the names of fields as keys, by code, and links to
// types, by link, which returns "" for what has none.
func (c comment) write(code, link func(string) string) string {
	var paragraphs []string
	for p := range strings.SplitSeq(strings.TrimSpace(c.text), "\n\n") {
		p = strings.Join(strings.Fields(p), " ")
		p = goName.ReplaceAllStringFunc(p, func(s string) string {
			if name, ok := strings.CutPrefix(s, "["); ok {
				name = strings.Trim(name, "*]")
				if l := link(name); l != "" {
					return l
				}
				return name
			}
			if key, ok := c.keys[s]; ok {
				return code(key)
			}
			return s
		})
		paragraphs = append(paragraphs, p)
	}
	return strings.Join(paragraphs, "\n\n")
}

// keysOf returns the keys that the names of the fields of t stand for. Decisions have
// their words explained by the fields of a decision.
func keysOf(t reflect.Type) map[string]string {
	keys := map[string]string{}
	if t.PkgPath() == module+"/reference" {
		t = reflect.TypeFor[jsondoc.Decision]()
	}
	if t.Kind() == reflect.Struct {
		addKeys(t, keys)
	}
	return keys
}

func addKeys(t reflect.Type, to map[string]string) {
	for i := range t.NumField() {
		f := t.Field(i)
		u := f.Type
		if u.Kind() == reflect.Pointer {
			u = u.Elem()
		}
		if f.Anonymous {
			addKeys(u, to)
			continue
		}
		// A name in capitals, such as GOMAXPROCS or CPUs, is a word of its own.
		if key, _, _ := strings.Cut(f.Tag.Get("json"), ","); key != "" && !ownWord.MatchString(f.Name) {
			to[f.Name] = key
		}
	}
}
