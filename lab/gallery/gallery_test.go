package gallery

import (
	"bytes"
	"flag"
	"os"
	"path/filepath"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/gmpscope/gmpscope/lab/pairs"
	"github.com/gmpscope/gmpscope/lab/runner"
)

var update = flag.Bool("update", false, "write the page again")

// The page says what gmpscope says, and each exhibit has its picture.
func TestPageIsUpToDate(t *testing.T) {
	root := filepath.Join("..", "..")
	var page bytes.Buffer
	if err := Page(t.Context(), &page, runner.Stored(pairs.Dir(root))); err != nil {
		t.Fatal(err)
	}
	file := filepath.Join("..", "docs", "gallery.md")
	if *update {
		if err := os.WriteFile(file, page.Bytes(), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	got, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(string(got), page.String()); diff != "" {
		t.Errorf("lab/docs/gallery.md (go -C lab test ./gallery -update writes it):\n%s", diff)
	}
	for i := range Exhibits {
		name := filepath.Join("..", "docs", filepath.FromSlash(Exhibits[i].Picture()))
		if info, err := os.Stat(name); err != nil || info.Size() > 200_000 {
			t.Errorf("%s: %v", name, err)
		}
	}
}
