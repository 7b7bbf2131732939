package main

import (
	"encoding/json"
	"io"
	"path/filepath"
	"strings"
	"testing"

	"github.com/gmpscope/gmpscope/compare/budget"
)

// TestCheckKeepsLittle bounds what check keeps of a trace while it reads others.
func TestCheckKeepsLittle(t *testing.T) {
	const most = 100 << 10 // bytes, as JSON
	rules, err := budget.Parse(strings.NewReader("classes[*].waits.p99_ns <= 5ms\nwaits.causes[*].ns <= 1s\nps[*].idle_ns >= 0"), "b")
	if err != nil {
		t.Fatal(err)
	}
	a := &app{stdout: io.Discard, stderr: io.Discard, getenv: func(string) string { return "" }}
	for _, name := range []string{"uneven-go1.26-p4", "thousand-go1.26-p4", "network-go1.24-p4", "real/annot-go1.26-p4to8"} {
		file := filepath.Join("..", "..", "testdata", "traces", name+".trace.gz")
		results, docs, err := a.documents(t.Context(), []string{file}, readFlags{quiet: true}, rules, false)
		if err != nil {
			t.Fatal(err)
		}
		for _, kept := range []any{results, docs} {
			b, err := json.Marshal(kept)
			if err != nil {
				t.Fatal(err)
			}
			if len(b) > most/2 {
				t.Errorf("%s: %d bytes of a %T are kept, %d allowed", name, len(b), kept, most/2)
			}
		}
	}
}
