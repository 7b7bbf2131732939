package pairs_test

import (
	"bytes"
	"context"
	"flag"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/gmpscope/gmpscope/lab/pairs"
	"github.com/gmpscope/gmpscope/lab/runner"
)

var update = flag.Bool("update", false, "write lab/docs/diff.md")

const root = "../.."

var recorded = runner.Stored(pairs.Dir(root))

// The page holds what diff says of all pairs, and the false alarms; it must be
// what the code says now, and nothing in it may be wrong.
func TestPage(t *testing.T) {
	var b bytes.Buffer
	if err := pairs.Page(context.Background(), &b, recorded); err != nil {
		t.Fatal(err)
	}
	file := filepath.Join(root, "lab", "docs", "diff.md")
	if *update {
		if err := os.WriteFile(file, b.Bytes(), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(file)
	if err != nil || !bytes.Equal(b.Bytes(), want) {
		t.Errorf("lab/docs/diff.md is out of date (go -C lab test ./pairs -update): %v", err)
	}
	if strings.Contains(b.String(), "**no**") {
		t.Errorf("a pair is judged wrong:\n%s", b.String())
	}
}

// Recordings of one program are said to differ in at most 5 % of comparisons.
func TestFalseAlarms(t *testing.T) {
	ctx := context.Background()
	p := pairs.All[len(pairs.All)-1]
	if p.Name != pairs.Nothing {
		t.Fatal("the last pair is not the one that does not change")
	}
	before, err := pairs.Results(ctx, recorded, &p, pairs.Sides[0])
	if err != nil {
		t.Fatal(err)
	}
	after, err := pairs.Results(ctx, recorded, &p, pairs.Sides[1])
	if err != nil {
		t.Fatal(err)
	}
	alarms, all, err := pairs.Alarms(append(before, after...))
	if err != nil {
		t.Fatal(err)
	}
	if 20*alarms > all || all != 924 {
		t.Errorf("%d of %d comparisons are alarms", alarms, all)
	}
}
