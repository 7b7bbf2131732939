package flaky

import (
	"path/filepath"
	"testing"
)

// The key has fifteen tests of each kind.
func TestKey(t *testing.T) {
	key, err := readKey(filepath.Join("..", "testdata", "flaky", "README.md"))
	if err != nil {
		t.Fatal(err)
	}
	starved := 0
	for _, k := range key {
		if k.starved {
			starved++
		}
	}
	if len(key) != 30 || starved != 15 {
		t.Errorf("%d tests, %d of them starved", len(key), starved)
	}
}
