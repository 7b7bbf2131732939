// Command gen writes list.go of package all: the detectors are the folders of
// analyze/findings that hold a doc.md, first those that order.txt names, then the
// others by ID. With an ID and a title it makes such a folder before, which is to be filled in.
package main

import (
	"bytes"
	"cmp"
	"embed"
	"errors"
	"fmt"
	"go/ast"
	"go/format"
	"go/parser"
	"go/token"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"regexp"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"text/template"
)

func main() {
	if err := run(os.Args[1:]); err != nil {
		fmt.Fprintln(os.Stderr, "gen:", err)
		os.Exit(1)
	}
}

func run(args []string) error {
	if len(args) == 2 {
		if err := begin(filepath.Join("..", args[0]), args[0], args[1]); err != nil {
			return err
		}
	} else if len(args) > 0 {
		return errors.New("usage: gen [ID TITLE]")
	}
	list, err := generate(".")
	if err != nil {
		return err
	}
	return os.WriteFile("list.go", list, 0o644)
}

//go:embed detector
var templates embed.FS

// ids are the IDs that a detector may have: words.
var ids = regexp.MustCompile(`^[a-z]+(-[a-z]+)*$`)

// begin makes the folder of a new detector, whose tests fail until it is filled in.
func begin(dir, id, title string) error {
	if !ids.MatchString(id) {
		return fmt.Errorf("%q must be words with a hyphen between them", id)
	}
	if err := os.Mkdir(dir, 0o755); err != nil {
		return err
	}
	imports := strconv.Quote("github.com/gmpscope/gmpscope/analyze/findings/" + id)
	name := strings.ReplaceAll(id, "-", "")
	if name != id {
		imports = name + " " + imports
	}
	fill := strings.NewReplacer(`"PATH"`, imports, "PACKAGE", name, "DETECTOR", id, "TITLE", title, "GOVERSION", runtime.Version())
	return fs.WalkDir(templates, "detector", func(from string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		to := filepath.Join(dir, strings.TrimSuffix(strings.TrimPrefix(from, "detector"), ".txt"))
		if d.IsDir() {
			return os.MkdirAll(to, 0o755)
		}
		text, err := templates.ReadFile(from)
		if err != nil {
			return err
		}
		return os.WriteFile(to, []byte(fill.Replace(string(text))), 0o644)
	})
}

// detector is one folder.
type detector struct {
	ID      string
	Package string
	Field   string   // of Thresholds
	Args    []string // IDs of the detectors whose thresholds New takes, its own first
}

// generate returns the list of the detectors beside the folder all.
func generate(all string) ([]byte, error) {
	text, err := os.ReadFile(filepath.Join(all, "order.txt"))
	if err != nil {
		return nil, err
	}
	order := strings.Fields(string(text))
	docs, err := filepath.Glob(filepath.Join(all, "..", "*", "doc.md"))
	if err != nil {
		return nil, err
	}
	var list []*detector
	fields := map[string]string{}
	for _, doc := range docs {
		d, err := read(filepath.Dir(doc))
		if err != nil {
			return nil, err
		}
		list = append(list, d)
		fields[d.ID] = d.Field
	}
	for _, id := range order {
		if fields[id] == "" {
			return nil, fmt.Errorf("order.txt names %s, which has no folder", id)
		}
	}
	place := func(d *detector) int {
		if i := slices.Index(order, d.ID); i >= 0 {
			return i
		}
		return len(order)
	}
	slices.SortFunc(list, func(x, y *detector) int {
		return cmp.Or(cmp.Compare(place(x), place(y)), cmp.Compare(x.ID, y.ID))
	})
	var b bytes.Buffer
	err = file.Execute(&b, struct {
		List   []*detector
		ByID   []*detector
		Fields map[string]string
	}{list, slices.SortedFunc(slices.Values(list), func(x, y *detector) int { return cmp.Compare(x.ID, y.ID) }), fields})
	if err != nil {
		return nil, err
	}
	return format.Source(b.Bytes())
}

// read returns the detector in a folder.
func read(dir string) (*detector, error) {
	d := &detector{ID: filepath.Base(dir)}
	for w := range strings.SplitSeq(d.ID, "-") {
		if slices.Contains([]string{"cpu", "gc", "os", "stw"}, w) {
			d.Field += strings.ToUpper(w)
		} else {
			d.Field += strings.ToUpper(w[:1]) + w[1:]
		}
	}
	files, err := filepath.Glob(filepath.Join(dir, "*.go"))
	if err != nil {
		return nil, err
	}
	for _, name := range files {
		if strings.HasSuffix(name, "_test.go") {
			continue
		}
		f, err := parser.ParseFile(token.NewFileSet(), name, nil, parser.SkipObjectResolution)
		if err != nil {
			return nil, err
		}
		d.Package = f.Name.Name
		for _, decl := range f.Decls {
			if fn, ok := decl.(*ast.FuncDecl); ok && fn.Recv == nil && fn.Name.Name == "New" {
				if err := d.args(f, fn); err != nil {
					return nil, fmt.Errorf("%s: %w", name, err)
				}
			}
		}
	}
	if len(d.Args) == 0 {
		return nil, fmt.Errorf("%s: no func New(t Thresholds) findings.Detector", dir)
	}
	return d, nil
}

// args notes whose thresholds New takes.
func (d *detector) args(f *ast.File, fn *ast.FuncDecl) error {
	for _, p := range fn.Type.Params.List {
		id := ""
		switch t := p.Type.(type) {
		case *ast.Ident:
			if t.Name == "Thresholds" {
				id = d.ID
			}
		case *ast.SelectorExpr:
			if x, ok := t.X.(*ast.Ident); ok && t.Sel.Name == "Thresholds" {
				id = imported(f, x.Name)
			}
		}
		if id == "" {
			return errors.New("a parameter of New is not the Thresholds of a detector")
		}
		for range p.Names {
			d.Args = append(d.Args, id)
		}
	}
	return nil
}

// imported returns the folder of the package that a file imports by a name.
func imported(f *ast.File, name string) string {
	for _, spec := range f.Imports {
		p, err := strconv.Unquote(spec.Path.Value)
		if err != nil {
			continue
		}
		base := path.Base(p)
		if spec.Name != nil && spec.Name.Name == name || spec.Name == nil && base == name {
			return base
		}
	}
	return ""
}

var file = template.Must(template.New("").Parse(`// Code generated by gen from the folders of the detectors; DO NOT EDIT.

package all

import (
	"github.com/gmpscope/gmpscope/analyze/findings"
{{- range .ByID}}
	{{if ne .Package .ID}}{{.Package}} {{end}}"github.com/gmpscope/gmpscope/analyze/findings/{{.ID}}"
{{- end}}
)

// Thresholds hold, for each detector, what it must have measured before it reports a finding;
// in JSON under its ID. The type Thresholds of its package says what the fields mean and in
// which unit they are.
type Thresholds struct {
{{- range .List}}
	{{.Field}} {{.Package}}.Thresholds ` + "`json:\"{{.ID}}\"`" + `
{{- end}}
}

// Default returns the thresholds that apply unless a configuration sets others.
func Default() Thresholds {
	return Thresholds{
{{- range .List}}
		{{.Field}}: {{.Package}}.Default(),
{{- end}}
	}
}

// Detectors returns all detectors with thresholds t, in their order.
func Detectors(t Thresholds) []findings.Detector {
	return []findings.Detector{
{{- range .List}}
		{{.Package}}.New({{range $i, $id := .Args}}{{if $i}}, {{end}}t.{{index $.Fields $id}}{{end}}),
{{- end}}
	}
}
`))
