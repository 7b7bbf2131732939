package truth

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/gmpscope/gmpscope/analyze/reconstruct"
)

// The page has the hypotheses that there are, and a row for each. What they are worth is
// measured by its command.
func TestHypothesesPage(t *testing.T) {
	page, err := os.ReadFile(filepath.Join("..", "..", "docs", "hypotheses.md"))
	if err != nil {
		t.Fatal(err)
	}
	list, worth, _ := strings.Cut(string(page), "\n## What each is worth\n")
	if list != hypothesesList() {
		t.Errorf("docs/hypotheses.md has another list: make it again by the command in it\n%s", hypothesesList())
	}
	if !strings.HasSuffix(worth, tried) {
		t.Error("docs/hypotheses.md does not end in tried.md")
	}
	for _, h := range reconstruct.Hypotheses() {
		if !strings.Contains(worth, "\n| "+h.Name+" |") {
			t.Errorf("docs/hypotheses.md does not say what %s is worth", h.Name)
		}
		if _, err := os.Stat(filepath.Join("..", "..", "analyze", "reconstruct", h.File)); err != nil {
			t.Error(err)
		}
	}
}

// Without what others have stolen, a recording of thieves scores worse.
func TestAblation(t *testing.T) {
	stem := filepath.Join("testdata", "floor", "mutex-go1.25.14-p4")
	without, err := reconstruct.Without("unseen-steal")
	if err != nil {
		t.Fatal(err)
	}
	less, err := ScoreRecording(t.Context(), stem, without)
	if err != nil {
		t.Fatal(err)
	}
	if all := scoreRecording(t, stem); share(less.StealRecall) >= share(all.StealRecall) {
		t.Errorf("steals found: %v without, %v with", less.StealRecall, all.StealRecall)
	}
	if _, err := reconstruct.Without("deferred-enqueue", "no-such"); err == nil || !strings.Contains(err.Error(), "unseen-steal") {
		t.Errorf("an unknown name: %v", err)
	}
}
