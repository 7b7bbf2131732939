package indexer

import (
	"context"
	"strings"
	"testing"
	"time"
)

func eventually(t *testing.T, within, every time.Duration, cond func() bool, what string) {
	t.Helper()
	for end := time.Now().Add(within); ; time.Sleep(every) {
		if cond() {
			return
		}
		if time.Now().After(end) {
			t.Fatalf("condition never satisfied within %v: %s", within, what)
		}
	}
}

func TestDocumentBecomesSearchable(t *testing.T) {
	t.Parallel()
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	ix := New(ctx, time.Millisecond)
	for _, w := range []string{"heron", "egret", "bittern", "stork", "ibis", "crane"} {
		ix.Add(Doc{ID: "doc-" + w, Text: "The " + w + ", a wading bird."})
		eventually(t, 30*time.Millisecond, 2*time.Millisecond, func() bool {
			got := ix.Search(w)
			return len(got) == 1 && got[0] == "doc-"+w
		}, "Search("+w+") finds doc-"+w)
	}
}

func TestFingerprintSimilarTexts(t *testing.T) {
	t.Parallel()
	a := strings.Repeat("wading birds stand in shallow water and wait. ", 400)
	b := a + "So do some anglers."
	x, y := Fingerprint(a, 800), Fingerprint(b, 800)
	same := 0
	for i := range x {
		if x[i] == y[i] {
			same++
		}
	}
	if same < 500 {
		t.Fatalf("only %d of 800 minima agree", same)
	}
}
