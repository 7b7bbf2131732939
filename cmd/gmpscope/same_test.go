package main

import (
	"bytes"
	"context"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"testing"

	"github.com/gmpscope/gmpscope/internal/testkit/tracetest"
)

// TestSameBytes: what every command writes does not depend on how many threads
// there are, nor on how many generations are decoded at once.
func TestSameBytes(t *testing.T) {
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(0))
	many := filepath.Join(traces, "real", "manygens-io-go1.25-p4.trace.gz")
	small, other := filepath.Join(traces, "uneven-go1.26-p4.trace.gz"), filepath.Join(traces, "uneven-go1.26-p2.trace.gz")
	lost := filepath.Join(t.TempDir(), "lost.trace") // a part of it, in the middle
	whole := tracetest.Recorded(t, "real/manygens-io-go1.26-p4")
	if err := os.WriteFile(lost, slices.Delete(whole, len(whole)/2, len(whole)/2+len(whole)/8), 0o600); err != nil {
		t.Fatal(err)
	}
	page := filepath.Join(t.TempDir(), "page.html")
	for _, args := range [][]string{
		{"dump", many},
		{"report", many, "-o", page, "--no-fetch"},
		{"analyze", small, "--format", "json", "--timeline", "--reference"},
		{"replay", small, "--simulate", "--seeds", "3", "--gomaxprocs", "2", "--policy", "fifo", "--format", "json"},
		{"diff", small, other, "-o", page, "--format", "json"},
		{"check", small, other, "--format", "sarif"},
		{"analyze", many, "--max-memory", "100MiB"},
		{"analyze", many, "--format", "json", "--timeline"},
		{"analyze", filepath.Join(traces, "real", "v1-context-go1.21.trace.gz"), "--format", "json", "--timeline"},
		{"analyze", lost, "--format", "json", "--timeline"},
		{"export", "pprof", many, "-o", page},
		{"export", "perfetto", lost, "-o", page},
	} {
		if !tracetest.Long() && slices.Contains(args, many) {
			continue
		}
		t.Run(args[0]+" "+filepath.Base(args[1]), func(t *testing.T) {
			var first []byte
			for _, n := range []struct {
				procs   int
				workers string
			}{{1, "1"}, {2, "0"}, {8, "2"}, {1, "4"}, {8, "8"}} {
				runtime.GOMAXPROCS(n.procs)
				os.Remove(page)
				var out, errs bytes.Buffer
				if code := run(context.Background(), append(args[:len(args):len(args)], "--workers", n.workers), nil, &out, &errs); code != exitOK && code != exitGate {
					t.Fatalf("exit code %d: %s", code, errs.String())
				}
				html, err := os.ReadFile(page)
				if err != nil && !os.IsNotExist(err) {
					t.Fatal(err)
				}
				got := append(append(out.Bytes(), errs.Bytes()...), html...)
				if first == nil {
					first = got
				} else if !bytes.Equal(first, got) {
					t.Errorf("GOMAXPROCS %d and %s workers give other bytes than 1 and 1", n.procs, n.workers)
				}
			}
		})
	}
}
