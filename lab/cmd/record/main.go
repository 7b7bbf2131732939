package main

import (
	"bytes"
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"os/signal"
	"path/filepath"
	"slices"
	"strings"

	"github.com/gmpscope/gmpscope/lab/runner"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	if err := run(ctx, os.Args[1:], os.Stdout, os.Stderr); err != nil {
		if errors.Is(err, flag.ErrHelp) {
			return
		}
		fmt.Fprintln(os.Stderr, "record:", err)
		os.Exit(1)
	}
}

type options struct {
	root   string   // of the checkout
	out    string   // where the traces and the manifest go
	only   []string // scenarios or rows; empty: all
	goes   []string // Go versions; empty: the scenario's own
	better bool     // replace a trace only by one that lacked less CPU
	tries  int      // recordings made of a row before giving up
	keep   int      // good recordings to choose from
}

func run(ctx context.Context, args []string, stdout, stderr io.Writer) error {
	root, err := runner.Root()
	if err != nil {
		return err
	}
	flags := flag.NewFlagSet("record", flag.ContinueOnError)
	flags.SetOutput(stderr)
	only := flags.String("only", "", "record only these scenarios or manifest rows, comma-separated `names`")
	goes := flags.String("go", "", "record with these Go `versions`, comma-separated, instead of the scenario's own")
	out := flags.String("out", filepath.Join(root, "testdata", "traces"), "`directory` for traces and manifest")
	tries := flags.Int("tries", 30, "recordings to make of a row before giving up")
	keep := flags.Int("keep", 5, "good recordings to choose the least disturbed from")
	better := flags.Bool("better", false, "replace a trace only by one whose threads waited less for a CPU")
	verify := flags.Bool("verify", false, "record nothing; check the traces against the manifest and their scenarios")
	if err := flags.Parse(args); err != nil {
		return err
	}
	if flags.NArg() > 0 {
		return fmt.Errorf("unexpected argument %q", flags.Arg(0))
	}
	opts := options{
		root:   root,
		out:    *out,
		only:   list(*only),
		goes:   list(*goes),
		better: *better,
		tries:  max(1, *tries),
		keep:   max(1, *keep),
	}
	if *verify {
		return verifyAll(opts, stdout)
	}
	return recordAll(ctx, opts, stdout)
}

// recordAll records every row that opts ask for. The manifest is written after
// each row, so that an interrupted run loses nothing.
func recordAll(ctx context.Context, opts options, stdout io.Writer) error {
	manifest, err := readManifest(opts.out)
	if err != nil && !errors.Is(err, os.ErrNotExist) {
		return err
	}
	temp, err := os.MkdirTemp("", "gmpscope-record-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(temp)
	maker := runner.New(opts.root, temp)

	wanted := make(map[string]bool)
	unknown := slices.Clone(opts.only)
	for _, s := range scenarios {
		for _, target := range s.targets(opts.goes) {
			wanted[target.name()] = true
			unknown = slices.DeleteFunc(unknown, func(name string) bool { return name == s.name || name == target.name() })
			if len(opts.only) > 0 && !slices.Contains(opts.only, s.name) && !slices.Contains(opts.only, target.name()) {
				continue
			}
			row, trace, bad, err := best(ctx, maker, target, opts.tries, opts.keep)
			if err != nil {
				return fmt.Errorf("%s: %w", target.name(), err)
			}
			if old, ok := manifest.find(row.File); ok && opts.better && old.CPUWaitNanos <= row.CPUWaitNanos {
				fmt.Fprintf(stdout, "%-36s no better: CPU lacked %.1f ms, not %.1f\n",
					row.Name, float64(row.CPUWaitNanos)/1e6, float64(old.CPUWaitNanos)/1e6)
				old.Shows = row.Shows
				manifest.put(old)
				if err := manifest.write(opts.out); err != nil {
					return err
				}
				continue
			}
			if err := os.WriteFile(filepath.Join(opts.out, row.File), trace, 0o644); err != nil {
				return err
			}
			manifest.put(row)
			if err := manifest.write(opts.out); err != nil {
				return err
			}
			fmt.Fprintf(stdout, "%-36s %7d bytes %7d events %8.1f ms, CPU lacked %.1f ms, %d thrown away\n",
				row.Name, row.GzipBytes, row.Events, float64(row.DurationNanos)/1e6, float64(row.CPUWaitNanos)/1e6, bad)
		}
	}
	if len(unknown) > 0 {
		return fmt.Errorf("no scenario or row is called %s", strings.Join(unknown, ", "))
	}
	if len(opts.only) > 0 || len(opts.goes) > 0 {
		return nil
	}
	for _, row := range manifest.dropUnless(func(r row) bool { return r.Real || wanted[r.Name] }) {
		if err := os.Remove(filepath.Join(opts.out, row.File)); err != nil && !errors.Is(err, os.ErrNotExist) {
			return err
		}
		fmt.Fprintf(stdout, "%-36s no such row any more: removed\n", row.Name)
	}
	return manifest.write(opts.out)
}

// verifyAll checks that the manifest describes the files that are there, that
// each trace reads as it says, and that each still shows what it must.
func verifyAll(opts options, stdout io.Writer) error {
	manifest, err := readManifest(opts.out)
	if err != nil {
		return err
	}
	var problems []error
	listed := make(map[string]bool)
	for _, row := range manifest.Traces {
		listed[row.File] = true
		if err := row.verify(opts.out); err != nil {
			problems = append(problems, fmt.Errorf("%s: %w", row.Name, err))
		}
	}
	for _, dir := range []string{".", "real"} {
		files, err := filepath.Glob(filepath.Join(opts.out, dir, "*.gz"))
		if err != nil {
			return err
		}
		for _, file := range files {
			if name := filepath.ToSlash(filepath.Join(dir, filepath.Base(file))); !listed[name] {
				problems = append(problems, fmt.Errorf("%s: not in the manifest", name))
			}
		}
	}
	if text, err := os.ReadFile(filepath.Join(opts.out, markdownName)); err != nil || !bytes.Equal(text, manifest.markdown()) {
		problems = append(problems, fmt.Errorf("%s: not what %s says (record anything to regenerate it)", markdownName, manifestName))
	}
	if len(problems) > 0 {
		return errors.Join(problems...)
	}
	fmt.Fprintf(stdout, "%d traces, %d bytes: all as the manifest says\n", len(manifest.Traces), manifest.gzipBytes())
	return nil
}

func list(s string) []string {
	return strings.FieldsFunc(s, func(r rune) bool { return r == ',' || r == ' ' })
}
