package main

import (
	"bytes"
	"compress/gzip"
	"context"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/gmpscope/gmpscope/fleet"
	"github.com/gmpscope/gmpscope/internal/testkit/tracetest"
)

func TestRecordURL(t *testing.T) {
	zipped, err := os.ReadFile("../../testdata/traces/steal-small-go1.26-p2.trace.gz")
	if err != nil {
		t.Fatal(err)
	}
	zr, err := gzip.NewReader(bytes.NewReader(zipped))
	if err != nil {
		t.Fatal(err)
	}
	trace, err := io.ReadAll(zr)
	if err != nil {
		t.Fatal(err)
	}
	mux := http.NewServeMux()
	mux.HandleFunc("/debug/pprof/trace", func(w http.ResponseWriter, r *http.Request) {
		if r.FormValue("seconds") != "3" {
			http.Error(w, "how long?", http.StatusBadRequest)
			return
		}
		_, _ = w.Write(trace)
	})
	mux.HandleFunc("/hello", func(w http.ResponseWriter, _ *http.Request) { _, _ = io.WriteString(w, "hello world") })
	srv := httptest.NewServer(mux)
	defer srv.Close()

	file := filepath.Join(t.TempDir(), "t.trace")
	for _, c := range []struct {
		args []string
		code int
		says string
	}{
		{[]string{"record", srv.URL, "--seconds", "3", "-o", file}, exitOK, "bytes"},
		{[]string{"record", srv.URL + "/debug/pprof/trace?seconds=3", "-o", file}, exitOK, "bytes"},
		{[]string{"record", srv.URL, "-o", file}, exitFailure, "400"},
		{[]string{"record", srv.URL + "/hello", "-o", file + "2"}, exitFailure, "not a Go execution trace"},
		{[]string{"record", srv.URL, "-o", "-"}, exitUsage, "needs a file"},
		{[]string{"record", "file:///etc/passwd", "-o", file + "2"}, exitUsage, "no URL"},
		{[]string{"record", "ftp://" + strings.TrimPrefix(srv.URL, "http://"), "-o", file + "2"}, exitFailure, "http"},
		{[]string{"record", srv.URL, "--seconds", "0"}, exitUsage, "1 or more"},
		{[]string{"record"}, exitUsage, "name the URL"},
		{[]string{"record", "ls"}, exitUsage, "ls is no URL, such as http://host:port: put -- before a command"},
		{[]string{"record", "--", "go", "test", "-trace=x"}, exitUsage, "-trace already"},
	} {
		var out, errs bytes.Buffer
		if code := run(context.Background(), c.args, strings.NewReader(""), &out, &errs); code != c.code || !strings.Contains(out.String()+errs.String(), c.says) {
			t.Errorf("%q: code %d, want %d, %q\n%s%s", c.args, code, c.code, c.says, out.String(), errs.String())
		}
	}
	if got, err := os.ReadFile(file); err != nil || !bytes.Equal(got, trace) {
		t.Errorf("the file is not what the server gave: %d bytes, %v", len(got), err)
	}
	if _, err := os.Stat(file + "2"); err == nil {
		t.Error("a failed recording left a file under its name")
	}
}

// What a program sent of a trace is kept, however it ended, and the command
// fails; the file that was there stays unless a whole trace came.
func TestRecordCut(t *testing.T) {
	trace := tracetest.Recorded(t, "uneven-go1.26-p4")
	packed, err := os.ReadFile(filepath.Join(traces, "uneven-go1.26-p4.trace.gz"))
	if err != nil {
		t.Fatal(err)
	}
	page := "<html>log in"
	var pagePacked bytes.Buffer
	z := gzip.NewWriter(&pagePacked)
	if _, err := io.WriteString(z, page); err != nil || z.Close() != nil {
		t.Fatal(err)
	}
	half := trace[:len(trace)/2]
	mux := http.NewServeMux()
	mux.HandleFunc("/length", func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Length", "10000000")
		w.Write(half)
	})
	mux.HandleFunc("/dies", func(w http.ResponseWriter, _ *http.Request) {
		w.Write(half)
		w.(http.Flusher).Flush()
		panic(http.ErrAbortHandler)
	})
	mux.HandleFunc("/endless", func(w http.ResponseWriter, r *http.Request) {
		for r.Context().Err() == nil {
			w.Write(trace)
		}
	})
	mux.HandleFunc("/gzip", func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Encoding", "gzip")
		w.Write(packed)
	})
	mux.HandleFunc("/ends", func(w http.ResponseWriter, _ *http.Request) { w.Write(half) })
	mux.HandleFunc("/page", func(w http.ResponseWriter, _ *http.Request) { w.Write(pagePacked.Bytes()) })
	srv := httptest.NewServer(mux)
	defer srv.Close()
	dir := t.TempDir()
	file, part := filepath.Join(dir, "t.trace"), filepath.Join(dir, "t.part.trace")
	for _, c := range []struct {
		path string
		code int
		says string
		part []byte // beside what was there
	}{
		{"/length", exitFailure, fmt.Sprintf("gmpscope: recording %s/length?seconds=5: the connection ended early: kept the %d bytes that came in ", srv.URL, len(half)), half},
		{"/dies", exitFailure, fmt.Sprintf("gmpscope: recording %s/dies?seconds=5: the connection ended early: kept the %d bytes that came in ", srv.URL, len(half)), half},
		{"/ends", exitFailure, fmt.Sprintf("gmpscope: recording %s/ends?seconds=5: the answer ends early: kept the %d bytes that came in ", srv.URL, len(half)), half},
		{"/endless", exitFailure, "gmpscope: recording: the answer is larger than the limit of --max-size 10000B: kept the first 10000 bytes in ", trace[:10000]},
		{"/gzip", exitOK, "", nil},
		{"/page", exitFailure, "but an HTML page", nil},
	} {
		if err := os.WriteFile(file, []byte("before"), 0o600); err != nil {
			t.Fatal(err)
		}
		want := []byte("before")
		if c.path == "/gzip" {
			want = packed
		}
		if c.part != nil {
			c.says += part + ", an incomplete trace; " + file + " is what it was\n"
		}
		var out, errs bytes.Buffer
		args := []string{"record", srv.URL + c.path, "-o", file, "--max-size", "10kB"}
		if c.path != "/endless" {
			args = args[:4]
		}
		if code := run(t.Context(), args, nil, &out, &errs); code != c.code || !strings.Contains(errs.String(), c.says) || strings.Count(errs.String(), "\n") > 1 {
			t.Errorf("%s: code %d, stderr %q, want %q", c.path, code, errs.String(), c.says)
		}
		if got, err := os.ReadFile(file); err != nil || !bytes.Equal(got, want) {
			t.Errorf("%s: the file has %d bytes, want %d; %v", c.path, len(got), len(want), err)
		}
		if got, _ := os.ReadFile(part); !bytes.Equal(got, c.part) {
			t.Errorf("%s: the part has %d bytes, want %d", c.path, len(got), len(c.part))
		}
		os.Remove(part)
		os.Remove(part + ".meta.json")
		if c.path != "/gzip" {
			continue
		}
		errs.Reset()
		if code := run(t.Context(), []string{"analyze", file}, nil, &out, &errs); code != exitOK {
			t.Errorf("%s: analyze: code %d, %s", c.path, code, errs.String())
		}
	}
	if files, err := os.ReadDir(filepath.Dir(file)); err != nil || len(files) != 2 {
		t.Errorf("left behind: %v, %v", files, err)
	}
}

// A whole trace of any format may replace another, and no part.
func TestWholeTrace(t *testing.T) {
	names, err := fleet.Find([]string{filepath.Join(traces, "*.trace.gz"), filepath.Join(traces, "real", "v1-*")})
	if err != nil {
		t.Fatal(err)
	}
	formats := 0
	for _, format := range []string{"1.27", "1.26", "1.25", "1.22", "1.21"} {
		i := slices.IndexFunc(names, func(name string) bool { return strings.Contains(name, "go"+format) })
		if i < 0 {
			continue
		}
		if formats++; !wholeTrace(names[i]) {
			t.Errorf("%s is taken for a part", names[i])
		}
	}
	if formats < 4 {
		t.Errorf("there are traces of %d formats only", formats)
	}
	whole := tracetest.Recorded(t, "uneven-go1.26-p4")
	file := filepath.Join(t.TempDir(), "t.trace")
	for _, n := range []int{0, 16, 20, len(whole) / 2, len(whole) - 1} {
		if err := os.WriteFile(file, whole[:n], 0o600); err != nil {
			t.Fatal(err)
		}
		if wholeTrace(file) {
			t.Errorf("%d of %d bytes are taken for a whole trace", n, len(whole))
		}
	}
}

// A program that does not end its trace gets as much time as it may need.
func TestRecordLimit(t *testing.T) {
	for raw, want := range map[string]time.Duration{
		"http://h":                       35 * time.Second,
		"http://h/x?seconds=1":           31 * time.Second,
		"http://h/x?seconds=0.5":         30*time.Second + time.Second/2,
		"http://h/x?seconds=90":          3 * time.Minute,
		"http://h/x?seconds=0":           31 * time.Second, // which net/http/pprof takes for 1
		"http://h/x?seconds=-5":          31 * time.Second,
		"http://h/x?seconds=NaN":         31 * time.Second,
		"http://h/x?seconds=x":           31 * time.Second,
		"http://h/x?seconds=1e300":       2_000_000 * time.Second,
		"http://h/x?seconds=2&seconds=9": 32 * time.Second,
	} {
		if _, got, err := traceURL(raw, 5); err != nil || got != want {
			t.Errorf("%s: %v, want %v; %v", raw, got, want, err)
		}
	}
	trace := tracetest.Recorded(t, "uneven-go1.26-p4")
	ctx, cancel := context.WithCancelCause(t.Context())
	srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Write(trace)
		for range 512 { // more than a connection holds: some was received
			w.Write(make([]byte, 1<<16))
		}
		cancel(tooLong(31 * time.Second))
		<-r.Context().Done()
	}))
	defer srv.Close()
	var out, errs bytes.Buffer
	a := &app{stdout: &out, stderr: &errs, getenv: os.Getenv}
	file := filepath.Join(t.TempDir(), "t.trace")
	err := a.recordURL(expired{ctx}, srv.URL, recording{output: file, maxSize: defaultMaxSize, quiet: true})
	got, readErr := os.ReadFile(file)
	if err == nil || readErr != nil || !strings.Contains(err.Error(), fmt.Sprintf("the program did not end the trace within 31s: kept the %d bytes that came in %s, an incomplete trace", len(got), file)) || !bytes.HasPrefix(got, trace) {
		t.Errorf("%d bytes; %v; %v", len(got), err, readErr)
	}
}

// expired is a context whose end counts as a deadline's.
type expired struct{ context.Context }

func (e expired) Err() error {
	if e.Context.Err() != nil {
		return context.DeadlineExceeded
	}
	return nil
}

func TestRecordTests(t *testing.T) {
	dir := t.TempDir()
	for name, text := range map[string]string{
		"go.mod":    "module x\n\ngo 1.22\n",
		"x_test.go": "package x\n\nimport \"testing\"\n\nfunc TestX(*testing.T) {}\n",
	} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	t.Chdir(dir)
	var out, errs bytes.Buffer
	if code := run(context.Background(), []string{"record", "-o", "x.trace", "--", "go", "test", "-count=1", "."}, strings.NewReader(""), &out, &errs); code != exitOK {
		t.Fatalf("code %d: %s%s", code, out.String(), errs.String())
	}
	out.Reset()
	// What is found in it depends on what else the machine did.
	if code := run(context.Background(), []string{"check", "x.trace", "--fail-on", "none"}, strings.NewReader(""), &out, &errs); code != exitOK || !strings.HasPrefix(out.String(), "ok: ") {
		t.Errorf("code %d: %s%s", code, out.String(), errs.String())
	}

	// A test that fails has a trace too; one that does not compile leaves what was there.
	was, err := os.ReadFile("x.trace")
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		test, says string
		keeps      bool // the trace that was there
	}{
		{"func TestX(t *testing.T) { t.Fail() }", "the tests failed (exit status 1); the trace is x.trace", false},
		{"func TestX(t *testing.T) { nothing }", "failed (exit status 1) and wrote no trace", true},
	} {
		if err := os.WriteFile("x.trace", was, 0o644); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile("x_test.go", []byte("package x\n\nimport \"testing\"\n\n"+c.test+"\n"), 0o644); err != nil {
			t.Fatal(err)
		}
		errs.Reset()
		if code := run(context.Background(), []string{"record", "-o", "x.trace", "--", "go", "test", "-count=1", "."}, strings.NewReader(""), &out, &errs); code != exitFailure || !strings.Contains(errs.String(), c.says) {
			t.Errorf("%s: code %d, want %q in\n%s", c.test, code, c.says, errs.String())
		}
		if now, err := os.ReadFile("x.trace"); err != nil || bytes.Equal(now, was) != c.keeps {
			t.Errorf("%s: the trace that was there is kept: %v, want %v; %v", c.test, !c.keeps, c.keeps, err)
		}
	}
	errs.Reset()
	if code := run(context.Background(), []string{"record", "-o", os.DevNull, "--", "go", "test", "-count=1", "."}, strings.NewReader(""), &out, &errs); code != exitFailure ||
		!strings.Contains(errs.String(), "recording: the tests failed (exit status 1); what trace there is went to "+os.DevNull) {
		t.Errorf("to a device: code %d: %s", code, errs.String())
	}
	if left, _ := filepath.Glob(".x.trace*"); len(left) > 0 {
		t.Errorf("left over: %q", left)
	}
}
