package auditlog

import (
	"bytes"
	"os"
	"path/filepath"
	"testing"
)

func TestClosedLogIsComplete(t *testing.T) {
	path := filepath.Join(t.TempDir(), "audit.jsonl")
	l, err := Open(path)
	if err != nil {
		t.Fatal(err)
	}
	for _, target := range []string{"/etc/passwd", "/etc/shadow", "/etc/hosts"} {
		if err := l.Add("mallory", "read", target); err != nil {
			t.Fatal(err)
		}
	}
	if err := l.Close(); err != nil {
		t.Fatal(err)
	}
	data, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if n := bytes.Count(data, []byte("\n")); n != 3 {
		t.Fatalf("the log has %d lines, want 3:\n%s", n, data)
	}
}
