// Cases judges the detectors by programs of known behaviour; package cases says
// how.
//
//	go run ./internal/cmd/cases                       judge the recorded traces, print the page
//	go run ./internal/cmd/cases -o docs/detectors.md  and write it
//	go run ./internal/cmd/cases -record               record all of them again
//	go run ./internal/cmd/cases -record -only convoy  only those whose names match
//	go run ./internal/cmd/cases -live -tries 5        judge fresh recordings, keep none
//
// Programs that share a machine disturb each other: -run-with starts the
// recorded ones by a command, for instance "nice -n -20".
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"os/signal"
	"regexp"
	"slices"
	"strings"

	"github.com/gmpscope/gmpscope/internal/quantity"
	"github.com/gmpscope/gmpscope/lab/cases"
	"github.com/gmpscope/gmpscope/lab/runner"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	if err := run(ctx, os.Args[1:], os.Stdout, os.Stderr); err != nil && !errors.Is(err, flag.ErrHelp) {
		fmt.Fprintln(os.Stderr, "cases:", err)
		os.Exit(1)
	}
}

func run(ctx context.Context, args []string, stdout, stderr io.Writer) error {
	flags := flag.NewFlagSet("cases", flag.ContinueOnError)
	flags.SetOutput(stderr)
	record := flags.Bool("record", false, "record, instead of judging what is recorded")
	live := flags.Bool("live", false, "judge fresh recordings and keep none of them")
	only := flags.String("only", "", "with -record or -live: only recordings whose names match this `regexp`")
	tries := flags.Int("tries", 0, "recordings to make of each: with -record at most (10), with -live exactly (1)")
	keep := flags.Int("keep", 3, "with -record: right ones to choose the least disturbed from")
	with := flags.String("run-with", "", "`command` that starts the recorded programs, such as \"nice -n -20\"")
	out := flags.String("o", "", "`file` to write the page to")
	if err := flags.Parse(args); err != nil {
		return err
	}
	if flags.NArg() > 0 {
		return fmt.Errorf("unexpected argument %q", flags.Arg(0))
	}
	root, err := runner.Root()
	if err != nil {
		return err
	}
	if !*record && !*live {
		return judge(ctx, root, *out, stdout)
	}
	recordings, err := cases.Find(root)
	if err != nil {
		return err
	}
	chosen, err := choose(recordings, *only)
	if err != nil {
		return err
	}
	temp, err := os.MkdirTemp("", "gmpscope-cases-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(temp)
	m := &cases.Recorder{Runner: runner.New(root, temp), With: strings.Fields(*with), Tries: *tries, Keep: *keep}
	if *live {
		m.Tries = max(1, m.Tries)
		return liveAll(ctx, m, chosen, stdout)
	}
	if m.Tries < 1 {
		m.Tries = 10
	}
	if err := recordAll(ctx, m, cases.Dir(root), chosen, stdout); err != nil {
		return err
	}
	if *only != "" {
		return nil
	}
	gone, err := cases.Prune(cases.Dir(root), recordings)
	for _, name := range gone {
		fmt.Fprintf(stdout, "%s: belongs to no case any more: removed\n", name)
	}
	return err
}

func choose(recordings []*cases.Recording, pattern string) ([]*cases.Recording, error) {
	re, err := regexp.Compile(pattern)
	if err != nil {
		return nil, err
	}
	chosen := slices.DeleteFunc(slices.Clone(recordings), func(r *cases.Recording) bool { return !re.MatchString(r.Name()) })
	if len(chosen) == 0 {
		return nil, fmt.Errorf("no recording matches %q", pattern)
	}
	return chosen, nil
}

// judge prints the page about what is recorded, and writes it to a file if one
// is given.
func judge(ctx context.Context, root, file string, stdout io.Writer) error {
	result, err := cases.JudgeAll(ctx, root)
	fmt.Fprint(stdout, result.Page())
	if err != nil || file == "" {
		return err
	}
	return os.WriteFile(file, []byte(result.Page()), 0o644)
}

func recordAll(ctx context.Context, m *cases.Recorder, dir string, recordings []*cases.Recording, stdout io.Writer) error {
	for _, r := range recordings {
		row, zipped, v, err := m.Best(ctx, r)
		if err != nil {
			return err
		}
		if err := cases.Put(dir, r, row, zipped); err != nil {
			return err
		}
		fmt.Fprintf(stdout, "%s: %d bytes, CPU lacked %.1f ms: %s\n", r.Name(), row.GzipBytes, float64(row.CPUWaitNanos)/1e6, v.Wrong())
		tell(stdout, v)
	}
	return nil
}

// liveAll prints the verdict of each fresh recording; an error if one is wrong.
func liveAll(ctx context.Context, m *cases.Recorder, recordings []*cases.Recording, stdout io.Writer) error {
	made, wrong := 0, 0
	for _, r := range recordings {
		for range m.Tries {
			trace, waited, err := m.Take(ctx, r)
			if err != nil {
				return err
			}
			v, err := cases.Analyze(ctx, r, trace)
			if err != nil {
				return err
			}
			fmt.Fprintf(stdout, "%s: %d bytes uncompressed, CPU lacked %.1f ms: %s\n", r.Name(), len(trace), float64(waited)/1e6, v.Wrong())
			tell(stdout, v)
			if made++; !v.Right() {
				wrong++
			}
		}
	}
	if wrong > 0 {
		return fmt.Errorf("%d of %d recordings are judged wrong", wrong, made)
	}
	return nil
}

func tell(w io.Writer, v *cases.Verdict) {
	for _, x := range v.Found {
		fmt.Fprintf(w, "    %s %s: %s [cost %s]\n", x.Severity, x.ID, x.Title, quantity.Duration(x.CostNs))
	}
}
