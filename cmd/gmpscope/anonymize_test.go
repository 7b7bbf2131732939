package main

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/gmpscope/gmpscope/analyze/wire"
	"github.com/gmpscope/gmpscope/internal/testkit/damage"
	"github.com/gmpscope/gmpscope/internal/testkit/tracetest"
)

// secretWord stands in every name of a secret trace.
const secretWord = "acmeSECRET"

// The ways in which names of a program look like Go's own; %d makes them differ.
var (
	secretFunctions = []string{
		"text/acmeSECRET%d.Run", "internal/acmeSECRET%d.(*T).Run", "crypto/acmeSECRET%d.Run.func1", "vendor/acmeSECRET%d.Run",
		"runtime/acmeSECRET%d.Run", "net/http/acmeSECRET%d.Run", "cmd/acmeSECRET%d.Run", "vendor/example.com/acmeSECRET%d.Run",
		"slices.SortFunc[go.shape.acmeSECRET%d]", "slices.SortFunc[map[string]acmeSECRET%d", "sync/atomic.(*Pointer[acmeSECRET%d.T]).Load",
		"main.acmeSECRET%d", "main.(*acmeSECRET%d).Run-fm", "acmeSECRET%d%%2ego.(*Conn).readLoop", "acmeSECRET%d_test.TestRun", "acmeSECRET%d",
	}
	secretFiles = []string{
		"/home/me/src/sync/acmeSECRET%d/x.go", "/home/acmeSECRET%d/go/src/acme/x.go", `C:\acmeSECRET%d\main.go`, "text/acmeSECRET%d/x.go", "acmeSECRET%d",
	}
)

// secret is a recorded trace of ours in which each text but the names of the
// runtime's own functions holds a word.
func secret(t *testing.T, name string) *damage.Trace {
	t.Helper()
	tr := damage.Parse(tracetest.Recorded(t, name))
	kinds := kinds(tr)
	makeRoom(tr)
	given := map[string]string{} // one function keeps one name in all generations
	tr.Strings(func(old string) string {
		if strings.HasPrefix(old, "runtime.") || old == "main.main" || old == "" {
			return old // so that goroutines still have classes
		}
		s, ok := given[old]
		if !ok {
			n := len(given)
			like := secretFunctions
			switch {
			case kinds[old] == "file", strings.HasSuffix(old, ".go"):
				like = secretFiles
			case kinds[old] != "" && kinds[old] != "function":
				like = []string{"acmeSECRET%d"}
			}
			s = fmt.Sprintf(like[n%len(like)], n)
			given[old] = s
		}
		return s
	})
	return tr
}

// TestAnonymous looks for a word that stands in all names of a trace, in that of
// its file and in that of its folder, in all that the commands write.
func TestAnonymous(t *testing.T) {
	home := filepath.Join(t.TempDir(), secretWord)
	if err := os.Mkdir(home, 0o700); err != nil {
		t.Fatal(err)
	}
	// Where a program began its regions is not where it ends them: the public reader's
	// error says which they are.
	misused := secret(t, "real/annot-go1.26-p4to8")
	misuse(t, misused)
	traces := map[string][]byte{"misused": misused.Bytes()}
	for _, name := range []string{"real/annot-go1.26-p4to8", "network-go1.24-p4", "real/v1-context-go1.21"} {
		traces[filepath.Base(name)] = secret(t, name).Bytes()
	}
	for i, d := range damage.Programs(traces["network-go1.24-p4"]) {
		if !tracetest.Long() && i%8 != 0 {
			continue
		}
		traces["network, "+d.Name] = damage.Apply(traces["network-go1.24-p4"], d.Program)
	}
	rules := filepath.Join(home, "rules")
	if err := os.WriteFile(rules, fmt.Appendf(nil, "classes[main.%[1]s].waits.p99_ns <= 1ns\nclasses[main.%[1]s*].waits.p99_ns <= 1ns\n", secretWord), 0o600); err != nil {
		t.Fatal(err)
	}
	for name, data := range traces {
		t.Run(name, func(t *testing.T) {
			trace := filepath.Join(home, secretWord+".trace")
			if err := os.WriteFile(trace, data, 0o600); err != nil {
				t.Fatal(err)
			}
			dir := t.TempDir()
			t.Chdir(dir)
			for _, args := range [][]string{
				{"analyze", trace},
				{"analyze", trace, "--format", "json", "--timeline"},
				{"export", "bench", trace, "-o", "-"},
				{"export", "openmetrics", trace, "-o", "-"},
				{"report", trace, "--no-fetch"},
				{trace, "--no-fetch"},
				{"dump", trace},
				{"replay", trace},
				{"replay", trace, "--format", "json"},
				{"diff", trace, trace, "-o", "diff.html"},
				{"diff", trace, trace, "--format", "json"},
				{"check", trace, "--fail-on", "note"},
				{"check", trace, trace, "--fail-on", "note", "--format", "json"},
				{"check", trace, "--fail-on", "note", "--format", "junit"},
				{"check", trace, "--fail-on", "note", "--format", "sarif"},
				{"check", trace, "--fail-on", "note", "--format", "github"},
				{"check", trace, "--budget", rules},
				{"check", trace, "--budget", rules, "--format", "json"},
				{"check", trace, "--budget", rules, "--format", "junit"},
				{"check", trace, "--budget", rules, "--format", "sarif"},
				{"check", trace, "--budget", rules, "--format", "github"},
				{"check", trace, "--write-budget", "new.budget"},
				{"export", "pprof", trace, "--all", "-o", "out.pprof"},
				{"export", "perfetto", trace, "-o", "out.perfetto"},
				{"export", "parquet", trace, "-o", "tables"},
			} {
				damaged := strings.HasPrefix(name, "network, ") || name == "misused" && !tracetest.Long()
				if damaged && args[0] != "analyze" && args[0] != "report" {
					continue // the damage shows in the warnings of these
				}
				var out, errs bytes.Buffer
				code := run(context.Background(), append(args, "--anonymize"), nil, &out, &errs)
				if code == exitUsage {
					t.Fatalf("%q: %s", args, errs.String())
				}
				// Errors and warnings are the user's, and name the file as the user does.
				text := map[string]string{"standard output": out.String(), "standard error": strings.ReplaceAll(errs.String(), trace, "TRACE")}
				for _, glob := range []string{"*.*", filepath.Join("tables", "*")} {
					files, err := filepath.Glob(glob)
					if err != nil {
						t.Fatal(err)
					}
					for _, f := range files {
						text[f] = f + string(tracetest.Unpacked(t, f))
						os.Remove(f)
					}
				}
				for where, s := range text {
					s = strings.ToLower(s)
					if i := strings.Index(s, strings.ToLower(secretWord)); i >= 0 && code != exitFailure {
						t.Errorf("%q: %s: %q", args[0], where, s[max(0, i-80):min(len(s), i+80)])
					}
				}
			}
		})
	}
}

// misuse gives the ends of regions other names than their beginnings.
func misuse(t *testing.T, tr *damage.Trace) {
	t.Helper()
	n := 0
	for _, b := range tr.Blocks {
		for i := range b.Events {
			if e := &b.Events[i]; e.Kind == wire.UserRegionEnd && n < 1 {
				e.Args[2]++
				n++
			}
		}
	}
	if n == 0 {
		t.Fatal("the trace has no regions")
	}
}
