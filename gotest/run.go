package gotest

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"time"
)

// Options say which tests [Run] runs, and where their output and recordings go.
type Options struct {
	Args   []string      // arguments of go test
	Exec   []string      // the command that calls the function Exec, but for the folders and what go test adds
	Counts string        // an empty folder, for what the kernel counts
	Traces string        // folder for the traces
	Stdin  io.Reader     // standard input of the tests
	Stdout io.Writer     // for what go test prints
	Stderr io.Writer     // for errors of go test
	Slow   time.Duration // duration from which on a test counts as slow, and is explained
	// Together has the end of the context end a command with all that it starts; reap ends what is left
	// after that.
	Together func(cmd *exec.Cmd) (reap func())
}

// Result is what became of the packages that [Run] tested.
type Result struct {
	ExitCode int       // exit code of go test
	Packages []Package // the packages that were tested, in the order in which they began
}

// Package is a package that was tested, with its tests that failed or were slow, and its
// benchmarks.
type Package struct {
	Path    string    // import path
	Failed  bool      // it failed, by the output of go test
	Tests   []*Judged // tests that failed or were slow
	Benches []Bench   // benchmarks, in the order of go test
	Traces  []string  // files with its traces; none if it wrote none
	Problem string    // why nothing is known of its tests; empty if something is
	passed  []*Judged // runs of tests of which others failed
	log     *packageLog
	ran     []ran
}

// Check returns an error if Run cannot run go test with these arguments.
func Check(args []string) error {
	for _, a := range args {
		name, _, _ := strings.Cut(strings.TrimPrefix(strings.TrimPrefix(a, "-"), "-"), "=")
		if !strings.HasPrefix(a, "-") {
			continue
		}
		name = strings.TrimPrefix(name, "test.")
		if why, ok := refused[name]; ok {
			return fmt.Errorf("-%s: %s", name, why)
		}
		if name == "args" {
			return nil
		}
	}
	return nil
}

// refused are flags of go test that do not go with traces.
var refused = map[string]string{
	"trace": "each package has a trace already, which -o keeps",
	"exec":  "gmpscope runs the tests by that flag itself",
	"json":  "use --format json, or go test",
	"c":     "runs no tests",
	"fuzz":  "what is fuzzed runs in many processes, which share no trace: leave it out",
}

// has reports whether arguments have a flag without a value, or with one that is true.
func has(args []string, flag string) bool {
	for _, a := range args {
		if a == "-args" || a == "--args" {
			return false
		}
		a = "-" + strings.TrimLeft(a, "-")
		if a == "-"+flag || a == "-"+flag+"=true" || a == "-test."+flag {
			return true
		}
	}
	return false
}

// Run runs go test, and returns when it has ended.
func Run(ctx context.Context, o Options) (*Result, error) {
	var quoted []string
	for _, s := range append(slices.Clone(o.Exec), o.Counts, o.Traces) {
		if strings.ContainsAny(s, "'") {
			return nil, fmt.Errorf("%s has a quotation mark, which go test -exec cannot take: set TMPDIR, or move it", s)
		}
		quoted = append(quoted, "'"+s+"'")
	}
	args := append([]string{"test", "-json", "-exec=" + strings.Join(quoted, " ")}, o.Args...)
	cmd := exec.CommandContext(ctx, "go", args...)
	cmd.Stdin, cmd.Stderr = o.Stdin, o.Stderr
	r, w := io.Pipe()
	cmd.Stdout = w
	reap := o.Together(cmd)
	l := newLog(o.Stdout, has(o.Args, "v"), o.Slow)
	ended := make(chan error, 1)
	go func() {
		err := cmd.Run()
		w.Close()
		ended <- err
	}()
	err := l.read(r)
	runErr := <-ended
	if ctx.Err() != nil {
		reap()
	}
	var exit *exec.ExitError
	res := &Result{}
	switch {
	case ctx.Err() != nil:
		return nil, context.Cause(ctx)
	case errors.As(runErr, &exit):
		res.ExitCode = exit.ExitCode()
	case runErr != nil:
		return nil, fmt.Errorf("running go test: %w", runErr)
	case err != nil:
		return nil, err
	}
	return res, res.collect(o.Counts, l)
}

// collect finds what each package left in the folder.
func (r *Result) collect(dir string, l *log) error {
	ran, err := readRan(dir)
	if err != nil {
		return err
	}
	for _, name := range l.order {
		p := Package{Path: name, Failed: l.packages[name].failed, log: l.packages[name]}
		for _, x := range ran {
			if x.Package == name || x.Package == "" {
				p.ran = append(p.ran, x)
				p.Traces = append(p.Traces, x.Trace)
			}
		}
		r.Packages = append(r.Packages, p)
	}
	return nil
}

func readRan(dir string) (out []ran, err error) {
	names, err := filepath.Glob(filepath.Join(dir, "*.json"))
	if err != nil {
		return nil, err
	}
	for _, name := range names {
		text, err := os.ReadFile(name)
		var x ran
		if err == nil {
			err = json.Unmarshal(text, &x)
		}
		if err != nil {
			return nil, fmt.Errorf("reading what was kept of a package: %w", err)
		}
		out = append(out, x)
	}
	return out, nil
}
