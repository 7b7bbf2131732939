package gallery

import (
	"bytes"
	"os"
	"path/filepath"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// The page says what gmpscope says, and each exhibit has its picture.
func TestPageIsUpToDate(t *testing.T) {
	root := filepath.Join("..", "..")
	var page bytes.Buffer
	if err := Page(t.Context(), &page, root); err != nil {
		t.Fatal(err)
	}
	got, err := os.ReadFile(filepath.Join(root, "docs", "gallery.md"))
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(string(got), page.String()); diff != "" {
		t.Errorf("docs/gallery.md (go run ./internal/cmd/gallery writes it):\n%s", diff)
	}
	for i := range Exhibits {
		name := filepath.Join(root, "docs", filepath.FromSlash(Exhibits[i].Picture()))
		if info, err := os.Stat(name); err != nil || info.Size() > 200_000 {
			t.Errorf("%s: %v", name, err)
		}
	}
}
