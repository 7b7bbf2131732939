package analyze_test

import (
	"bytes"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/gmpscope/gmpscope/analyze"
	"github.com/gmpscope/gmpscope/internal/testkit/tracetest"
)

func TestFileAndReader(t *testing.T) {
	const file = "../testdata/traces/steal-small-go1.26-p2.trace.gz"
	a, err := analyze.File(t.Context(), file, analyze.Options{})
	if err != nil {
		t.Fatal(err)
	}
	b, err := analyze.Reader(t.Context(), bytes.NewReader(tracetest.Recorded(t, "steal-small-go1.26-p2")), "a recording", analyze.Options{})
	if err != nil {
		t.Fatal(err)
	}
	if a.Trace.Name != file || b.Trace.Name != "a recording" {
		t.Errorf("they are called %q and %q", a.Trace.Name, b.Trace.Name)
	}
	a.Trace.Name, b.Trace.Name, a.Trace.Compression, a.Trace.Stored = "", "", "", b.Trace.Stored // it is unpacked for the reader
	if diff := cmp.Diff(a, b); diff != "" {
		t.Errorf("by name (-), by reader (+):\n%s", diff)
	}
	if _, err := analyze.File(t.Context(), "no such file", analyze.Options{}); err == nil || !strings.Contains(err.Error(), "no such file") {
		t.Errorf("a file that is not there: %v", err)
	}
	if _, err := analyze.Reader(t.Context(), strings.NewReader("text"), "a recording", analyze.Options{}); err == nil || !strings.Contains(err.Error(), "a recording") {
		t.Errorf("no trace: %v", err)
	}
}
