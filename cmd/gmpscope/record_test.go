package main

import (
	"bytes"
	"compress/gzip"
	"context"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"
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
	mux.HandleFunc("/cut", func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Length", "100000")
		_, _ = w.Write(trace[:1000])
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
		{[]string{"record", srv.URL + "/hello", "-o", file + "2"}, exitFailure, "no trace"},
		{[]string{"record", srv.URL + "/cut", "-o", file + "2"}, exitFailure, "ended early"},
		{[]string{"record", srv.URL, "-o", "-"}, exitUsage, "needs a file"},
		{[]string{"record", "file:///etc/passwd", "-o", file + "2"}, exitUsage, "no URL"},
		{[]string{"record", "ftp://" + strings.TrimPrefix(srv.URL, "http://"), "-o", file + "2"}, exitFailure, "http"},
		{[]string{"record", srv.URL, "--seconds", "0"}, exitUsage, "1 or more"},
		{[]string{"record"}, exitUsage, "name the URL"},
		{[]string{"record", "--", "ls"}, exitUsage, "only go test"},
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

func TestRecordTests(t *testing.T) {
	if testing.Short() {
		t.Skip("runs go test")
	}
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
	if code := run(context.Background(), []string{"check", "x.trace"}, strings.NewReader(""), &out, &errs); code != exitOK || !strings.HasPrefix(out.String(), "ok: ") {
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
		{"func TestX(t *testing.T) { t.Fail() }", "the tests failed (exit status 1); their trace is x.trace", false},
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
		!strings.Contains(errs.String(), "recording: the tests failed (exit status 1); what trace they wrote went to "+os.DevNull) {
		t.Errorf("to a device: code %d: %s", code, errs.String())
	}
	if left, _ := filepath.Glob(".x.trace*"); len(left) > 0 {
		t.Errorf("left over: %q", left)
	}
}
