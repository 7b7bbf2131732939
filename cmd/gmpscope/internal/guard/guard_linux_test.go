package guard

import (
	"bufio"
	"bytes"
	"fmt"
	"os"
	"os/exec"
	"os/signal"
	"strings"
	"syscall"
	"testing"
	"testing/fstest"
)

// kept is what a growing program keeps from the collector.
var kept [][]byte

// TestMain is the guarded program where an argument says what it does.
func TestMain(m *testing.M) {
	if len(os.Args) < 3 || os.Args[1] != "guarded" {
		os.Exit(m.Run())
	}
	signals := make(chan os.Signal, 2)
	signal.Notify(signals, os.Interrupt, syscall.SIGTERM)
	code, err := Run(signals, func(signals <-chan os.Signal, stderr *os.File) int {
		fmt.Println("begun")
		switch os.Args[2] {
		case "grow":
			for {
				kept = append(kept, make([]byte, 64<<20))
			}
		case "panic":
			go panic("a mistake")
			select {}
		case "kill":
			_ = syscall.Kill(os.Getpid(), syscall.SIGKILL)
			select {}
		case "signals":
			for range 2 {
				fmt.Println(<-signals)
			}
		case "usage":
			fmt.Fprintln(stderr, "wrong")
			return 2
		}
		return 0
	})
	if err != nil {
		fmt.Fprintln(os.Stderr, "FAILED:", err)
		code = 1
	}
	os.Exit(code)
}

// guarded is that program with 4 GB of address space.
func guarded(t *testing.T, does string) (cmd *exec.Cmd, stderr *bytes.Buffer) {
	t.Helper()
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	cmd, stderr = exec.Command("sh", "-c", `ulimit -v 4000000 && exec "$0" guarded "$1"`, self, does), new(bytes.Buffer)
	cmd.Stderr = stderr
	return cmd, stderr
}

func needsLimit(t *testing.T) {
	t.Helper()
	if cmd, _ := guarded(t, "nothing"); cmd.Run() != nil {
		t.Skip("a program that is built like this one does not begin with 4 GB of address space")
	}
}

func TestOutcome(t *testing.T) {
	needsLimit(t)
	const limit = "ulimit -v allows 3906 MiB of address space: raise that, or use a lower --max-memory\n"
	for _, c := range []struct {
		does, stderr string
		code         int
	}{
		{"nothing", "", 0},
		{"usage", "wrong\n", 2},
		{"grow", "FAILED: out of memory: " + limit, 1},
		{"kill", "FAILED: killed, as the kernel does when memory runs out: " + limit, 1},
		{"panic", "panic: a mistake\n*FAILED: the program crashed; the lines above say where: please report them\n", 1},
	} {
		cmd, stderr := guarded(t, c.does)
		_ = cmd.Run()
		from, to, _ := strings.Cut(c.stderr, "*")
		s := stderr.String()
		if cmd.ProcessState.ExitCode() != c.code || !strings.HasPrefix(s, from) || !strings.HasSuffix(s, to) || to == "" && s != from {
			t.Errorf("%s: %v, want exit code %d; stderr %q", c.does, cmd.ProcessState, c.code, s)
		}
	}
}

// TestSignals: each signal that the parent gets is one for the work.
func TestSignals(t *testing.T) {
	needsLimit(t)
	cmd, stderr := guarded(t, "signals")
	stdout, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	lines := bufio.NewScanner(stdout)
	var got []string
	for _, s := range []os.Signal{syscall.SIGTERM, os.Interrupt, nil} {
		if !lines.Scan() {
			t.Fatalf("it ended after %q: %s", got, stderr)
		}
		got = append(got, lines.Text())
		if s != nil {
			if err := cmd.Process.Signal(s); err != nil {
				t.Fatal(err)
			}
		}
	}
	if err := cmd.Wait(); err != nil || strings.Join(got, ",") != "begun,terminated,interrupt" {
		t.Errorf("%q, %v: %s", got, err, stderr)
	}
}

// TestParentKilled: the work is told twice to end, and does.
func TestParentKilled(t *testing.T) {
	needsLimit(t)
	cmd, stderr := guarded(t, "signals")
	stdout, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	lines := bufio.NewScanner(stdout)
	lines.Scan()
	if err := cmd.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	n := 0
	for lines.Scan() { // until the child has closed it
		n++
	}
	_ = cmd.Wait()
	if n != 2 {
		t.Errorf("the child was told %d times: %s", n, stderr)
	}
}

func TestStrictOvercommit(t *testing.T) {
	for mode, limited := range map[string]bool{"0\n": false, "1\n": false, "2\n": true} {
		root := fstest.MapFS{"proc/sys/vm/overcommit_memory": {Data: []byte(mode)}}
		if got := limit(root); (got != "") != limited && !strings.Contains(got, "ulimit") {
			t.Errorf("mode %q: %q", mode, got)
		}
	}
}
