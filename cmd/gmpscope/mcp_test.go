package main

import (
	"bufio"
	"bytes"
	"encoding/json"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/gmpscope/gmpscope/internal/testkit/tracetest"
)

// TestMCP talks to gmpscope mcp by its streams, a line at a time.
func TestMCP(t *testing.T) {
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, "a.trace"), tracetest.Recorded(t, "network-go1.26-p2"), 0o600); err != nil {
		t.Fatal(err)
	}
	stdin, ask := io.Pipe()
	answers, stdout := io.Pipe()
	var stderr bytes.Buffer
	done := make(chan int)
	go func() {
		code := run(t.Context(), []string{"mcp", "--root", dir}, stdin, stdout, &stderr)
		stdout.Close()
		done <- code
	}()
	lines := bufio.NewReader(answers)
	for _, x := range []struct{ request, want string }{
		{`{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-06-18","capabilities":{},"clientInfo":{"name":"test","version":"1"}}}`, `"name":"gmpscope"`},
		{`{"jsonrpc":"2.0","method":"notifications/initialized"}`, ""},
		{`{"jsonrpc":"2.0","id":2,"method":"tools/list"}`, `"name":"verdict"`},
		{`{"jsonrpc":"2.0","id":3,"method":"tools/call","params":{"name":"open","arguments":{"trace":"a.trace"}}}`, `"gomaxprocs":2`},
		{`{"jsonrpc":"2.0","id":4,"method":"tools/call","params":{"name":"open","arguments":{"trace":"../../etc/passwd"}}}`, `"isError":true`},
	} {
		if _, err := io.WriteString(ask, x.request+"\n"); err != nil {
			t.Fatal(err)
		}
		if x.want == "" {
			continue
		}
		line, err := lines.ReadString('\n')
		if err != nil || !json.Valid([]byte(line)) || !strings.Contains(line, x.want) {
			t.Errorf("%s: %v, no %s in %s", x.request, err, x.want, line)
		}
	}
	ask.Close()
	if code := <-done; code != exitOK || stderr.Len() > 0 {
		t.Errorf("exit code %d: %s", code, stderr.String())
	}
}
