package main

import (
	"bytes"
	"compress/gzip"
	"context"
	"flag"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/rogpeppe/go-internal/testscript"

	"github.com/gmpscope/gmpscope/internal/files"
)

// traces is the folder of the repository's traces.
var traces = filepath.Join("..", "..", "testdata", "traces")

var update = flag.Bool("update", false, "rewrite the golden files")

func TestMain(m *testing.M) {
	testscript.Main(m, map[string]func(){
		"gmpscope": func() { main() },
		"stuck":    func() { stuck() },
	})
}

// stuck is a program that begins an output and a temporary folder, and heeds no signal.
func stuck() {
	ctx := interruptible(signals())
	if _, err := files.Create(ctx, "-o", "out"); err != nil {
		panic(err)
	}
	if _, err := files.TempFolder("folder-"); err != nil {
		panic(err)
	}
	fmt.Println("begun")
	<-ctx.Done()
	fmt.Println("interrupted")
	select {}
}

func TestScripts(t *testing.T) {
	goCache := os.Getenv("GOCACHE")
	if dir, err := os.UserCacheDir(); goCache == "" && err == nil {
		goCache = filepath.Join(dir, "go-build") // what the packages need is built already
	}
	abs, err := filepath.Abs(traces)
	if err != nil {
		t.Fatal(err)
	}
	testscript.Run(t, testscript.Params{
		Dir:                 filepath.Join("testdata", "script"),
		UpdateScripts:       *update,
		RequireExplicitExec: true,
		RequireUniqueNames:  true,
		Setup: func(e *testscript.Env) error {
			e.Setenv("TRACES", abs)
			e.Setenv("KERNEL", filepath.Join(abs, "..", "kernel"))
			e.Setenv("FLEET", filepath.Join(abs, "..", "..", "fleet", "testdata"))
			// No fetch may leave this machine, whatever a script does.
			e.Setenv("HTTPS_PROXY", "http://127.0.0.1:1")
			e.Setenv("HTTP_PROXY", "http://127.0.0.1:1")
			e.Setenv("XDG_CACHE_HOME", filepath.Join(e.WorkDir, "cache"))
			e.Setenv("GOCACHE", goCache)
			return nil
		},
		Cmds: map[string]func(*testscript.TestScript, bool, []string){
			"gunzip":  gunzip,
			"head":    head,
			"lines":   lines,
			"offline": offline,
		},
	})
}

// gunzip FROM TO unpacks a file.
func gunzip(ts *testscript.TestScript, _ bool, args []string) {
	f, err := os.Open(ts.MkAbs(args[0]))
	ts.Check(err)
	defer f.Close()
	z, err := gzip.NewReader(f)
	ts.Check(err)
	b, err := io.ReadAll(z)
	ts.Check(err)
	ts.Check(os.WriteFile(ts.MkAbs(args[1]), b, 0o644))
}

// head N FILE keeps the first N bytes of a file.
func head(ts *testscript.TestScript, _ bool, args []string) {
	n, err := strconv.ParseInt(args[0], 10, 64)
	ts.Check(err)
	ts.Check(os.Truncate(ts.MkAbs(args[1]), n))
}

// lines N FILE wants a file, stdout or stderr to have N lines.
func lines(ts *testscript.TestScript, _ bool, args []string) {
	if got := strings.Count(ts.ReadFile(args[1]), "\n"); fmt.Sprint(got) != args[0] {
		ts.Fatalf("%s has %d lines, want %s", args[1], got, args[0])
	}
}

// foreign finds what would make a browser ask for another file.
var foreign = regexp.MustCompile(`(?i)<(?:link|iframe|object|embed|base|form)\b[^>]*>|<[a-z]+\b[^>]*\s(?:src|srcset|action|data|poster)\s*=\s*["']?(?:[a-z]+:|//)[^>]*>|@import\b|url\(\s*["']?(?:https?:|//)`)

// offline FILE wants a page without any reference to something outside it.
func offline(ts *testscript.TestScript, _ bool, args []string) {
	page := ts.ReadFile(args[0])
	// Scripts are forbidden to load anything by the page's policy.
	markup := regexp.MustCompile(`(?s)<script\b.*?</script>`).ReplaceAllString(page, "")
	for _, s := range foreign.FindAllString(markup, -1) {
		if !strings.Contains(s, "data:") {
			ts.Fatalf("%s refers to something outside: %.200s", args[0], s)
		}
	}
	if !strings.Contains(page, "default-src &#39;none&#39;") && !strings.Contains(page, "default-src 'none'") {
		ts.Fatalf("%s has no policy that forbids requests", args[0])
	}
}

// TestText compares the text about small traces, in which everything can be
// checked by hand, with golden files.
func TestText(t *testing.T) {
	for _, name := range []string{"steal-small-go1.26-p2", "preempt-small-go1.26-p1", "retake-small-go1.26-p2"} {
		t.Run(name, func(t *testing.T) {
			var out, errs bytes.Buffer
			file := filepath.ToSlash(filepath.Join(traces, name+".trace.gz"))
			if code := run(context.Background(), []string{"analyze", file}, nil, &out, &errs); code != exitOK {
				t.Fatalf("exit code %d: %s", code, errs.String())
			}
			golden := filepath.Join("testdata", "golden", name+".txt")
			if *update {
				if err := os.MkdirAll(filepath.Dir(golden), 0o755); err != nil {
					t.Fatal(err)
				}
				if err := os.WriteFile(golden, out.Bytes(), 0o644); err != nil {
					t.Fatal(err)
				}
				return
			}
			want, err := os.ReadFile(golden)
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(string(want), out.String()); diff != "" {
				t.Errorf("%s (-update rewrites it):\n%s", golden, diff)
			}
		})
	}
}

// TestInterrupt ends a report in the middle: exit code 1, one line, no file.
func TestInterrupt(t *testing.T) {
	dir := t.TempDir()
	ctx, cancel := context.WithCancel(context.Background())
	pr, pw := io.Pipe() // never ends
	defer pw.Close()
	go func() {
		pw.Write([]byte("go 1.26 trace\x00\x00\x00"))
		cancel()
	}()
	var out, errs bytes.Buffer
	code := run(ctx, []string{"report", "-", "-o", filepath.Join(dir, "x.html"), "--no-fetch"}, pr, &out, &errs)
	if code != exitFailure || errs.String() != "gmpscope: interrupted\n" || out.Len() > 0 {
		t.Errorf("exit code %d, stdout %q, stderr %q", code, out.String(), errs.String())
	}
	files, err := os.ReadDir(dir)
	if err != nil || len(files) > 0 {
		t.Errorf("left behind: %v, %v", files, err)
	}
}

// TestBrokenPipe writes to somebody who does not listen any more.
func TestBrokenPipe(t *testing.T) {
	pr, pw, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	pr.Close()
	defer pw.Close()
	var errs bytes.Buffer
	code := run(context.Background(), []string{"dump", filepath.Join(traces, "uneven-go1.26-p4.trace.gz")}, nil, pw, &errs)
	if code != exitFailure || errs.Len() > 0 {
		t.Errorf("exit code %d, stderr %q", code, errs.String())
	}
}

func TestReportName(t *testing.T) {
	for in, want := range map[string]string{
		"trace.out":                  "trace.html",
		"dir/uneven-go1.26.trace.gz": "uneven-go1.26.html",
		"x.zst":                      "x.html",
		"-":                          "trace.html",
		".gz":                        ".gz.html",
		"http://localhost:6060/debug/pprof/trace?seconds=5": "trace.html",
		"http://localhost:6060/":                            "trace.html",
	} {
		if got := reportName(in); got != want {
			t.Errorf("reportName(%q) = %q, want %q", in, got, want)
		}
	}
}

// TestCommands keeps every command documented.
func TestCommands(t *testing.T) {
	a := &app{getenv: os.Getenv}
	var names []string
	for _, c := range a.root().Commands() {
		if c.Hidden {
			continue
		}
		names = append(names, c.Name())
		if c.Short == "" {
			t.Errorf("%s has no description", c.Name())
		}
		if c.Example == "" && c.Name() != "version" {
			t.Errorf("%s has no example", c.Name())
		}
	}
	for _, want := range []string{"analyze", "dump", "explain", "report", "version"} {
		if !slices.Contains(names, want) {
			t.Errorf("there is no command %s", want)
		}
	}
}
