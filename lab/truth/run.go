package truth

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"os/exec"
	"strconv"
	"strings"
	"time"
)

// A Recipe reports what to record.
type Recipe struct {
	Go string // release, like "1.26.8"
	// Workload is the name of a workload or a real program; or "test:PKG", the
	// tests of a package of the standard library; or "mod:MODULE@VERSION/PKG",
	// the tests of any package.
	Workload string
	Procs    int // GOMAXPROCS
	Seed     int // chooses the parameters of a workload; tests have none
	Scale    float64
	Env      []string // added to the environment, as in GODEBUG=…
	Args     []string // for tests: arguments of the test program
}

// Name is the stem of the recipe's files.
func (r Recipe) Name() string {
	w := strings.NewReplacer(":", "-", "/", "-").Replace(r.Workload)
	return fmt.Sprintf("%s-go%s-p%d", w, r.Go, r.Procs)
}

// Run executes a program as the recipe says. It writes the trace and the binary
// recording to the named files.
func Run(ctx context.Context, p Program, r Recipe, traceFile, recordFile string) error {
	ctx, cancel := context.WithTimeout(ctx, 2*time.Minute)
	defer cancel()
	cmd := exec.CommandContext(ctx, p.Path, p.args(traceFile)...)
	cmd.Dir = p.Dir
	cmd.Env = append(os.Environ(), "GOMAXPROCS="+strconv.Itoa(r.Procs), envFile+"="+recordFile)
	cmd.Env = append(cmd.Env, r.Env...)
	var out bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &out
	if err := cmd.Run(); err != nil {
		// What failed is said at the end.
		text := out.Bytes()
		return fmt.Errorf("running %s: %w\n%s", r.Name(), err, text[max(0, len(text)-2000):])
	}
	return nil
}
