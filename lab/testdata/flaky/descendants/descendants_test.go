// Package descendants is MikkoParkkola/trvl#533: what a command printed until its timeout must hold what
// its descendants print at once.
package descendants

import (
	"bytes"
	"context"
	"os"
	"os/exec"
	"testing"
	"time"
)

func TestMain(m *testing.M) {
	if os.Getenv("DESCENDANT") != "" {
		for x := 0; x < 20_000_000; x++ {
		}
		os.Stdout.WriteString("ready\n")
		time.Sleep(10 * time.Second)
	}
	os.Exit(m.Run())
}

func TestOutputUntilTimeout(t *testing.T) {
	ctx, cancel := context.WithTimeout(context.Background(), 120*time.Millisecond)
	defer cancel()
	var out bytes.Buffer
	cmd := exec.CommandContext(ctx, os.Args[0])
	cmd.Env, cmd.Stdout, cmd.WaitDelay = append(os.Environ(), "DESCENDANT=1"), &out, time.Second
	cmd.Run()
	if out.String() != "ready\n" {
		t.Fatalf("output until the timeout is %q", out.String())
	}
}
