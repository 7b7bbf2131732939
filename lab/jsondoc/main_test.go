package jsondoc

import (
	"os"
	"path/filepath"
	"reflect"
	"regexp"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// TestGenerated fails if docs/json.md or a schema is not what the types give.
func TestGenerated(t *testing.T) {
	dir := filepath.Join("..", "..")
	files, err := generate(dir)
	if err != nil {
		t.Fatal(err)
	}
	for name, want := range files {
		got, err := os.ReadFile(filepath.Join(dir, name))
		if err != nil {
			t.Error(err)
			continue
		}
		if diff := cmp.Diff(string(want), string(got)); diff != "" {
			t.Errorf("%s is out of date: run go generate ./internal/jsondoc\n%s", name, diff)
		}
	}
	there, err := filepath.Glob(filepath.Join(dir, "docs", "schema", "*.json"))
	if err != nil || len(there) != len(files)-1 {
		t.Errorf("docs/schema has %d schemas, want %d (%v)", len(there), len(files)-1, err)
	}
}

// Names of fields become keys, but not words and names that only look like them.
func TestKeys(t *testing.T) {
	type fields struct {
		Wait   int `json:"wait"`
		WaitNs int `json:"wait_ns"`
		P      int `json:"p"`
		Ps     int `json:"ps"`
		Ns     int `json:"ns"`
		CPUs   int `json:"cpus"`
	}
	for text, want := range map[string]string{
		"WaitNs / Wait, less Ns":           "`wait_ns` / `wait`, less `ns`",
		"work taken from other Ps, by P":   "work taken from other Ps, by P",
		"who had the CPUs":                 "who had the CPUs",
		"sync.Cond.Wait, sync.Once":        "sync.Cond.Wait, sync.Once",
		"Wait's length is that of the Ps'": "Wait's length is that of the Ps'",
	} {
		c := comment{text, keysOf(reflect.TypeFor[fields]())}
		if got := c.markdown(func(string) string { return "" }); got != want {
			t.Errorf("%q: got %q, want %q", text, got, want)
		}
	}
}

// TestLinks follows the links within the page.
func TestLinks(t *testing.T) {
	files, err := generate(filepath.Join("..", ".."))
	if err != nil {
		t.Fatal(err)
	}
	text := string(files["docs/json.md"])
	headings := map[string]bool{}
	for _, m := range regexp.MustCompile(`(?m)^#+ (.*)$`).FindAllStringSubmatch(text, -1) {
		anchor := strings.ReplaceAll(strings.ToLower(m[1]), " ", "-")
		if headings[anchor] {
			t.Errorf("two headings have the anchor %q", anchor)
		}
		headings[anchor] = true
	}
	for _, m := range regexp.MustCompile(`\]\(#([^)]*)\)`).FindAllStringSubmatch(text, -1) {
		if !headings[m[1]] {
			t.Errorf("a link leads to #%s, which is not there", m[1])
		}
	}
	for _, want := range []string{"document", "dump", "replay", "diff", "check", "finding", "summary"} { // others link there
		if !headings[want] {
			t.Errorf("there is no section #%s", want)
		}
	}
}
