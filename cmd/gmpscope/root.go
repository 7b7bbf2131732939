package main

import (
	"errors"
	"io/fs"
	"slices"

	"github.com/spf13/cobra"
)

// root is the command itself: without a subcommand it writes a report.
func (a *app) root() *cobra.Command {
	cmd := a.report()
	run := cmd.RunE
	cmd.Use = "gmpscope TRACE"
	cmd.Short = "What did the Go scheduler decide, and was it good?"
	cmd.Long = `gmpscope reads an execution trace of a Go program, rebuilds what the scheduler
decided (run queues, steals, handoffs, preemptions), and says who waited for a
processor, for how long, and why.

TRACE is a file written by runtime/trace, "go test -trace" or a flight recorder,
a "-" for standard input, or the URL of a running program, such as
http://localhost:6060/debug/pprof/trace?seconds=5. It may be compressed with
gzip or zstd. A file that is called like a command is given as ./NAME.

"gmpscope TRACE" is the same as "gmpscope report TRACE".`
	cmd.Example = `  go test -trace trace.out ./mypackage && gmpscope trace.out --open
  gmpscope report trace.out -o report.html
  gmpscope analyze trace.out
  gmpscope explain starvation`
	cmd.SilenceErrors = true
	cmd.SilenceUsage = true
	cmd.SuggestionsMinimumDistance = 2
	cmd.SetFlagErrorFunc(func(_ *cobra.Command, err error) error { return usagef("%s", err) })
	report := a.report()
	cmd.AddCommand(report, a.analyzeCmd(), a.dump(), a.replay(), a.diff(), a.checkCmd(), a.fleet(), a.record(), a.test(), a.testBinary(), a.export(), a.explain(), a.mcp(), a.version())
	cmd.AddCommand(moved()...)
	groupFlags(cmd)
	cmd.Args = func(c *cobra.Command, args []string) error {
		if len(args) > 1 {
			if s := c.SuggestionsFor(args[0]); len(s) > 0 {
				return usagef("there is no command %q; did you mean %s?", args[0], s[0])
			}
		}
		return oneTrace(c, args)
	}
	cmd.RunE = func(c *cobra.Command, args []string) error {
		err := run(c, args)
		// A mistyped command looks like the name of a trace.
		if s := c.SuggestionsFor(args[0]); errors.Is(err, fs.ErrNotExist) && len(s) > 0 && !slices.Contains(s, args[0]) {
			return usagef("there is no command and no file %q; did you mean %s?", args[0], s[0])
		}
		return err
	}
	return cmd
}
