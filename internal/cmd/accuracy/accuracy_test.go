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
	root := filepath.Join("..", "..", "..")
	var b bytes.Buffer
	if err := all(t.Context(), &b, filepath.Join(root, "testdata", "traces")); err != nil {
		t.Fatal(err)
	}
	want, err := os.ReadFile(filepath.Join(root, "docs", "replay.md"))
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(string(want), b.String()); diff != "" {
		t.Errorf("docs/replay.md (-) is not what go run ./internal/cmd/accuracy gives (+):\n%s", diff)
	}
}

// The makespan with the other GOMAXPROCS is predicted within the band, except
// where the trace lacks what it takes: docs/replay.md, locks and channels.
func TestPredictions(t *testing.T) {
	ps, err := predict(t.Context(), filepath.Join("..", "..", "..", "testdata", "traces", "whatif"))
	if err != nil {
		t.Fatal(err)
	}
	if len(ps) != 10 {
		t.Errorf("%d predictions, want 10", len(ps))
	}
	for _, p := range ps {
		lower := p.from == 1 && (p.name == "lock-limited" || p.name == "lock-asleep")
		switch off := p.off(); {
		case lower && off < -bandWhatIf: // a lower bound
		case off < -bandWhatIf || off > bandWhatIf || lower:
			t.Errorf("%s from %d to %d Ps: %+.1f %%", p.name, p.from, p.to, 100*off)
		}
		if p.self == nil || *p.self > 0.05 || *p.self < -0.05 {
			t.Errorf("%s with %d Ps: the model is off by %v", p.name, p.from, p.self)
		}
	}
}
