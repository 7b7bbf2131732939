//go:build unix

package mcptools

import (
	"path/filepath"
	"strings"
	"syscall"
	"testing"
)

// TestPipe has nobody wait for a pipe.
func TestPipe(t *testing.T) {
	dir := t.TempDir()
	if err := syscall.Mkfifo(filepath.Join(dir, "pipe.trace"), 0o600); err != nil {
		t.Fatal(err)
	}
	text, failed := connect(t, dir).call("open", map[string]any{"trace": "pipe.trace"})
	if !failed || !strings.Contains(text, "no regular file") {
		t.Error(text)
	}
}
