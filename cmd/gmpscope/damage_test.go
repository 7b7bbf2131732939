package main

import (
	"bytes"
	"context"
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/gmpscope/gmpscope/internal/testkit/damage"
	"github.com/gmpscope/gmpscope/internal/testkit/tracetest"
)

// commands are ways to use a trace, and a good one of the same kind. Their order
// is part of the fuzz corpus: append only.
func commands(bad, good, page string) [][]string {
	return [][]string{
		{"analyze", bad},
		{"analyze", bad, "--format", "json", "--timeline"},
		{"report", bad, "-o", page, "--no-fetch"},
		{"dump", bad},
		{"replay", bad},
		{"replay", bad, "--simulate", "--seeds", "1", "--gomaxprocs", "3", "--policy", "fifo", "--format", "json"},
		{"check", bad, "--format", "sarif"},
		{"check", good, "--baseline", bad, "--format", "junit"},
		{"diff", bad, good, "-o", page},
		{"diff", good, bad, "--format", "json"},
		{"analyze", bad, "--reference", "--anonymize"},
		{"export", "pprof", bad, "--all", "-o", page},
		{"export", "perfetto", bad, "-o", page},
		{"export", "parquet", bad, "-o", page},
	}
}

// FuzzCommands gives damaged traces to the commands: each ends, by itself, with
// its output, or with one line that says why not.
func FuzzCommands(f *testing.F) {
	names := []string{"real/v1-context-go1.21", "retake-small-go1.22-p2", "mutex-go1.24-p4", "overflow-go1.25-p1", "gosched-go1.26-p2", "real/cgo-zstd-go1.25-p4"}
	var whole [][]byte
	for _, name := range names {
		whole = append(whole, tracetest.Recorded(f, name))
	}
	for i := range byte(28) {
		f.Add(i, i, []byte(nil))
		f.Add(i, i/2, []byte{i, 0, i, 0, 3 * i, 7, 12, i, 16, 0, 1, 0, 9, 1, 0, 2, 0, 30, 2})
	}
	f.Fuzz(func(t *testing.T, which, command byte, program []byte) {
		if len(program) > 100 {
			return
		}
		dir := t.TempDir()
		good, bad, page := filepath.Join(dir, "good"), filepath.Join(dir, "bad"), filepath.Join(dir, "page.html")
		w := whole[int(which)%len(whole)]
		for name, b := range map[string][]byte{good: w, bad: damage.Apply(w, program)} {
			if err := os.WriteFile(name, b, 0o600); err != nil {
				t.Fatal(err)
			}
		}
		all := commands(bad, good, page)
		args := all[int(command)%len(all)]
		ctx, cancel := context.WithTimeout(t.Context(), 2*time.Minute)
		defer cancel()
		var out, errs bytes.Buffer
		code := run(ctx, args, nil, &out, &errs)
		if ctx.Err() != nil {
			t.Fatalf("%q takes more than two minutes", args)
		}
		_, err := os.Stat(page)
		switch {
		case strings.Contains(errs.String(), "internal error in"):
			t.Fatal(errs.String())
		case code == exitFailure:
			n := strings.Count(errs.String(), "\n") - strings.Count(errs.String(), "gmpscope: warning: ") // of the other trace
			if n != 1 || out.Len() > 0 && args[0] != "dump" || err == nil {
				t.Errorf("%q fails with %d lines on stderr, %d bytes on stdout, page %v:\n%s", args, n, out.Len(), err, errs.String())
			}
		case code == exitOK || code == exitGate && args[0] == "check":
			wantPage := strings.Contains(strings.Join(args, " "), page)
			if wantPage != (err == nil) {
				t.Errorf("%q: page %v", args, err)
			}
			if args[len(args)-1] == "json" && !json.Valid(out.Bytes()) {
				t.Errorf("%q prints no JSON", args)
			}
		default:
			t.Errorf("%q: exit code %d: %s", args, code, errs.String())
		}
		if i := bytes.IndexFunc(out.Bytes(), func(r rune) bool { return r < ' ' && r != '\n' && r != '\t' }); i >= 0 {
			t.Errorf("%q prints a control character at %d", args, i)
		}
	})
}
