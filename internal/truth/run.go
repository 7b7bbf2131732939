package truth

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"time"
)

// A Recipe says what to record.
type Recipe struct {
	Go       string // release, like "1.26.8"
	Workload string // name of a workload, or "test:PKG" for a package of the standard library
	Procs    int    // GOMAXPROCS
	Seed     int    // chooses the parameters of the workload
	Scale    float64
	Env      []string // added to the environment, as in GODEBUG=…
	Args     []string // for "test:PKG": arguments of the test program
}

// Name is the stem of the recipe's files.
func (r Recipe) Name() string {
	w := []byte(r.Workload)
	for i, c := range w {
		if c == ':' || c == '/' {
			w[i] = '-'
		}
	}
	return fmt.Sprintf("%s-go%s-p%d", w, r.Go, r.Procs)
}

// Run executes the program bin as the recipe says. It writes the trace and the
// binary recording to the named files.
func Run(ctx context.Context, bin string, r Recipe, traceFile, recordFile string) error {
	ctx, cancel := context.WithTimeout(ctx, 2*time.Minute)
	defer cancel()
	args := []string{
		"-trace", traceFile, "-workload", r.Workload,
		"-seed", strconv.Itoa(r.Seed), "-scale", strconv.FormatFloat(r.Scale, 'g', -1, 64),
	}
	dir := ""
	if pkg, ok := r.testPackage(); ok {
		args = append([]string{"-test.trace", traceFile, "-test.timeout", "100s"}, r.Args...)
		// Tests look for their testdata in the package's folder.
		goroot, err := goroot(ctx, r.Go)
		if err != nil {
			return err
		}
		dir = filepath.Join(goroot, "src", pkg)
	}
	cmd := exec.CommandContext(ctx, bin, args...)
	cmd.Dir = dir
	cmd.Env = append(os.Environ(), "GOMAXPROCS="+strconv.Itoa(r.Procs), envFile+"="+recordFile)
	cmd.Env = append(cmd.Env, r.Env...)
	var out bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &out
	if err := cmd.Run(); err != nil {
		return fmt.Errorf("running %s: %w\n%.4000s", r.Name(), err, out.Bytes())
	}
	return nil
}

func (r Recipe) testPackage() (string, bool) {
	const prefix = "test:"
	if len(r.Workload) > len(prefix) && r.Workload[:len(prefix)] == prefix {
		return r.Workload[len(prefix):], true
	}
	return "", false
}
