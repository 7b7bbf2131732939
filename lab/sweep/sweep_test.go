package sweep

import (
	"os"
	"path/filepath"
	"testing"
)

// TestSmall holds what is found in the small traces against itself.
func TestSmall(t *testing.T) {
	dir := filepath.Join("..", "testdata", "sweep")
	for _, l := range loads() {
		if !l.small {
			continue
		}
		t.Run(l.name, func(t *testing.T) {
			file := traceFile(dir, l.name)
			if info, err := os.Stat(file); err != nil || info.Size() > 500_000 {
				t.Fatal("it is missing, or too large", info, err)
			}
			found, err := contradictions(t.Context(), file)
			if err != nil {
				t.Fatal(err)
			}
			for _, f := range found {
				t.Error(f)
			}
		})
	}
}
