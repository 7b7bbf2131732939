package main

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"

	inputs "github.com/gmpscope/gmpscope/internal/testkit/hostile"
)

// TestNamesTheLimit has a sound trace with a generation that is too large for a
// limit of memory: that is said to be the reason, and what came before is reported.
func TestNamesTheLimit(t *testing.T) {
	file := filepath.Join(t.TempDir(), "dense")
	for _, in := range inputs.Inputs() {
		if in.Name == "dense" {
			var b bytes.Buffer
			if err := in.Write(&b, inputs.Full); err != nil {
				t.Fatal(err)
			}
			if err := os.WriteFile(file, b.Bytes(), 0o600); err != nil {
				t.Fatal(err)
			}
		}
	}
	for _, c := range []struct {
		args []string
		said string // "" if all is well
	}{
		{[]string{"analyze", file}, ""},
		{[]string{"analyze", file, "--max-memory", "96MiB"}, "bytes lost at byte 51282: generation 2 "},
		{[]string{"check", file, "--max-memory", "96MiB"}, "bytes lost at byte 51282: generation 2 "},
		{[]string{"analyze", file, "--max-memory", "1GiB"}, ""},
	} {
		var out, errs bytes.Buffer
		code := run(t.Context(), c.args, strings.NewReader(""), &out, &errs)
		if code != exitOK || out.Len() == 0 {
			t.Errorf("%v: exit code %d, %s", c.args, code, &errs)
		}
		said := errs.String()
		if c.said == "" {
			if said != "" {
				t.Errorf("%v: %s", c.args, said)
			}
			continue
		}
		if !strings.Contains(said, c.said) || !strings.Contains(said, "is left out: to decode it takes more memory than the limit of 96 MiB: raise it (--max-memory") || strings.Contains(said, "damaged") {
			t.Errorf("%v: %s", c.args, said)
		}
	}
}
