//go:build browser

package gallery

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/gmpscope/gmpscope/internal/browsertest"
)

// TestBrowserScreenshot makes the pictures of the gallery; see scripts/screenshot.
func TestBrowserScreenshot(t *testing.T) {
	if os.Getenv("BROWSER_SHOTS") == "" {
		t.Skip("BROWSER_SHOTS names no folder")
	}
	root := filepath.Join("..", "..")
	dir := t.TempDir()
	program := filepath.Join(dir, "gmpscope")
	if out, err := exec.Command("go", "build", "-C", root, "-o", program, "./cmd/gmpscope").CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	b := browsertest.Start(t)
	for i := range Exhibits {
		e := &Exhibits[i]
		file := filepath.Join(dir, e.Pair+".html")
		if out, err := exec.Command(program, "report", filepath.Join(root, e.Recording()), "-o", file, "--no-fetch").CombinedOutput(); err != nil {
			t.Fatalf("%v\n%s", err, out)
		}
		p := b.Open(t, file, "", browsertest.View{Width: 1000, Height: 660})
		p.Wait(`document.documentElement.dataset.timeline === "ready"`)
		p.Screenshot(strings.TrimSuffix(e.Picture(), ".png"), false)
		p.Check()
	}
}
