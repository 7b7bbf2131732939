package main

import (
	"bytes"
	"strings"
	"testing"
)

type panicking struct{}

func (panicking) Write([]byte) (int, error) { panic("no\npaper") }

// TestPanic: whatever panics in a command, there is one line and an exit code.
func TestPanic(t *testing.T) {
	var stderr bytes.Buffer
	code := run(t.Context(), []string{"version"}, nil, panicking{}, &stderr)
	line := stderr.String()
	if code != exitFailure || strings.Count(line, "\n") != 1 || !strings.HasSuffix(line, "\n") ||
		!strings.HasPrefix(line, "gmpscope: internal error in cmd/gmpscope.panicking.Write (main_test.go:11): no") {
		t.Errorf("exit code %d: %q", code, line)
	}
}
