package main

import (
	"bytes"
	"io/fs"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/gmpscope/gmpscope/internal/testkit/tracetest"
)

// What a command may do once its context is done. TestCancel of package analyze bounds the
// decisions between two looks.
const (
	mostBytesAfter = 1 << 20
	mostLooksAfter = 500
)

// lateOutput counts what is written once a context is done.
type lateOutput struct {
	bytes.Buffer
	ctx   *tracetest.Looks
	after int
	looks bool // a write is a moment to cancel, too
}

func (o *lateOutput) Write(p []byte) (int, error) {
	if o.ctx.Cancelled() {
		o.after += len(p)
	}
	if o.looks {
		o.ctx.Err()
	}
	return o.Buffer.Write(p)
}

// TestCancel cancels each command at many of the moments at which it looks at its context.
// It stops soon, says in a line that it was interrupted, and leaves no file that is not
// complete. What analyze and report know of a trace until then they write.
func TestCancel(t *testing.T) {
	recorded := tracetest.Recorded(t, "real/manygens-io-go1.25-p4")
	srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { w.Write(recorded) }))
	defer srv.Close()
	name := func(trace string) string {
		abs, err := filepath.Abs(filepath.Join(traces, filepath.FromSlash(trace)+".trace.gz"))
		if err != nil {
			t.Fatal(err)
		}
		return abs
	}
	few, some, many := name("retake-small-go1.26-p2"), name("real/flightrec-memberlist-go1.26-p4"), name("real/manygens-io-go1.25-p4")
	if !tracetest.Long() {
		some, many = name("gc-go1.26-p2"), name("real/manygens-io-go1.22-p4") // half as large, and a quarter
	}
	t.Setenv("XDG_CACHE_HOME", t.TempDir())
	for _, args := range [][]string{
		{"analyze", some},
		{"analyze", some, "--format", "json", "--timeline"},
		{"export", "bench", some, "-o", "-"},
		{"export", "openmetrics", some, "-o", "-"},
		{"report", some, "--no-fetch", "-o", "out.html"},
		{"report", some, "--no-fetch", "-o", "-"},
		{"dump", many, "--stacks"},
		{"replay", some},
		{"replay", some, "--format", "json"},
		{"diff", some, few, "-o", "out.html"},
		{"diff", some, few, "--format", "json"},
		{"check", some, few},
		{"check", some, "--format", "json"},
		{"check", some, "--format", "junit"},
		{"check", some, "--format", "sarif"},
		{"check", some, "--format", "github"},
		{"check", some, "--write-budget", "out.budget"},
		{"export", "pprof", some, "-o", "out.pprof"},
		{"export", "perfetto", many, "-o", "-"},
		{"export", "perfetto", some, "-o", "out.perfetto"},
		{"export", "parquet", some, "-o", "tables"},
		{"fleet", some, few, "-o", "out.sum"},
		{"fleet", some, few, "-o", "out.html"},
		{"fleet", some, few, "--format", "json"},
		{"fleet", some, few, "--format", "parquet"},
		{"record", srv.URL, "-o", "out.trace"},
	} {
		t.Run(strings.ReplaceAll(strings.Join(args, " "), filepath.Dir(few), ""), func(t *testing.T) {
			tracetest.EachLook(t, func(ctx *tracetest.Looks) bool {
				t.Chdir(t.TempDir())
				temp := t.TempDir()
				t.Setenv("TMPDIR", temp)
				out, errs := &lateOutput{ctx: ctx, looks: !slices.Contains(args, "-o") || slices.Contains(args, "-")}, &bytes.Buffer{}
				code := run(ctx, args, nil, out, errs)
				left := append(filesIn(t, "."), filesIn(t, temp)...)
				if !ctx.Cancelled() {
					if code == exitFailure || slices.ContainsFunc(strings.Split(errs.String(), "\n"), func(line string) bool {
						return line != "" && !strings.HasPrefix(line, "gmpscope: wrote ")
					}) {
						t.Errorf("never cancelled: exit code %d, %s", code, errs)
					}
					return false
				}
				if code != exitFailure || !strings.HasSuffix(errs.String(), "gmpscope: interrupted\n") {
					t.Errorf("%v: exit code %d, stderr %q", ctx, code, errs)
				}
				if ctx.Late() > mostLooksAfter {
					t.Errorf("%v: looked %d times afterwards", ctx, ctx.Late())
				}
				said := strings.TrimSuffix(errs.String(), "gmpscope: interrupted\n")
				switch {
				case said == "" && out.after > mostBytesAfter:
					t.Errorf("%v: wrote %d bytes afterwards", ctx, out.after)
				case said == "" && args[0] == "diff" && slices.Equal(left, []string{"out.html"}): // the page is complete, the text is not
				case said == "" && len(left) > 0:
					t.Errorf("%v: left %q", ctx, left)
				case said == "":
				case args[0] == "record":
					if !strings.Contains(said, "an incomplete trace") || !slices.Equal(left, []string{"out.trace"}) {
						t.Errorf("%v: %q, left %q", ctx, said, left)
					}
				case args[0] != "analyze" && args[0] != "report" || !strings.HasPrefix(said, "gmpscope: warning: interrupted: this is about the first "):
					t.Errorf("%v: %q", ctx, said)
				case !complete(t, args, out.Bytes()):
					t.Errorf("%v: what is known is not written to its end", ctx)
				}
				return true
			})
		})
	}
}

// complete reports whether the output of a command has its end.
func complete(t *testing.T, args []string, stdout []byte) bool {
	switch {
	case slices.Contains(args, "out.html"):
		page, err := os.ReadFile("out.html")
		return err == nil && bytes.HasSuffix(bytes.TrimSpace(page), []byte("</html>")) && len(stdout) > 0
	case slices.Contains(args, "json"):
		return bytes.HasSuffix(stdout, []byte("\n}\n"))
	case args[0] == "report":
		return bytes.HasSuffix(bytes.TrimSpace(stdout), []byte("</html>"))
	}
	return bytes.HasSuffix(stdout, []byte("\n"))
}

// filesIn returns the files in a folder, and in those in it.
func filesIn(t *testing.T, dir string) (names []string) {
	t.Helper()
	err := fs.WalkDir(os.DirFS(dir), ".", func(name string, d fs.DirEntry, err error) error {
		if err == nil && name != "." {
			names = append(names, name)
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return names
}
