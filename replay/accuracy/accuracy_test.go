package main

import (
	"bytes"
	"os"
	"path/filepath"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// The page in the repository is what the program gives.
func TestPageIsCurrent(t *testing.T) {
	if testing.Short() {
		t.Skip("replays all traces")
	}
	root := filepath.Join("..", "..")
	rows, err := replayAll(t.Context(), filepath.Join(root, "testdata", "traces"))
	if err != nil {
		t.Fatal(err)
	}
	var b bytes.Buffer
	page(&b, rows)
	want, err := os.ReadFile(filepath.Join(root, "docs", "replay.md"))
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(string(want), b.String()); diff != "" {
		t.Errorf("docs/replay.md (-) is not what go run ./replay/accuracy gives (+):\n%s", diff)
	}
}
