// Package archtest checks the shape of the repository: who may import whom.
package archtest

import (
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
)

const module = "github.com/gmpscope/gmpscope"

// rule reports what the packages in one room may import: packages of this module
// in those folders, and packages of those other modules. The standard library
// is free. The first rule whose room holds a package is the package's.
type rule struct {
	room   string // folder, and all below it; a star is any one folder
	own    []string
	others []string
}

// The rooms, from the data's source to its end. A room may always import from
// itself. What is in internal/ serves the rooms that name it.
var rules = []rule{
	// Programs that are recorded; they are built in a module with nothing else.
	{"analyze/findings/*/testdata", in("internal/testkit/rec"), nil},
	{"testdata/traces/programs", in("internal/testkit/rec"), nil},
	{"lab/testdata/programs", in("internal/testkit/rec"), nil},
	{"lab/testdata/units", in("internal/testkit/rec"), []string{"github.com/valyala/fasthttp", "google.golang.org/grpc", "google.golang.org/protobuf"}}, // a module of its own
	{"testdata/traces/*/programs", in("internal/testkit/rec"), nil},
	{"testdata/kernel/program", nil, nil},
	{"fleet/testdata", in("internal/testkit/rec"), nil},
	{"internal/testkit/rec", nil, nil},
	{"lab/bench/load", nil, nil},

	{"reference/sim", in("reference", "internal/quantity"), nil},
	{"reference", nil, nil},

	// The pipeline of analyze: each step imports none of the later ones.
	{"analyze/wire", nil, nil},
	{"analyze/internal/hugepages", nil, nil},
	{"analyze/sidecar", in("internal/files"), nil},
	{"analyze/input", in("analyze/wire", "analyze/sidecar", "internal/files", "analyze/internal/hugepages"), []string{"github.com/klauspost/compress"}},
	{"analyze/events", in("analyze/wire", "analyze/input", "analyze/ids", "analyze/internal/hugepages"), []string{"golang.org/x/exp"}},
	{"analyze/ids", in("analyze/internal/hugepages"), nil},
	{"analyze/histogram", nil, []string{"github.com/HdrHistogram/hdrhistogram-go"}},
	{"analyze/reconstruct", in("reference", "analyze/input", "analyze/events", "analyze/ids", "analyze/internal/hugepages", "internal/std"), nil},
	{"analyze/ledger", in("reference", "analyze/ids", "analyze/internal/hugepages"), nil},
	{"analyze/kernel", in("reference", "analyze/ledger", "analyze/ids", "analyze/histogram", "analyze/breakdown", "analyze/procs", "analyze/waits", "internal/files", "internal/quantity"), nil},
	{"analyze/focus", in("reference", "analyze/ledger", "internal/funcname", "internal/names", "internal/quantity"), nil},
	{"analyze/procs", in("reference", "analyze/ledger"), nil},
	{"analyze/waits", in("reference", "analyze/ledger", "analyze/breakdown", "analyze/ids", "analyze/histogram", "analyze/internal/hugepages", "internal/quantity"), []string{"github.com/HdrHistogram/hdrhistogram-go"}},
	{"analyze/stacks", in("reference", "analyze/ledger", "analyze/waits", "analyze/ids"), nil},
	{"analyze/fairness", in("reference", "analyze/ledger", "analyze/procs", "analyze/ids", "analyze/histogram"), []string{"github.com/HdrHistogram/hdrhistogram-go"}},
	{"analyze/breakdown", in("reference", "analyze/ledger", "analyze/ids"), nil},
	{"analyze/timeline", in("reference", "analyze/ledger", "analyze/breakdown", "analyze/histogram", "analyze/waits", "analyze/stacks", "analyze/internal/hugepages", "analyze/ids"), nil},
	{"analyze/span", in("reference"), nil},
	{"analyze/work", in("reference", "analyze/ledger", "analyze/histogram", "analyze/waits", "analyze/ids", "analyze/internal/hugepages", "internal/std"), nil},
	{"analyze/findings", in("reference", "analyze/ledger", "analyze/kernel", "analyze/procs", "analyze/ids", "analyze/waits", "analyze/fairness", "analyze/timeline", "analyze/sidecar", "analyze/span", "internal/funcname", "internal/std", "internal/names", "internal/quantity"), nil},
	{"analyze/config", in("analyze/findings", "internal/names", "internal/quantity"), nil},
	{"analyze/diagnosis", in("analyze", "internal/quantity", "internal/std"), nil},
	{"analyze", in("reference", "internal/funcname", "internal/names", "internal/std", "internal/quantity"), []string{"golang.org/x/exp"}},

	{"replay", in("reference", "analyze", "internal/funcname", "internal/quantity"), nil},
	{"compare/budget", in("docs/schema", "internal/funcname", "internal/names", "internal/quantity", "internal/vocabulary"), nil}, // it knows documents only
	{"compare", in("reference", "analyze", "internal/funcname", "internal/quantity"), []string{"github.com/aclements/go-moremath"}},

	{"report/html/echarts/gen", in("report/html/echarts/npm"), []string{"github.com/evanw/esbuild"}}, // a module of its own
	{"report/html/echarts", in("internal/files"), nil},
	{"report/html", in("reference", "analyze", "replay", "compare", "report", "internal/doc", "internal/jsondoc", "internal/quantity", "internal/vocabulary"), []string{"github.com/go-echarts/go-echarts/v2"}},
	{"report", in("reference", "analyze", "replay", "compare", "docs/schema", "internal/doc", "internal/jsondoc", "internal/funcname", "internal/names", "internal/quantity", "internal/std", "internal/term", "internal/vocabulary"), []string{"golang.org/x/perf", "github.com/mattn/go-runewidth"}},

	{"export", in("reference", "analyze", "internal/term"), []string{"github.com/google/pprof", "google.golang.org/protobuf", "github.com/parquet-go/parquet-go"}},

	// Nothing imports it but the command: the shape of its report is in internal/jsondoc.
	{"fleet/beam", in("reference", "analyze", "fleet", "report", "internal/version"), []string{"github.com/apache/beam", "github.com/fsouza/fake-gcs-server", "github.com/johannesboyne/gofakes3"}}, // a module of its own
	{"fleet", in("analyze", "internal/files", "internal/jsondoc"), []string{"github.com/klauspost/compress", "github.com/parquet-go/parquet-go"}},

	{"gotest", in("reference", "analyze", "internal/doc", "internal/jsondoc", "internal/quantity", "internal/term"), nil},

	// A module of its own, for programs that want little else.
	{"live", in("analyze", "capture", "export", "report"), []string{"github.com/google/pprof"}}, // a module of its own
	{"capture/example", in("capture"), nil},
	{"capture/grpc", in("capture"), []string{"google.golang.org/grpc"}},   // a module of its own
	{"capture/otel", in("capture"), []string{"go.opentelemetry.io/otel"}}, // a module of its own
	{"capture", nil, nil},

	{"cmd/gmpscope/internal/mcptools", in("analyze", "compare", "export", "reference", "replay", "report", "internal/quantity", "internal/term"), []string{"github.com/modelcontextprotocol/go-sdk"}},
	{"cmd", in("reference", "analyze", "replay", "compare", "report", "export", "fleet", "gotest", "internal/files", "internal/quantity", "internal/term", "internal/version"), []string{"github.com/spf13", "github.com/modelcontextprotocol/go-sdk"}},

	{"internal/quantity", nil, nil},
	{"internal/doc", in("internal/quantity", "internal/term"), nil},
	{"internal/vocabulary", in("reference", "analyze"), nil}, // its tests do
	{"internal/term", in("internal/quantity"), []string{"golang.org/x/term"}},
	{"internal/files", nil, []string{"github.com/klauspost/compress"}},
	{"internal/names", nil, nil},
	{"internal/version", nil, nil},
	{"internal/funcname", in("internal/std"), nil},
	{"internal/std", nil, nil},
	{"docs/schema", nil, nil},
	{"internal/browsertest", in("report/html/echarts/npm"), []string{"github.com/chromedp"}},
	{"internal/jsondoc", in("reference", "analyze", "replay", "compare"), nil},
	{"internal/testkit/damage", in("analyze/wire"), nil},
	{"internal/testkit/hostile", in("analyze/wire"), []string{"github.com/klauspost/compress"}},
	{"internal/testkit/stretch", in("analyze/wire"), []string{"golang.org/x/exp"}},
	{"internal/testkit/tracetest", in("internal/files"), nil},
	{"internal/testkit/tracewriter", in("reference", "analyze/wire"), nil},
	{"internal/archtest", nil, nil},

	// A module of its own, which measures gmpscope. No other room may import it.
	{"lab/sweep/servers", nil, []string{"github.com", "google.golang.org", "go.etcd.io"}}, // a module of its own
	{"lab", in("reference", "analyze", "replay", "compare", "report", "fleet", "internal"), []string{"github.com/google/jsonschema-go", "github.com/klauspost/compress", "golang.org/x/exp"}},
}

// forTests are modules that any test may import.
var forTests = []string{"github.com/google/go-cmp", "github.com/rogpeppe/go-internal", "pgregory.net/rapid", "golang.org/x/exp", "github.com/klauspost/compress", "github.com/google/jsonschema-go"}

func in(rooms ...string) []string { return rooms }

func TestImports(t *testing.T) {
	root := filepath.Join("..", "..")
	eachFile(t, root, func(file, rel string) { check(t, file, rel) })
	for _, r := range rules {
		if found, err := filepath.Glob(filepath.Join(root, filepath.FromSlash(r.room))); err != nil || len(found) == 0 {
			t.Errorf("there is no room %s: the table is out of date", r.room)
		}
	}
}

// eachFile calls f for the Go files below root.
func eachFile(t *testing.T, root string, f func(file, rel string)) {
	t.Helper()
	err := filepath.WalkDir(root, func(file string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		rel, err := filepath.Rel(root, file)
		if err != nil {
			return err
		}
		rel = filepath.ToSlash(rel)
		if d.IsDir() {
			if strings.HasPrefix(d.Name(), ".") && rel != "." || d.Name() == "tools" {
				return fs.SkipDir
			}
			return nil
		}
		if path.Ext(rel) == ".go" {
			f(file, rel)
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
}

// TestDetectorIDs has no code name a detector as a string but its own: what others
// need to know of it are fields of findings.Detector.
func TestDetectorIDs(t *testing.T) {
	root := filepath.Join("..", "..")
	docs, err := filepath.Glob(filepath.Join(root, "analyze", "findings", "*", "doc.md"))
	if err != nil || len(docs) == 0 {
		t.Fatal("no detectors", err)
	}
	folder := map[string]string{}
	for _, doc := range docs {
		id := filepath.Base(filepath.Dir(doc))
		folder[id] = "analyze/findings/" + id
	}
	eachFile(t, root, func(file, rel string) {
		if strings.HasSuffix(rel, "_test.go") || strings.Contains(rel, "/testdata/") {
			return
		}
		f, err := parser.ParseFile(token.NewFileSet(), file, nil, parser.SkipObjectResolution)
		if err != nil {
			t.Errorf("%s: %v", rel, err)
			return
		}
		ast.Inspect(f, func(n ast.Node) bool {
			lit, ok := n.(*ast.BasicLit)
			if !ok || lit.Kind != token.STRING {
				return true
			}
			id, err := strconv.Unquote(lit.Value)
			if err == nil && folder[id] != "" && !within(path.Dir(rel), folder[id]) {
				t.Errorf("%s: names the detector %s: make what it needs to know a field of findings.Detector", rel, id)
			}
			return true
		})
	})
}

// TestFiles has what a command reads and writes opened by package files, so that its guard knows
// each input and keeps outputs from taking its place.
func TestFiles(t *testing.T) {
	allowed := map[string]bool{
		"fleet/set.go":               true, // temporary files of its own
		"analyze/sidecar/sidecar.go": true, // files of the kernel
		"analyze/sidecar/use.go":     true, // likewise
	}
	kernel := "cmd/gmpscope/internal" // its packages open files of the kernel, too
	opens := []string{"Open", "OpenFile", "OpenInRoot", "OpenRoot", "DirFS", "ReadFile", "Create", "CreateTemp", "WriteFile"}
	eachFile(t, filepath.Join("..", ".."), func(file, rel string) {
		dir := path.Dir(rel)
		ours := slices.ContainsFunc([]string{"analyze", "cmd/gmpscope", "compare", "export", "fleet", "reference", "replay", "report"}, func(room string) bool { return within(dir, room) })
		if !ours || allowed[rel] || within(dir, "fleet/beam") || within(dir, kernel) || path.Base(dir) == "gen" || strings.HasSuffix(rel, "_test.go") || strings.Contains(rel, "/testdata/") {
			return
		}
		f, err := parser.ParseFile(token.NewFileSet(), file, nil, parser.SkipObjectResolution)
		if err != nil {
			t.Errorf("%s: %v", rel, err)
			return
		}
		ast.Inspect(f, func(n ast.Node) bool {
			if sel, ok := n.(*ast.SelectorExpr); ok {
				if x, ok := sel.X.(*ast.Ident); ok && x.Name == "os" && slices.Contains(opens, sel.Sel.Name) {
					t.Errorf("%s: os.%s opens a file that the guard of internal/files does not know: use that package", rel, sel.Sel.Name)
				}
			}
			return true
		})
	})
}

func check(t *testing.T, file, rel string) {
	f, err := parser.ParseFile(token.NewFileSet(), file, nil, parser.ImportsOnly)
	if err != nil {
		t.Errorf("%s: %v", rel, err)
		return
	}
	dir, test := path.Dir(rel), strings.HasSuffix(rel, "_test.go")
	var r *rule
	for i := range rules {
		if within(dir, rules[i].room) {
			r = &rules[i]
			break
		}
	}
	if r == nil {
		if dir != "." {
			t.Errorf("%s: is in no room of the table", rel)
		}
		return
	}
	top, _, _ := strings.Cut(dir, "/") // a test may use the whole of its room, and what is internal
	for _, spec := range f.Imports {
		p, err := strconv.Unquote(spec.Path.Value)
		if err != nil {
			t.Errorf("%s: %v", rel, err)
			continue
		}
		own, ok := strings.CutPrefix(p, module+"/")
		switch {
		case ok && test && (within(own, "internal") || within(own, top)):
		case ok:
			if !within(own, r.room) && !anyOf(r.own, own) {
				t.Errorf("%s imports %s, but %s may only import from %v", rel, own, r.room, r.own)
			}
		case !strings.Contains(strings.Split(p, "/")[0], "."): // standard library
		case test && anyOf(forTests, p):
		case !anyOf(r.others, p):
			t.Errorf("%s imports %s, but %s may only import %v", rel, p, r.room, r.others)
		}
	}
}

func anyOf(rooms []string, p string) bool {
	for _, r := range rooms {
		if within(p, r) {
			return true
		}
	}
	return false
}

// within reports whether p is the folder room or below it.
func within(p, room string) bool {
	above := strings.Split(p, "/")
	above = above[:min(len(above), strings.Count(room, "/")+1)]
	ok, err := path.Match(room, strings.Join(above, "/"))
	return err == nil && ok
}

// TestDependencies keeps the table of modules complete.
func TestDependencies(t *testing.T) {
	page, err := os.ReadFile(filepath.Join("..", "..", "docs", "reference", "dependencies.md"))
	if err != nil {
		t.Fatal(err)
	}
	for _, r := range append(rules, rule{others: forTests}) {
		for _, m := range r.others {
			if !strings.Contains(string(page), "| "+m) && !strings.Contains(string(page), ", "+m) {
				t.Errorf("docs/reference/dependencies.md has no line for %s", m)
			}
		}
	}
}

// link is a link to another file in a page of Markdown.
var link = regexp.MustCompile(`\]\(([^)#:]+)(?:#[^)]*)?\)`)

// TestLinks follows the links between the pages of the repository.
func TestLinks(t *testing.T) {
	root := filepath.Join("..", "..")
	var pages []string
	for _, pattern := range []string{"*.md", "docs/*.md", "docs/reference/*.md", "lab/docs/*.md", "lab/*/README.md"} {
		found, err := filepath.Glob(filepath.Join(root, filepath.FromSlash(pattern)))
		if err != nil {
			t.Fatal(err)
		}
		pages = append(pages, found...)
	}
	if len(pages) < 4 {
		t.Errorf("found only %v", pages)
	}
	for _, page := range pages {
		text, err := os.ReadFile(page)
		if err != nil {
			t.Fatal(err)
		}
		for _, m := range link.FindAllStringSubmatch(string(text), -1) {
			if _, err := os.Stat(filepath.Join(filepath.Dir(page), filepath.FromSlash(m[1]))); err != nil {
				t.Errorf("%s links to %s, which is not there", page, m[1])
			}
		}
	}
}
