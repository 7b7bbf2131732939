package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/gmpscope/gmpscope/gotest"
	"github.com/gmpscope/gmpscope/internal/files"
)

// testBinary is the hidden command that go test -exec calls.
const testBinary = "test-binary"

// exitCode is the error of a command that ends with a code of another one, which has said why.
type exitCode int

func (e exitCode) Error() string { return fmt.Sprintf("exit code %d", int(e)) }

func (a *app) test() *cobra.Command {
	var (
		format   *choice
		output   string
		markdown string
		slow     time.Duration
		cmd      *cobra.Command
	)
	cmd = &cobra.Command{
		Use:   "test [FLAGS] [GO TEST FLAGS] [PACKAGES]",
		Short: "Run go test, and say what failed and slow tests waited for",
		Long: `Test runs go test with a trace for each package, shows what go test prints, and
then says of each test that failed whether it was starved: by the machine, which
did not give its process CPUs, or by the program, whose other goroutines had the
Ps; or that it is nothing of scheduling. Of slow tests it says what their time
went into, and so of benchmarks, with -bench.

It takes the flags of go test (-run, -count, -race, -v, -bench, -cpu and so on) but
-trace, -exec, -json, -c and -fuzz. Its own have two dashes, but -o, which keeps the traces and not the
test binary. They are looked for up to -args. The exit code is that of go test;
if that is 0 and there is nothing to say, nothing is added.

On Linux the kernel counts for how long threads waited for a CPU: what it counted is certain.
That a test failed for want of it is inferred. docs/test.md has the rules.`,
		Example: `  gmpscope test ./...
  gmpscope test -race -count 10 -run TestLease ./lease
  gmpscope test --markdown "$GITHUB_STEP_SUMMARY" -o traces ./...
  gmpscope test -run - -bench . -cpu 1,2,4 ./codec`,
		DisableFlagParsing: true,
	}
	cmd.RunE = a.do(func(ctx context.Context, args []string) error {
		own, rest := ownFlags(cmd.Flags(), args)
		if err := cmd.Flags().Parse(own); err != nil {
			return usagef("%s", err)
		}
		if help, _ := cmd.Flags().GetBool("help"); help {
			return cmd.Help()
		}
		if err := gotest.Check(rest); err != nil {
			return usagef("%v", err)
		}
		if slow <= 0 {
			return usagef("--slow %v: must be more than 0", slow)
		}
		temp, err := files.TempFolder("gmpscope-test-")
		if err != nil {
			return fmt.Errorf("creating a folder for temporary files: %w", err)
		}
		defer files.RemoveTempFolder(temp)
		traces := temp
		if output != "" {
			// go test runs each binary in the folder of its package.
			if traces, err = filepath.Abs(output); err == nil {
				err = os.MkdirAll(traces, 0o777)
			}
			if err != nil {
				return fmt.Errorf("creating the folder for traces: %w", err)
			}
		}
		return a.runTests(ctx, rest, temp, traces, markdown, slow, format.value)
	})
	format = addChoice(cmd, "format", "how to print it; with json, what go test prints goes to standard error", "text", "json")
	cmd.Flags().StringVarP(&output, "output", "o", "", "keep the traces in `FOLDER`, which is created if it does not exist")
	cmd.Flags().StringVar(&markdown, "markdown", "", "write a summary for a pull request to `FILE`, in Markdown")
	cmd.Flags().DurationVar(&slow, "slow", time.Second, "tests that take this `time` or longer are slow")
	return cmd
}

// ownFlags separates the flags of a command from those of go test, up to -args.
func ownFlags(f *pflag.FlagSet, args []string) (own, rest []string) {
	for i := 0; i < len(args); i++ {
		name, _, assigned := strings.Cut(args[i], "=")
		if name == "-args" || name == "--args" {
			return own, append(rest, args[i:]...)
		}
		var flag *pflag.Flag
		switch long, isLong := strings.CutPrefix(name, "--"); {
		case isLong:
			flag = f.Lookup(long)
		case name == "-o" || name == "-h":
			flag = f.ShorthandLookup(name[1:])
		}
		if flag == nil {
			rest = append(rest, args[i])
			continue
		}
		own = append(own, args[i])
		if !assigned && flag.NoOptDefVal == "" && i+1 < len(args) {
			i++
			own = append(own, args[i])
		}
	}
	return own, rest
}

func (a *app) runTests(ctx context.Context, args []string, temp, traces, markdown string, slow time.Duration, format string) error {
	self, err := os.Executable()
	if err != nil {
		return fmt.Errorf("finding this program, which go test is to run tests by: %w", err)
	}
	var summary *files.Output
	if markdown != "" {
		if summary, err = a.create(ctx, "--markdown", markdown); err != nil {
			return err
		}
		defer summary.Discard()
	}
	shown := a.stdout
	if format == "json" {
		shown = a.stderr
	}
	res, err := gotest.Run(ctx, gotest.Options{
		Args: args, Exec: []string{self, testBinary}, Counts: temp, Traces: traces, Stdin: a.stdin, Stdout: shown, Stderr: a.stderr, Slow: slow,
		Together: together,
	})
	if err != nil {
		return err
	}
	for i := range res.Packages {
		res.Packages[i].Analyze(ctx)
	}
	if ctx.Err() != nil {
		return context.Cause(ctx)
	}
	if format == "json" {
		err = res.WriteJSON(a.stdout, tool(), traces != temp)
	} else {
		err = res.WriteText(a.stdout)
	}
	if summary != nil && err == nil {
		if err = res.WriteMarkdown(summary); err == nil {
			err = summary.Commit()
		}
	}
	if err == nil && res.ExitCode != 0 {
		err = exitCode(res.ExitCode)
	}
	return err
}

// testBinary is what go test -exec calls.
func (a *app) testBinary() *cobra.Command {
	return &cobra.Command{
		Use: testBinary, Hidden: true, DisableFlagParsing: true,
		RunE: a.do(func(ctx context.Context, args []string) error {
			if len(args) < 3 {
				return errors.New("gmpscope test runs this command")
			}
			code, by, err := gotest.Exec(args[0], args[1], args[2:], a.stdin, a.stdout, a.stderr)
			if by != nil {
				endBy(by)
			}
			if err == nil && code != 0 {
				err = exitCode(code)
			}
			return err
		}),
	}
}
