// Command gmpscope rebuilds from an execution trace what the Go scheduler
// decided, and judges it.
//
// Every file here is one subcommand: its flags, their validation, one call of a
// library, and the choice of output. main.go maps errors to exit codes:
//
//	0  fine
//	1  failure: one line on standard error says why; also when it was
//	   interrupted, with or without a part of the output, and when memory
//	   ran out
//	2  usage: the line says what is wrong with the command line, or with a
//	   configuration, and a hint follows
//	3  findings or a broken budget (check), or a verdict as bad as --fail-on
//	   says (diff)
//	4  nothing can be said (check, and diff with --fail-on)
package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/signal"
	"slices"
	"strings"
	"syscall"
	"time"

	"github.com/gmpscope/gmpscope/analyze"
	"github.com/gmpscope/gmpscope/analyze/input"
	"github.com/gmpscope/gmpscope/cmd/gmpscope/internal/ftrace"
	"github.com/gmpscope/gmpscope/cmd/gmpscope/internal/guard"
	"github.com/gmpscope/gmpscope/internal/files"
	"github.com/gmpscope/gmpscope/internal/term"
)

// The exit codes.
const (
	exitOK      = 0
	exitFailure = 1
	exitUsage   = 2
	exitGate    = 3
	exitUnknown = 4
)

func main() {
	code, err := guard.Run(signals(), func(signals <-chan os.Signal, stderr *os.File) int {
		return run(interruptible(signals), os.Args[1:], os.Stdin, os.Stdout, stderr)
	})
	if err != nil {
		fmt.Fprintf(os.Stderr, "gmpscope: %s\n", term.Line(err.Error()))
		code = exitFailure
	}
	os.Exit(code)
}

func signals() <-chan os.Signal {
	signals := make(chan os.Signal, 2)
	signal.Notify(signals, os.Interrupt, syscall.SIGTERM)
	// While SIGPIPE is caught, a write to a pipe that nobody reads is an error like any other, after
	// which nothing is left behind.
	signal.Notify(make(chan os.Signal, 1), syscall.SIGPIPE)
	if !signal.Ignored(syscall.SIGHUP) { // as nohup asks
		signal.Notify(signals, syscall.SIGHUP)
	}
	return signals
}

// interruptible returns a context that the first signal cancels. The second one
// ends the program at once, but for the temporary files and what the kernel records.
func interruptible(signals <-chan os.Signal) context.Context {
	ctx, cancel := context.WithCancel(context.Background())
	go func() {
		<-signals
		cancel()
		s := <-signals
		files.RemoveTemporaries()
		ftrace.RemoveInstances()
		endBy(s)
	}()
	return ctx
}

// endBy ends the program as if it did not handle the signal.
func endBy(s os.Signal) {
	signal.Reset(s)
	if self, err := os.FindProcess(os.Getpid()); err != nil || self.Signal(s) != nil {
		os.Exit(exitFailure) // Windows sends no signals
	}
	select {} // until it arrives
}

func run(ctx context.Context, args []string, stdin io.Reader, stdout, stderr io.Writer) (code int) {
	a := &app{stdin: stdin, stdout: stdout, stderr: stderr, getenv: os.Getenv, now: time.Now}
	a.guard.Stream(theStdout, files.Opened(stdout))
	a.guard.Stream(theStderr, files.Opened(stderr))
	defer func() {
		if v := recover(); v != nil {
			fmt.Fprintf(a.stderr, "gmpscope: %s\n", term.Line(analyze.Caught(v).Error()))
			code = exitFailure
		}
	}()
	root := a.root()
	root.SetArgs(args)
	root.SetIn(stdin)
	root.SetOut(stdout)
	root.SetErr(stderr)
	cmd, err := root.ExecuteContextC(ctx)
	line := func() string { return term.Line(input.ShownText(err.Error(), values(args)...)) }
	var usage *usageError
	var other exitCode
	if conflict, ok := errors.AsType[*files.Conflict](err); ok {
		usage = &usageError{msg: conflict.Error()}
		err = usage
		if conflict.Output == theStderr {
			a.stderr = io.Discard // not even this goes there
		}
	}
	switch {
	case err == nil:
		return exitOK
	case errors.Is(err, errGate):
		return exitGate // its lines are out already
	case errors.Is(err, errInconclusive):
		return exitUnknown // likewise
	case errors.As(err, &other):
		return int(other) // its lines, too
	case ctx.Err() != nil:
		fmt.Fprintln(a.stderr, "gmpscope: interrupted")
		return exitFailure
	case errors.As(err, &usage) || !a.ran && !errors.As(err, new(syscall.Errno)):
		// What cobra finds wrong, before a command has run, is usage too, but for what its own
		// commands cannot write.
		fmt.Fprintf(a.stderr, "gmpscope: %s\n", line())
		hint := cmd.CommandPath() + " --help"
		if usage != nil && usage.hint != "" {
			hint = usage.hint
		}
		fmt.Fprintf(a.stderr, "Try %q.\n", hint)
		return exitUsage
	case errors.Is(err, syscall.EPIPE):
		return exitFailure // whoever read our output has had enough
	default:
		fmt.Fprintf(a.stderr, "gmpscope: %s\n", line())
		return exitFailure
	}
}

// values returns the arguments, and the names and values of flags, of which an
// error may repeat any: the secrets of a URL in the wrong place are secrets too.
func values(args []string) []string {
	all := slices.Clone(args)
	for _, arg := range args {
		if name, value, ok := strings.Cut(arg, "="); ok && strings.HasPrefix(arg, "-") {
			all = append(all, value, name)
		}
	}
	return all
}

type usageError struct {
	msg  string
	hint string // the command that helps; empty means the help of the one that was run
}

func (e *usageError) Error() string { return e.msg }

func usagef(format string, args ...any) error { return &usageError{msg: fmt.Sprintf(format, args...)} }
