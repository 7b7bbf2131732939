package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

func TestListIsFresh(t *testing.T) {
	want, err := generate("..")
	if err != nil {
		t.Fatal(err)
	}
	if got, err := os.ReadFile("../list.go"); err != nil || string(got) != string(want) {
		t.Errorf("list.go is not that of the folders: run go generate ./analyze/findings/all (%v)", err)
	}
}

func TestGenerate(t *testing.T) {
	const doc, pkg = "x/doc.md", "package x\n\nfunc New(t Thresholds) findings.Detector { panic(0) }\n"
	other := "package stwx\n\nimport \"m/x\"\n\nfunc New(t Thresholds, of x.Thresholds) findings.Detector { panic(0) }\n"
	for _, c := range []struct {
		name  string
		files map[string]string
		want  []string // in this order
		err   string
	}{
		{"order", map[string]string{"all/order.txt": "x\n", doc: "", "x/detector.go": pkg, "a/doc.md": "", "a/a.go": strings.Replace(pkg, "package x", "package a", 1)},
			[]string{"x.New(t.X)", "a.New(t.A)"}, ""},
		{"thresholds of another", map[string]string{"all/order.txt": "x", doc: "", "x/detector.go": pkg, "stw-x/doc.md": "", "stw-x/y.go": other, "stw-x/y_test.go": "package x_test", "none/x.go": "package none"},
			[]string{`stwx "github`, `STWX stwx.Thresholds`, "`json:\"stw-x\"`", "x.New(t.X)", "stwx.New(t.STWX, t.X)"}, ""},
		{"no folder", map[string]string{"all/order.txt": "y"}, nil, "order.txt names y"},
		{"no New", map[string]string{"all/order.txt": "", doc: "", "x/detector.go": "package x"}, nil, "no func New"},
		{"other parameter", map[string]string{"all/order.txt": "", doc: "", "x/detector.go": "package x\n\nfunc New(n int) int"}, nil, "a parameter of New"},
	} {
		t.Run(c.name, func(t *testing.T) {
			dir := t.TempDir()
			for name, text := range c.files {
				name = filepath.Join(dir, filepath.FromSlash(name))
				if err := os.MkdirAll(filepath.Dir(name), 0o755); err != nil {
					t.Fatal(err)
				}
				if err := os.WriteFile(name, []byte(text), 0o644); err != nil {
					t.Fatal(err)
				}
			}
			got, err := generate(filepath.Join(dir, "all"))
			if (err != nil) != (c.err != "") || err != nil && !strings.Contains(err.Error(), c.err) {
				t.Fatal(err)
			}
			text := strings.Join(strings.Fields(string(got)), " ")
			for _, want := range c.want {
				_, rest, ok := strings.Cut(text, want)
				if !ok {
					t.Fatalf("no %s in\n%s", want, got)
				}
				text = rest
			}
		})
	}
}
