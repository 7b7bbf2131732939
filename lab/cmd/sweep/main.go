// Command sweep holds gmpscope against programs that nobody made for it: the
// tests and benchmarks of public modules, servers under load and command-line
// tools. It records their traces, and runs every command on them.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"os"
	"os/signal"
	"regexp"

	"github.com/gmpscope/gmpscope/lab/runner"
)

func main() {
	if err := sweep(os.Args[1:]); err != nil {
		fmt.Fprintln(os.Stderr, "sweep:", err)
		os.Exit(1)
	}
}

func sweep(args []string) error {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	flags := flag.NewFlagSet("sweep", flag.ExitOnError)
	dir := flags.String("dir", "sweep", "the traces are in the folder `DIR`")
	only := flags.String("only", "", "only those whose names match `REGEXP`")
	small := flags.Bool("small", false, "record the small ones, for testdata/sweep")
	program := flags.String("gmpscope", "", "check: the `PROGRAM` to run; built if none is named")
	page := flags.String("page", "", "check: only write what was found to `FILE`")
	if len(args) == 0 {
		return errors.New("usage: sweep record|check [flags]")
	}
	if args[0] == "contradictions" && len(args) == 2 { // a child of check
		found, err := contradictions(ctx, args[1])
		for _, f := range found {
			fmt.Println(f)
		}
		return err
	}
	if err := flags.Parse(args[1:]); err != nil {
		return err
	}
	match, err := regexp.Compile(*only)
	if err != nil {
		return fmt.Errorf("-only: %w", err)
	}
	switch args[0] {
	case "record":
		return recordAll(ctx, *dir, match, *small)
	case "check":
		if *page != "" {
			return writePage(*dir, *page)
		}
		return checkAll(ctx, *program, *dir, match)
	}
	return fmt.Errorf("sweep has no command %q", args[0])
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
	r := &recorder{root: root, dir: dir, temp: temp, small: small}
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
