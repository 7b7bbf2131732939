// Package probe is smart-mcp-proxy/mcpproxy-go#1163: a probe by a subprocess has a budget without headroom.
package probe

import (
	"context"
	"os"
	"os/exec"
	"testing"
	"time"
)

func TestMain(m *testing.M) {
	if os.Getenv("PROBE") != "" {
		for x, end := 0, 30_000_000; x < end; x++ {
		}
		os.Exit(0)
	}
	os.Exit(m.Run())
}

func TestAvailable(t *testing.T) {
	ctx, cancel := context.WithTimeout(context.Background(), 120*time.Millisecond)
	defer cancel()
	cmd := exec.CommandContext(ctx, os.Args[0])
	cmd.Env = append(os.Environ(), "PROBE=1")
	if err := cmd.Run(); err != nil {
		t.Fatalf("not available within 120ms: %v", err)
	}
}
