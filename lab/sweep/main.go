// Package sweep holds gmpscope against programs that nobody made for it: the
// tests and benchmarks of public modules, servers under load and command-line
// tools. It records their traces, and runs every command on them.
package sweep

import (
	"context"
	"flag"
	"fmt"
	"io"
	"os"
	"regexp"
	"strings"

	"github.com/gmpscope/gmpscope/lab/cli"
	"github.com/gmpscope/gmpscope/lab/runner"
)

// Sweep are the commands; the one without words is a child of another.
var Sweep = []cli.Command{
	{Name: "sweep record", What: "record programs that nobody made for gmpscope", Init: recordLacking},
	{Name: "sweep check", What: "run every command on the traces", Init: checkTraces},
	{Name: "sweep plant", What: "record some of them healthy, and with a fault planted into each", Init: plantFaults},
	{Name: "sweep planted", What: "judge whether verdicts on those are right", Init: judgePlanted},
	{Name: "sweep contradictions", Args: "FILE", Init: printContradictions},
}

// options are flags of both commands.
type options struct {
	dir  string
	only string
}

func (o *options) add(flags *flag.FlagSet) {
	flags.StringVar(&o.dir, "dir", "sweep", "the traces are in the folder `DIR`")
	flags.StringVar(&o.only, "only", "", "only those whose names match `REGEXP`")
}

// recordLacking records what has no trace yet.
func recordLacking(flags *flag.FlagSet) cli.Do {
	var o options
	o.add(flags)
	small := flags.Bool("small", false, "record the small ones, for lab/testdata/sweep")
	return func(ctx context.Context, _ []string, _ io.Writer) error {
		match, err := regexp.Compile(o.only)
		if err != nil {
			return fmt.Errorf("-only: %w", err)
		}
		return recordAll(ctx, o.dir, match, *small)
	}
}

// checkTraces runs every command on the traces.
func checkTraces(flags *flag.FlagSet) cli.Do {
	var o options
	o.add(flags)
	program := flags.String("gmpscope", "", "the `PROGRAM` to run; built if none is named")
	page := flags.String("page", "", "only write what was found to `FILE`")
	return func(ctx context.Context, _ []string, _ io.Writer) error {
		match, err := regexp.Compile(o.only)
		if err != nil {
			return fmt.Errorf("-only: %w", err)
		}
		if *page != "" {
			return writePage(o.dir, *page)
		}
		return checkAll(ctx, *program, o.dir, match)
	}
}

// printContradictions prints those in a trace.
func printContradictions(*flag.FlagSet) cli.Do {
	return func(ctx context.Context, args []string, stdout io.Writer) error {
		found, err := contradictions(ctx, strings.Join(args, " "))
		for _, f := range found {
			fmt.Fprintln(stdout, f)
		}
		return err
	}
}

// A load is what one trace is recorded of.
type load struct {
	name, kind string
	small      bool
	builder
}

type builder interface {
	what() string
	// build makes a program that writes a trace.
	build(ctx context.Context, r *recorder, trace string) (program, error)
}

func loads() []load {
	var all []load
	for _, m := range modules {
		all = append(all, load{m.name, m.kind, m.small, m})
	}
	for _, s := range servers {
		all = append(all, load{"server-" + s.name, s.kind, false, s})
	}
	for _, t := range tools {
		all = append(all, load{"tool-" + t.name, t.kind, false, t})
	}
	return all
}

// recordAll records what has no trace in dir yet. It goes on behind what fails.
func recordAll(ctx context.Context, dir string, match *regexp.Regexp, small bool) error {
	root, err := runner.Root()
	if err != nil {
		return err
	}
	temp, err := os.MkdirTemp("", "sweep")
	if err != nil {
		return err
	}
	defer os.RemoveAll(temp)
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return err
	}
	r := &recorder{root: root, dir: dir, temp: temp, size: largeTrace, procs: 4, tests: []string{"-test.cpu=2,4", "-test.benchtime=10ms"}}
	if small {
		r.size = smallTrace
	}
	var failed []error
	for _, l := range loads() {
		if _, err := os.Stat(traceFile(dir, l.name)); err == nil || !match.MatchString(l.name) || small && !l.small {
			continue
		}
		fmt.Fprintln(os.Stderr, "recording", l.name)
		if err := r.record(ctx, l); err != nil {
			fmt.Fprintln(os.Stderr, err)
			failed = append(failed, err)
		}
		if ctx.Err() != nil {
			break
		}
	}
	if len(failed) > 0 {
		return fmt.Errorf("%d of %d could not be recorded", len(failed), len(loads()))
	}
	return nil
}
