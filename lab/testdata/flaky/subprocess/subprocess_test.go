// Package subprocess is ethereum-optimism/optimism#19587: to wait for the process is not to wait for its output.
package subprocess

import (
	"bytes"
	"os/exec"
	"sync"
	"testing"
)

type buffer struct {
	mu sync.Mutex
	b  bytes.Buffer
}

func (b *buffer) Write(p []byte) (int, error) { b.mu.Lock(); defer b.mu.Unlock(); return b.b.Write(p) }
func (b *buffer) String() string              { b.mu.Lock(); defer b.mu.Unlock(); return b.b.String() }

func TestLogs(t *testing.T) {
	var out buffer
	cmd := exec.Command("sh", "-c", "(sleep 0.01; echo stopped) & exit 0")
	cmd.Stdout = &out
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	cmd.Process.Wait()
	if out.String() != "stopped\n" {
		t.Fatalf("log is %q, want stopped", out.String())
	}
}
