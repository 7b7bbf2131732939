// Package tracetest gives tests the bytes of recorded traces.
package tracetest

import (
	"bytes"
	"compress/gzip"
	"io"
	"os"
	"path/filepath"
	"testing"

	"github.com/gmpscope/gmpscope/internal/files"
)

// Recorded returns a trace of testdata/traces as the runtime wrote it. The name is
// its path there, without .trace.gz.
func Recorded(t testing.TB, name string) []byte {
	t.Helper()
	dir, err := os.Getwd()
	if err != nil {
		t.Fatal(err)
	}
	for {
		if _, err := os.Stat(filepath.Join(dir, "testdata", "traces")); err == nil {
			break
		}
		up := filepath.Dir(dir)
		if up == dir {
			t.Fatal("the test does not run within the repository")
		}
		dir = up
	}
	return Unpacked(t, filepath.Join(dir, "testdata", "traces", filepath.FromSlash(name)+".trace.gz"))
}

// Unpacked returns what is in a file, without gzip if there is any.
func Unpacked(t testing.TB, file string) []byte {
	t.Helper()
	data, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	if files.Compression(data) != "gzip" {
		return data
	}
	z, err := gzip.NewReader(bytes.NewReader(data))
	if err != nil {
		t.Fatal(err)
	}
	if data, err = io.ReadAll(z); err != nil {
		t.Fatal(err)
	}
	return data
}
