package findings_test

import (
	"testing"

	"github.com/gmpscope/gmpscope/analyze/findings"
	"github.com/gmpscope/gmpscope/internal/vocabulary"
	"github.com/gmpscope/gmpscope/reference"
)

// Detectors say what goroutines are blocked for in the words of the rest of the report.
func TestBlockedFor(t *testing.T) {
	for r := reference.ReasonNetwork; r <= reference.ReasonSleep; r++ {
		if r == reference.ReasonSystem {
			continue // not of the program
		}
		if term, ok := vocabulary.Lookup(vocabulary.Blocked, r.String()); ok && findings.BlockedFor(r) != term.Phrase {
			t.Errorf("%s: %q, want %q", r, findings.BlockedFor(r), term.Phrase)
		}
	}
	if got, want := findings.BlockedFor(reference.ReasonGCEnds), "for "+reference.ReasonGCEnds.String(); got != want {
		t.Errorf("%q, want %q", got, want)
	}
}
