package truth

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/gmpscope/gmpscope/analyze/reconstruct"
)

// The page has the hypotheses that there are, an example of each as it is told today, and what
// it is worth. The latter is measured by its command.
func TestHypothesesPage(t *testing.T) {
	page, err := os.ReadFile(filepath.Join("..", "docs", "hypotheses.md"))
	if err != nil {
		t.Fatal(err)
	}
	list, rest, _ := strings.Cut(string(page), "\n## Examples\n")
	if list != hypothesesList() {
		t.Errorf("lab/docs/hypotheses.md has another list: make it again by the command in it\n%s", hypothesesList())
	}
	examples, worth, _ := strings.Cut(rest, "\n## What each is worth\n")
	for _, h := range reconstruct.Hypotheses() {
		if !strings.Contains(worth, "\n| "+h.Name+" |") {
			t.Errorf("lab/docs/hypotheses.md does not say what %s is worth", h.Name)
		}
		if _, err := os.Stat(filepath.Join("..", "..", "analyze", "reconstruct", h.File)); err != nil {
			t.Error(err)
		}
		_, text, _ := strings.Cut(examples, "\n### "+h.Name+"\n\n")
		text, _, _ = strings.Cut(text, "\n### ")
		in := exampleRecording.FindStringSubmatch(text)
		if in == nil {
			t.Errorf("lab/docs/hypotheses.md has no example of %s", h.Name)
			continue
		}
		stem := filepath.Join("testdata", "floor", in[1])
		if _, err := os.Stat(stem + ".trace.zst"); err != nil {
			stem = filepath.Join("testdata", "examples", in[1])
		}
		trace, truth, err := ReadRecording(stem)
		if err != nil {
			t.Fatal(err)
		}
		with, err := reconstructFor(t.Context(), trace, truth, 0)
		if err != nil {
			t.Fatal(err)
		}
		x, err := findExample(t.Context(), h, stem, trace, truth, with)
		if err != nil {
			t.Fatal(err)
		}
		if x == nil || strings.TrimSpace(x.String()) != strings.TrimSpace(text) {
			t.Errorf("lab/docs/hypotheses.md has an example of %s that is told otherwise today:\n%s", h.Name, x)
		}
	}
}

// exampleRecording is the name of the recording in the text of an example.
var exampleRecording = regexp.MustCompile("^In `([^`]+)`")

// Without what others have stolen, a recording of thieves scores worse.
func TestAblation(t *testing.T) {
	stem := filepath.Join("testdata", "floor", "mutex-go1.25.14-p4")
	without, err := reconstruct.Without("unseen-steal")
	if err != nil {
		t.Fatal(err)
	}
	less := scoreRecording(t, stem, without)
	if all := scoreRecording(t, stem, 0); share(less.StealRecall) >= share(all.StealRecall) {
		t.Errorf("steals found: %v without, %v with", less.StealRecall, all.StealRecall)
	}
	if _, err := reconstruct.Without("deferred-enqueue", "no-such"); err == nil || !strings.Contains(err.Error(), "unseen-steal") {
		t.Errorf("an unknown name: %v", err)
	}
}

// Only what is asked for is left out, and a table has no other rows.
func TestAblateOnly(t *testing.T) {
	dir := t.TempDir()
	for _, ending := range []string{".trace.zst", ".truth.zst"} {
		b, err := os.ReadFile(filepath.Join("testdata", "floor", "single-go1.22.12-p2"+ending))
		if err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(dir, "single-go1.22.12-p2"+ending), b, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	a, err := Ablate(t.Context(), dir, "unseen-steal")
	if err != nil {
		t.Fatal(err)
	}
	if table := a.Total(); len(a.Without) != 1 || strings.Count(table, "\n") != 4 || !strings.Contains(table, "\n| unseen-steal |") {
		t.Errorf("%d without, and the table\n%s", len(a.Without), table)
	}
	if _, err := Ablate(t.Context(), dir, "no-such"); err == nil {
		t.Error("an unknown name is taken")
	}
}
