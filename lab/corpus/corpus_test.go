package corpus

import (
	"io"
	"os"
	"path/filepath"
	"testing"

	"github.com/gmpscope/gmpscope/lab/scenarios"
)

// TestTakes has each set take recordings of programs that are there, under names of their own,
// and those that the repository keeps lie where they are judged.
func TestTakes(t *testing.T) {
	root := filepath.Join("..", "..")
	for _, s := range sets() {
		takes, err := s.takes(root)
		if err != nil || len(takes) < 10 {
			t.Errorf("%s: %d recordings, %v", s.name, len(takes), err)
		}
		seen := map[string]bool{}
		for _, x := range takes {
			if seen[x.Name] {
				t.Errorf("%s: two recordings are called %s", s.name, x.Name)
			}
			seen[x.Name] = true
			files := []string{filepath.Join(x.Program, "main.go")}
			if s.dir != "" {
				files = append(files, filepath.Join(s.dir, x.File()))
			}
			for _, f := range files {
				if _, err := os.Stat(filepath.Join(root, filepath.FromSlash(f))); err != nil {
					t.Errorf("%s: %s: %v", s.name, x.Name, err)
				}
			}
		}
	}
}

// TestScenarios holds the traces of testdata/traces against their manifest and scenarios.
func TestScenarios(t *testing.T) {
	if err := scenarios.Verify(filepath.Join("..", "..", "testdata", "traces"), io.Discard); err != nil {
		t.Error(err)
	}
}
