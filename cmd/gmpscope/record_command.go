package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/gmpscope/gmpscope/analyze/input"
	"github.com/gmpscope/gmpscope/internal/files"
	"github.com/gmpscope/gmpscope/internal/term"
)

// traceVariable names to a program that record runs which file to write its trace to.
const traceVariable = "GMPSCOPE_TRACE"

// graceTime is how long a command that was interrupted may take to end.
const graceTime = 5 * time.Second

// recordCommand runs a command that writes a trace: go test, with -trace and, if asked,
// under the CPU profiler; or, if it stands after --, any other.
func (a *app) recordCommand(ctx context.Context, args []string, dashed bool, r recording) error {
	tests := len(args) >= 2 && strings.TrimSuffix(filepath.Base(args[0]), ".exe") == "go" && args[1] == "test"
	args, err := commandLine(args, tests, dashed, r.cpu)
	if err != nil {
		return err
	}
	if err := a.readsOfCommand(args, tests, r); err != nil {
		return err
	}
	out, err := a.create(ctx, "-o", r.output)
	if err != nil {
		return err
	}
	defer out.Discard()
	file, direct := out.Path()
	if file, err = filepath.Abs(file); err != nil {
		return fmt.Errorf("recording: %w", err)
	}
	d, err := a.describe(ctx, out, &r, args)
	if err != nil {
		return err
	}
	defer d.discard()
	kernel, err := a.recordKernel(ctx, r)
	if err != nil {
		return err
	}
	defer kernel.discard()
	runErr := a.runCommand(ctx, args, tests, file)
	kernel.stop()
	if runErr != nil && !errors.As(runErr, new(*exec.ExitError)) && ctx.Err() == nil {
		return fmt.Errorf("recording: %w", runErr)
	}
	ran := ranCommand{args: args, tests: tests, err: runErr}
	if direct {
		if runErr != nil {
			runErr = fmt.Errorf("recording: %s (%w); what trace there is went to %s", ran.failed(), runErr, r.output)
		}
		return kernel.finish(runErr)
	}
	return kernel.finish(a.keepTrace(ctx, out, file, ran, r, d))
}

// commandLine returns the command to run, or an error if it is none that can be recorded.
func commandLine(args []string, tests, dashed, cpu bool) ([]string, error) {
	switch {
	case !tests && !dashed:
		return nil, usagef("%s is no URL, such as http://host:port: put -- before a command", term.Line(input.ShownName(args[0])))
	case !tests && cpu:
		return nil, usagef("--cpu is for a URL and for go test: let %s start the profiler, by runtime/pprof", term.Line(input.ShownName(args[0])))
	case !tests:
		return args, nil
	case hasFlag(args, "trace"):
		return nil, usagef("the command has -trace already: run it as it is")
	case cpu:
		return withCPUProfile(args)
	}
	return args, nil
}

// runCommand runs a command that is to write its trace to file, and returns when nothing of
// it is left.
func (a *app) runCommand(ctx context.Context, args []string, tests bool, file string) error {
	rest := slices.Clone(args[1:])
	if tests {
		rest = slices.Insert(rest, 1, "-trace="+file)
	}
	cmd := exec.CommandContext(ctx, args[0], rest...)
	if !tests {
		cmd.Env = append(os.Environ(), traceVariable+"="+file)
	}
	cmd.Stdin, cmd.Stdout, cmd.Stderr = a.stdin, a.stderr, a.stderr
	reap := together(cmd)
	err := cmd.Run()
	if ctx.Err() != nil {
		reap()
	}
	return err
}

type ranCommand struct {
	args  []string
	tests bool
	err   error // nil if its exit code was 0
}

// name is what the command is called in a message.
func (c ranCommand) name() string {
	if c.tests {
		return strings.Join(c.args[:2], " ")
	}
	return term.Line(input.ShownName(c.args[0]))
}

func (c ranCommand) failed() string {
	if c.tests {
		return "the tests failed"
	}
	return c.name() + " failed"
}

// noTrace reports why there may be no trace.
func (c ranCommand) noTrace() error {
	switch {
	case c.err != nil:
		return fmt.Errorf("recording: %s failed (%w) and wrote no trace: see what it printed", c.name(), c.err)
	case c.tests:
		return fmt.Errorf("recording: %s wrote no trace: -trace works with one package at a time", c.name())
	}
	return fmt.Errorf("recording: %s wrote no trace to the file that %s names, by runtime/trace.Start; if it uses package capture, its traces are in the folder of that", c.name(), traceVariable)
}

// keepTrace gives the trace in file, if a command wrote one, its name, and says so.
func (a *app) keepTrace(ctx context.Context, out *files.Output, file string, ran ranCommand, r recording, d *described) error {
	st, err := os.Stat(file)
	if err != nil || st.Size() == 0 {
		return ran.noTrace()
	}
	name, asked, err := a.keep(ctx, out, ctx.Err() == nil, d)
	if err != nil {
		return err
	}
	part := fmt.Sprintf("in %s, an incomplete trace%s", name, beside(asked, r))
	switch {
	case ctx.Err() != nil:
		a.warn(fmt.Sprintf("interrupted: kept the %d bytes that came %s", st.Size(), part))
		return context.Cause(ctx)
	case ran.err != nil && asked:
		return fmt.Errorf("recording: %s (%w); the trace is %s", ran.failed(), ran.err, name)
	case ran.err != nil:
		return fmt.Errorf("recording: %s (%w): kept the %d bytes that came %s", ran.failed(), ran.err, st.Size(), part)
	case !asked:
		return fmt.Errorf("recording: %s did not end its trace: kept the %d bytes that came %s", ran.name(), st.Size(), part)
	}
	return a.printSize(name, st.Size())
}

// readsOfCommand declares what a command reads: standard input, itself, and every file
// that an argument names. What else it finds, as go test does in the folders of packages,
// the outputs must not be.
func (a *app) readsOfCommand(args []string, tests bool, r recording) error {
	rest, reader := args[1:], "program"
	if tests {
		rest, reader = args[2:], "tests"
		for flag, target := range map[string]string{"-o": r.output, "--kernel-output": r.kernel} {
			if err := checkNotSource(flag, target); err != nil {
				return err
			}
		}
	}
	if err := a.declareInputs("the input of the "+reader, "-"); err != nil {
		return err
	}
	if program, err := exec.LookPath(args[0]); err == nil {
		if err := a.declareInputs("the program", program); err != nil {
			return err
		}
	}
	for _, arg := range rest {
		if name, value, ok := strings.Cut(arg, "="); ok && strings.HasPrefix(name, "-") {
			arg = value
		}
		if _, err := os.Stat(arg); err != nil {
			continue // a package, a pattern, or a file to be made
		}
		if err := a.declareInputs("the argument", arg); err != nil {
			return err
		}
	}
	return nil
}

// checkNotSource is an error if an output has a name that go test may read.
func checkNotSource(flag, target string) error {
	file := target
	if real, err := filepath.EvalSymlinks(target); err == nil {
		file = real
	}
	switch base := filepath.Base(file); {
	case filepath.Ext(base) == ".go", base == "go.mod", base == "go.sum", base == "go.work", base == "go.work.sum":
		return usagef("%s %s: the tests are made of such files: name another, such as trace.out", flag, target)
	}
	return nil
}
