package main

import (
	"bytes"
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"net/http/pprof"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// samplesOf returns how many CPU samples a trace has.
func samplesOf(t *testing.T, file string) int64 {
	t.Helper()
	var out, errs bytes.Buffer
	if code := run(t.Context(), []string{"analyze", file, "--format", "json"}, nil, &out, &errs); code != exitOK {
		t.Fatalf("code %d: %s", code, errs.String())
	}
	var doc struct {
		Trace struct {
			Samples int64 `json:"cpu_samples"`
		}
	}
	if err := json.Unmarshal(out.Bytes(), &doc); err != nil {
		t.Fatal(err)
	}
	return doc.Trace.Samples
}

// TestRecordCPUOfProgram records this test, which serves net/http/pprof.
func TestRecordCPUOfProgram(t *testing.T) {
	mux := http.NewServeMux()
	mux.HandleFunc("/debug/pprof/trace", pprof.Trace)
	mux.HandleFunc("/debug/pprof/profile", pprof.Profile)
	mux.HandleFunc("/without/trace", pprof.Trace)
	mux.HandleFunc("/elsewhere", pprof.Trace)
	srv := httptest.NewServer(mux)
	defer srv.Close()
	var stop atomic.Bool
	defer stop.Store(true)
	go func() { // what the profiler's clock goes by
		for !stop.Load() {
		}
	}()

	file := filepath.Join(t.TempDir(), "t.trace")
	for _, c := range []struct {
		path    string
		args    []string
		code    int
		samples bool
		says    string
	}{
		{"", []string{"--seconds=1", "--cpu"}, exitOK, true, ""},
		{"", []string{"--seconds=1"}, exitOK, false, ""},
		{"/without/trace?seconds=1", []string{"--cpu"}, exitOK, false, "gmpscope: warning: no CPU profile could be had, so the trace may have no CPU samples: it answers 404 Not Found\n"},
		{"/nothing/trace", []string{"--cpu"}, exitFailure, false, "404"},
		{"/elsewhere?seconds=1", []string{"--cpu"}, exitUsage, false, "--cpu needs a URL that ends in /trace"},
	} {
		var out, errs bytes.Buffer
		args := append([]string{"record", srv.URL + c.path, "-o", file}, c.args...)
		code := run(t.Context(), args, nil, &out, &errs)
		if code != c.code || !strings.Contains(errs.String(), c.says) || strings.Count(errs.String(), "\n") > 1 && code == exitFailure || c.says == "" && errs.Len() > 0 {
			t.Errorf("%q: code %d, want %d; %s", args, code, c.code, errs.String())
		}
		if code != exitOK {
			continue
		}
		if n := samplesOf(t, file); n > 0 != c.samples {
			t.Errorf("%q: %d CPU samples, want some: %v", args, n, c.samples)
		}
	}
}

func TestRecordCPUOfTests(t *testing.T) {
	dir := t.TempDir()
	for name, text := range map[string]string{
		"go.mod": "module x\n\ngo 1.22\n",
		"x_test.go": `package x

import (
	"testing"
	"time"
)

func TestX(*testing.T) {
	for begin := time.Now(); time.Since(begin) < 500*time.Millisecond; {
	}
}
`,
	} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	t.Chdir(dir)
	var out, errs bytes.Buffer
	if code := run(t.Context(), []string{"record", "--cpu", "-o", "x.trace", "--", "go", "test", "-count=1", "."}, strings.NewReader(""), &out, &errs); code != exitOK {
		t.Fatalf("code %d: %s%s", code, out.String(), errs.String())
	}
	if n := samplesOf(t, "x.trace"); n == 0 {
		t.Error("no CPU samples")
	}
	if left, err := filepath.Glob("*"); err != nil || len(left) != 4 {
		t.Errorf("files %q, want those of before, the trace, and what is beside it; %v", left, err)
	}
}

func TestWithCPUProfile(t *testing.T) {
	for _, c := range []struct{ args, want string }{
		{"go test .", "go test -cpuprofile=DEV -o=DEV ."},
		{"go test -o x.test -run X .", "go test -cpuprofile=DEV -o x.test -run X ."},
		{"go test --o=x.test .", "go test -cpuprofile=DEV --o=x.test ."},
		{"go test -cpuprofile c .", ""},
		{"go test -test.cpuprofile=c .", ""},
	} {
		got, err := withCPUProfile(strings.Fields(c.args))
		if diff := cmp.Diff(strings.Fields(strings.ReplaceAll(c.want, "DEV", os.DevNull)), append([]string{}, got...)); diff != "" || (err != nil) != (c.want == "") {
			t.Errorf("%s: %v\n%s", c.args, err, diff)
		}
	}
}

func TestProfileURL(t *testing.T) {
	for in, want := range map[string]string{
		"http://h:1/debug/pprof/trace?seconds=5":      "http://h:1/debug/pprof/profile?seconds=5",
		"http://u:p@h/x/trace?seconds=0.2&debug=1":    "http://u:p@h/x/profile?seconds=1",
		"https://h/debug/pprof/trace?seconds=nothing": "https://h/debug/pprof/profile?seconds=1",
		"http://h/tracer?seconds=1":                   "",
	} {
		if got, err := profileURL(in); got != want || (err != nil) != (want == "") {
			t.Errorf("%s: %s, want %s; %v", in, got, want, err)
		}
	}
}
