package main

import (
	"bytes"
	"context"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/gmpscope/gmpscope/internal/testkit/tracetest"
)

// reportOf writes the report of a trace of the repository.
func reportOf(t *testing.T, trace string) string {
	t.Helper()
	file := filepath.Join(t.TempDir(), "report.html")
	var out, errs bytes.Buffer
	if code := run(context.Background(), []string{"report", trace, "-o", file, "--no-fetch"}, nil, &out, &errs); code != exitOK {
		t.Fatalf("exit code %d: %s", code, errs.String())
	}
	return file
}

// TestReportSize bounds the reports of the largest traces of the repository, or of
// those in the folder that TRACES names. Run it with -v.
func TestReportSize(t *testing.T) {
	const maxBytes = 5_000_000
	most := 40 // traces
	if !tracetest.Long() {
		most = 5
	}
	largest, files := int64(0), reportable(t)
	slices.SortFunc(files, func(a, b string) int { return int(fileSize(t, b) - fileSize(t, a)) })
	files = files[:min(len(files), most)]
	for _, file := range files {
		size := fileSize(t, reportOf(t, file))
		largest = max(largest, size)
		if size > maxBytes {
			t.Errorf("%s: %d bytes", filepath.Base(file), size)
		}
	}
	t.Logf("%d reports, the largest of %d bytes", len(files), largest)
}

// reportable returns the traces of the repository that something can be reported
// about, or those in the folder that TRACES names.
func reportable(t *testing.T) (files []string) {
	t.Helper()
	patterns := []string{filepath.Join(traces, "*.trace.gz"), filepath.Join(traces, "*", "*.trace.gz")}
	if dir := os.Getenv("TRACES"); dir != "" {
		patterns = []string{filepath.Join(dir, "*.trace.gz")}
	}
	for _, pattern := range patterns {
		list, err := filepath.Glob(pattern)
		if err != nil {
			t.Fatal(err)
		}
		for _, file := range list {
			if base := filepath.Base(file); base != "empty.trace.gz" && !strings.HasPrefix(base, "header-only") {
				files = append(files, file)
			}
		}
	}
	if len(files) == 0 {
		t.Fatal("no traces")
	}
	return files
}

func fileSize(t *testing.T, file string) int64 {
	t.Helper()
	st, err := os.Stat(file)
	if err != nil {
		t.Fatal(err)
	}
	return st.Size()
}
