package config

import (
	"bytes"
	"encoding/json"
	"flag"
	"go/ast"
	"go/parser"
	"go/token"
	"os"
	"path/filepath"
	"reflect"
	"regexp"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/jsonschema-go/jsonschema"

	"github.com/gmpscope/gmpscope/analyze/findings"
	"github.com/gmpscope/gmpscope/analyze/findings/all"
)

var update = flag.Bool("update", false, "rewrite schema.json")

// TestSchema keeps schema.json up to date with the types and their comments.
func TestSchema(t *testing.T) {
	b, err := json.MarshalIndent(inferred(t), "", "  ")
	if err != nil {
		t.Fatal(err)
	}
	b = append(b, '\n')
	if *update {
		if err := os.WriteFile("schema.json", b, 0o644); err != nil {
			t.Fatal(err)
		}
		return
	}
	if diff := cmp.Diff(string(Schema()), string(b)); diff != "" {
		t.Errorf("schema.json is out of date; go test ./analyze/config -update rewrites it:\n%s", diff)
	}
}

// inferred is the schema of the types.
func inferred(t *testing.T) *jsonschema.Schema {
	t.Helper()
	root, err := jsonschema.For[Config](nil)
	if err != nil {
		t.Fatal(err)
	}
	root.Schema = "https://json-schema.org/draft/2020-12/schema"
	root.Title = "Configuration of gmpscope"
	root.Required = nil
	of := comments(t, ".", "Config")
	for name, p := range root.Properties {
		p.Description = of[name]
	}

	thresholds := root.Properties["thresholds"]
	thresholds.Required = nil
	for i, d := range all.Detectors(all.Default()) {
		p := thresholds.Properties[d.ID]
		p.Description = d.Doc().Title
		v := reflect.ValueOf(all.Default()).Field(i)
		numbers(t, p, d.ID, v, comments(t, filepath.Join("..", "findings", d.ID), "Thresholds"))
	}

	homes := root.Properties["work"].Properties["homes"]
	root.Properties["work"].Required = nil
	homes.Type, homes.Types = "array", nil
	most := maxHomes
	homes.MaxItems = &most
	homes.Items.Pattern = "^[^@]+@.+$"
	homes.Description = comments(t, ".", "Work")["homes"]

	suppress := root.Properties["suppress"]
	suppress.Type, suppress.Types = "array", nil
	mostSuppressions := maxSuppressions
	suppress.MaxItems = &mostSuppressions
	some := 1
	of = comments(t, filepath.Join("..", "findings"), "Suppression")
	for name, p := range suppress.Items.Properties {
		p.Description = of[name]
		p.MinLength = &some
	}
	for _, d := range all.Docs() {
		p := suppress.Items.Properties["finding"]
		p.Enum = append(p.Enum, d.ID)
	}
	suppress.Items.Properties["until"].Format = "date"
	suppress.Items.Properties["until"].Pattern = `^\d{4}-\d\d-\d\d$`
	return root
}

// numbers describes thresholds, which have the values v.
func numbers(t *testing.T, s *jsonschema.Schema, path string, v reflect.Value, of map[string]string) {
	t.Helper()
	s.Required = nil
	for f, x := range v.Fields() {
		name := key(f)
		p := s.Properties[name]
		if f.Type == reflect.TypeFor[findings.Grade]() {
			p.Description = "how much lost time makes which severity: both the share and the time must be reached"
			numbers(t, p, path+"."+name, x, comments(t, filepath.Join("..", "findings"), "Grade"))
			continue
		}
		b, err := json.Marshal(x.Interface())
		if err != nil {
			t.Fatal(err)
		}
		bounds := all.BoundsOf(path+"."+name, f.Type.Kind())
		p.Default, p.Minimum, p.Maximum = b, &bounds.Least, &bounds.Most
		p.Description = strings.TrimPrefix(of[name], name+" is ")
		if p.Description == "" {
			t.Errorf("%s.%s: the field has no comment", path, name)
		}
		p.Description = strings.TrimSuffix(p.Description, ".") + unit(name)
	}
}

// severity is the meaning of keys such as note_ns, which all detectors share.
func severity(name string) string {
	of, what, _ := strings.Cut(name, "_")
	switch of {
	case "note", "warning", "critical":
	default:
		return ""
	}
	switch what {
	case "ns":
		return "least time for severity " + of
	case "share":
		return "least share for severity " + of
	}
	return ""
}

// unit is what a threshold is given in.
func unit(name string) string {
	switch {
	case name == "ns", strings.HasSuffix(name, "_ns"):
		return " (ns)"
	case name == "share", strings.HasSuffix(name, "_share"):
		return " (share, 1 is all)"
	}
	return ""
}

// comments are those of a struct's fields, by JSON key. A field without one has
// that above the fields before it, which is about all of them.
func comments(t *testing.T, dir, name string) map[string]string {
	t.Helper()
	files, err := filepath.Glob(filepath.Join(dir, "*.go"))
	if err != nil {
		t.Fatal(err)
	}
	for _, file := range files {
		f, err := parser.ParseFile(token.NewFileSet(), file, nil, parser.ParseComments)
		if err != nil {
			t.Fatal(err)
		}
		if o := f.Scope.Lookup(name); o != nil {
			if s, ok := o.Decl.(*ast.TypeSpec).Type.(*ast.StructType); ok {
				return fieldComments(s)
			}
		}
	}
	t.Fatalf("%s has no struct %s", dir, name)
	return nil
}

func fieldComments(s *ast.StructType) map[string]string {
	out, keys := map[string]string{}, map[string]string{}
	above := ""
	for _, f := range s.Fields.List {
		for _, name := range f.Names {
			k := key(reflect.StructField{Name: name.Name, Tag: reflect.StructTag(strings.Trim(f.Tag.Value, "`"))})
			keys[name.Name], out[k] = k, f.Comment.Text()
			if f.Doc != nil {
				above = f.Doc.Text()
			}
			if f.Doc != nil || f.Comment == nil && severity(k) == "" {
				out[k] = above + out[k]
			}
			if s := severity(k); s != "" && out[k] != "" {
				out[k] = s + ". " + out[k]
			} else if s != "" {
				out[k] = s
			}
		}
	}
	// In the file a field is called by its key.
	words := regexp.MustCompile(`\w+`)
	for k, text := range out {
		out[k] = strings.TrimSpace(words.ReplaceAllStringFunc(strings.ReplaceAll(text, "\n", " "), func(w string) string {
			if as, ok := keys[w]; ok {
				return as
			}
			return w
		}))
	}
	return out
}

// validator is the schema as users get it.
func validator(t *testing.T) *jsonschema.Resolved {
	t.Helper()
	var s jsonschema.Schema
	if err := json.Unmarshal(Schema(), &s); err != nil {
		t.Fatal(err)
	}
	r, err := s.Resolve(nil)
	if err != nil {
		t.Fatal(err)
	}
	return r
}

func valid(t *testing.T, s *jsonschema.Resolved, text string) error {
	t.Helper()
	var v any
	if err := json.Unmarshal([]byte(text), &v); err != nil {
		t.Fatal(err)
	}
	return s.Validate(v)
}

// TestSchemaHoldsWhatIsWritten holds what is in force against the schema, and reads
// it again.
func TestSchemaHoldsWhatIsWritten(t *testing.T) {
	s := validator(t)
	c := Default()
	c.Suppress = append(c.Suppress, findings.Suppression{Finding: "convoy", Class: "main.*", Reason: "<by design>", Owner: "x", Until: "2027-03-01"})
	c.Thresholds.Convoy.LongNs = 7
	for _, c := range []*Config{Default(), c} {
		var b bytes.Buffer
		if err := c.Write(&b); err != nil {
			t.Fatal(err)
		}
		if err := valid(t, s, b.String()); err != nil {
			t.Error(err)
		}
		again, err := Read(&b, "again")
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(c, again); diff != "" {
			t.Error(diff)
		}
	}
}

// TestThresholds wants each number of the defaults described.
func TestThresholds(t *testing.T) {
	for _, d := range all.Docs() {
		list := Thresholds(d.ID)
		if len(list) == 0 {
			t.Errorf("%s has no thresholds", d.ID)
		}
		for _, x := range list {
			if x.Key == "" || x.Text == "" || x.Default == "" {
				t.Errorf("%s: %+v", d.ID, x)
			}
		}
	}
	if got := Thresholds("timer-lateness")[0]; got.Key != "late_ns" || got.Default != "1000000" {
		t.Errorf("%+v", got)
	}
	if got := Thresholds("nothing"); got != nil {
		t.Errorf("%v", got)
	}
}
