package main

import (
	"context"
	"errors"
	"fmt"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/gmpscope/gmpscope/analyze/input"
	"github.com/gmpscope/gmpscope/internal/term"
)

func (a *app) record() *cobra.Command {
	var (
		seconds int
		maxSize = size(defaultMaxSize)
		target  string
		quiet   bool
		cpu     bool
	)
	cmd := &cobra.Command{
		Use:   "record URL | -- go test ...",
		Short: "Record a trace of a running program, or of tests",
		Long: `Record asks a running program that serves net/http/pprof for a trace, or runs
"go test" with the flag -trace, and writes the trace to a file.

A trace that breaks off is kept as far as it came, and the command fails: if the
program or the connection ends early, the tests fail, or you interrupt it. So is
one that the program does not end: it gets --seconds, and as long again or 30
seconds to answer and transfer, whichever is more; and at most --max-size is
written. An answer that is no trace is not kept.

With --cpu the CPU profiler runs meanwhile, and its samples are in the trace. They
prove, or rule out, that threads with a P lacked a CPU (gmpscope explain
os-preemption), and go tool trace shows them. Of a running program, its CPU
profile is asked for beside the trace; where that fails, for instance since
another one is being taken, a warning says so. "go test" gets -cpuprofile.

Other programs record themselves: by runtime/trace.Start and Stop, or, to keep
the last seconds before something went wrong, by runtime/trace.FlightRecorder
(Go 1.25).`,
		Example: `  gmpscope record http://localhost:6060 --seconds 5 -o live.trace
  gmpscope record -o test.trace -- go test -run Load ./server
  gmpscope record --cpu -o test.trace -- go test -run Load ./server
  gmpscope report live.trace`,
		Args: func(_ *cobra.Command, args []string) error {
			if len(args) == 0 {
				return usagef("name the URL of a program, or, after --, a go test command")
			}
			return nil
		},
		RunE: a.do(func(ctx context.Context, args []string) error {
			if seconds < 1 {
				return usagef("--seconds %d: must be 1 or more", seconds)
			}
			if target == "" || target == "-" {
				return usagef("-o needs a file")
			}
			if strings.Contains(args[0], "://") {
				if len(args) > 1 {
					return usagef("one URL at a time, but there are %d arguments", len(args))
				}
				u, limit, err := traceURL(args[0], seconds)
				if err != nil {
					return err
				}
				ctx, cancel := context.WithTimeoutCause(ctx, limit, tooLong(limit))
				defer cancel()
				if cpu {
					return a.recordWithProfile(ctx, u, target, maxSize, quiet)
				}
				return a.recordURL(ctx, u, target, maxSize, quiet)
			}
			return a.recordTest(ctx, args, target, cpu)
		}),
	}
	cmd.Flags().IntVar(&seconds, "seconds", 5, "record for `N` seconds, where the URL does not say")
	cmd.Flags().Var(&maxSize, "max-size", "of a URL, write at most `SIZE`, such as 512MiB, and keep that")
	cmd.Flags().StringVarP(&target, "output", "o", "trace.out", "write the trace to `FILE`")
	cmd.Flags().BoolVar(&cpu, "cpu", false, "run the CPU profiler meanwhile: its samples are then in the trace")
	cmd.Flags().BoolVarP(&quiet, "quiet", "q", false, "no progress on standard error")
	return cmd
}

// traceURL returns where a program gives its trace, the place that net/http/pprof
// uses unless the URL names another one, and how long that may take.
func traceURL(raw string, seconds int) (string, time.Duration, error) {
	u, err := url.Parse(raw)
	if err != nil || u.Host == "" {
		return "", 0, usagef("%s is no URL of a program: give one such as http://host:port", input.ShownName(raw))
	}
	if strings.Trim(u.Path, "/") == "" {
		u.Path = "/debug/pprof/trace"
	}
	q := u.Query()
	if !q.Has("seconds") {
		q.Set("seconds", strconv.Itoa(seconds))
		u.RawQuery = q.Encode()
	}
	asked, err := strconv.ParseFloat(q.Get("seconds"), 64)
	if err != nil || !(asked > 0) {
		asked = 1 // as net/http/pprof takes it
	}
	return u.String(), recordLimit(asked), nil
}

const (
	// defaultMaxSize is room for the trace of a busy server over a minute.
	defaultMaxSize = 1 << 30

	// transferTime is what a program gets, beside the time that it records, to
	// answer and to transfer what is left; for a long recording, as long again.
	transferTime = 30 * time.Second

	maxRecording = 1e6 // seconds; a time.Duration has room for more
)

// recordLimit returns how long a program may take for a trace of some seconds.
func recordLimit(seconds float64) time.Duration {
	d := time.Duration(min(seconds, maxRecording) * float64(time.Second))
	return d + max(d, transferTime)
}

func tooLong(limit time.Duration) error {
	return fmt.Errorf("the program did not end the trace within %v", limit)
}

func (a *app) recordURL(ctx context.Context, u, target string, maxSize size, quiet bool) error {
	out, err := a.create(ctx, "-o", target)
	if err != nil {
		return err
	}
	defer out.Discard()
	var o input.Options
	if !quiet && term.Controls(a.stderr, a.getenv) {
		p := term.NewProgress(a.stderr)
		defer p.Done()
		o.Progress = p.Update
	}
	saved, err := input.Save(ctx, u, out, int64(maxSize), o)
	if err != nil {
		return err
	}
	if err := out.Commit(); err != nil {
		return err
	}
	switch {
	case saved.Cut == nil:
		_, err = fmt.Fprintf(a.stdout, "%s: %d bytes\n", target, saved.Bytes)
		return err
	case errors.Is(ctx.Err(), context.Canceled):
		a.warnCut(target, saved.Bytes)
		return context.Cause(ctx)
	case errors.Is(saved.Cut, input.ErrTooLarge):
		return fmt.Errorf("recording: %w of --max-size %v: kept the first %d bytes in %s, an incomplete trace", saved.Cut, maxSize, saved.Bytes, target)
	}
	return fmt.Errorf("recording %s: %w: kept the %d bytes that came in %s, an incomplete trace", input.ShownName(u), saved.Cut, saved.Bytes, target)
}

// warnCut tells what an interrupt left of a trace.
func (a *app) warnCut(target string, bytes int64) {
	a.warn([]string{fmt.Sprintf("interrupted: kept the %d bytes that came in %s, an incomplete trace", bytes, target)})
}

// graceTime is how long tests that were interrupted may take to end.
const graceTime = 5 * time.Second

// recordTest runs go test with -trace, and with cpu under the CPU profiler.
func (a *app) recordTest(ctx context.Context, args []string, target string, cpu bool) error {
	if len(args) < 2 || strings.TrimSuffix(filepath.Base(args[0]), ".exe") != "go" || args[1] != "test" {
		return usagef("only go test can be run: %s records itself by runtime/trace, or is asked by its URL, such as http://host:port", term.Line(input.ShownName(args[0])))
	}
	if hasFlag(args, "trace") {
		return usagef("the command has -trace already: run it as it is")
	}
	if cpu {
		var err error
		if args, err = withCPUProfile(args); err != nil {
			return err
		}
	}
	if err := a.readsOfTest(args, target); err != nil {
		return err
	}
	out, err := a.create(ctx, "-o", target)
	if err != nil {
		return err
	}
	defer out.Discard()
	file, direct := out.Path()
	if file, err = filepath.Abs(file); err != nil {
		return fmt.Errorf("recording: %w", err)
	}
	cmd := exec.CommandContext(ctx, args[0], slices.Insert(slices.Clone(args[1:]), 1, "-trace="+file)...)
	cmd.Stdin, cmd.Stdout, cmd.Stderr = a.stdin, a.stderr, a.stderr
	reap := together(cmd)
	runErr := cmd.Run()
	if ctx.Err() != nil {
		reap()
	}
	var exit *exec.ExitError
	if runErr != nil && !errors.As(runErr, &exit) && ctx.Err() == nil {
		return fmt.Errorf("recording: %w", runErr)
	}
	if direct && runErr != nil {
		return fmt.Errorf("recording: the tests failed (%w); what trace they wrote went to %s", runErr, target)
	}
	if direct {
		return nil
	}
	st, err := os.Stat(file)
	switch {
	case (err != nil || st.Size() == 0) && runErr != nil:
		return fmt.Errorf("recording: %s failed (%w) and wrote no trace: see what it printed", strings.Join(args[:2], " "), runErr)
	case err != nil || st.Size() == 0:
		return fmt.Errorf("recording: %s wrote no trace: -trace works with one package at a time", strings.Join(args[:2], " "))
	}
	if err := out.Commit(); err != nil {
		return err
	}
	switch {
	case ctx.Err() != nil:
		a.warnCut(target, st.Size())
		return context.Cause(ctx)
	case runErr != nil:
		return fmt.Errorf("recording: the tests failed (%w); their trace is %s", runErr, target)
	}
	_, err = fmt.Fprintf(a.stdout, "%s: %d bytes\n", target, st.Size())
	return err
}

// readsOfTest declares what go test reads: standard input, and every file that an
// argument names. What it finds in the folders of packages, target must not be.
func (a *app) readsOfTest(args []string, target string) error {
	file := target
	if real, err := filepath.EvalSymlinks(target); err == nil {
		file = real
	}
	switch base := filepath.Base(file); {
	case filepath.Ext(base) == ".go", base == "go.mod", base == "go.sum", base == "go.work", base == "go.work.sum":
		return usagef("-o %s: the tests are made of such files: name another, such as trace.out", target)
	}
	if err := a.reads("the input of the tests", "-"); err != nil {
		return err
	}
	for _, arg := range args[2:] {
		if name, value, ok := strings.Cut(arg, "="); ok && strings.HasPrefix(name, "-") {
			arg = value
		}
		if _, err := os.Stat(arg); err != nil {
			continue // a package, a pattern, or a file to be made
		}
		if err := a.reads("the argument", arg); err != nil {
			return err
		}
	}
	return nil
}
