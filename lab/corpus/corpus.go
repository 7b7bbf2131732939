// Package corpus records the programs of this repository, and judges what gmpscope says about their
// traces. All sets are recorded by the same code and judged from the same source: the traces in a
// folder, or fresh ones.
//
// No two recordings are alike, and programs that share a machine disturb each other. Of several
// recordings of a program the one is kept whose threads lacked a CPU for the least time, of those
// that show what they must.
package corpus

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"

	"github.com/gmpscope/gmpscope/lab/cli"
	"github.com/gmpscope/gmpscope/lab/runner"
)

// set is programs that are recorded and judged together.
type set struct {
	name, what  string
	dir         string // of the traces, in the checkout; "": the flag -dir says
	tries, keep int    // recordings to make of each, and right ones to choose from
	// flags declares flags of its own; nil if there are none. They are set when the others are called.
	flags func(*flag.FlagSet)
	takes func(root string) ([]take, error)
	// prune removes what belongs to none of the takes, and returns its files; nil if there is nothing to do.
	prune func(root, dir string) ([]string, error)
	judge func(context.Context, *judging) error // nil: nothing judges it
}

// take is a recording to make.
type take struct {
	*runner.Take
	check  runner.Check // nil: each is right
	strict bool         // no recording is kept that is not right
	// put writes the recording's row into a manifest; nil if there is none.
	put func(dir string, x *runner.Recording, row runner.Row) error
}

// plain are takes of which each recording is right.
func plain(takes []*runner.Take) []take {
	var all []take
	for _, t := range takes {
		all = append(all, take{Take: t})
	}
	return all
}

// options are flags of both commands.
type options struct {
	dir, only, with string
	busy            int
}

// Commands are the commands that record the sets, and those that judge them.
func Commands() []cli.Command {
	var record, judge []cli.Command
	for _, s := range sets() {
		record = append(record, cli.Command{Name: "record " + s.name, What: "record " + s.what, Init: s.record})
		if s.judge != nil {
			judge = append(judge, cli.Command{Name: "judge " + s.name, What: "judge " + s.what, Init: s.judgeThem})
		}
	}
	return append(append(record, judge...), cli.Command{Name: "busy", Init: busy})
}

func (s *set) options(flags *flag.FlagSet) *options {
	o := &options{}
	flags.StringVar(&o.dir, "dir", s.dir, "`folder` of the traces")
	flags.StringVar(&o.only, "only", "", "only recordings whose names match this `regexp`")
	flags.StringVar(&o.with, "run-with", "", "`command` that starts the programs, such as \"nice -n -20\"")
	flags.IntVar(&o.busy, "busy", 0, "`number` of processes that compute meanwhile")
	if s.flags != nil {
		s.flags(flags)
	}
	return o
}

// folder is that of the traces, which is relative to the checkout if no flag names another.
func (s *set) folder(o *options, root string) (string, error) {
	switch o.dir {
	case "":
		return "", errors.New("-dir is missing")
	case s.dir:
		return filepath.Join(root, filepath.FromSlash(s.dir)), nil
	}
	return o.dir, nil
}

// run calls f with a runner for the checkout, beside busy processes.
func (o *options) run(ctx context.Context, f func(root string, only *regexp.Regexp, r *runner.Runner) error) error {
	only, err := regexp.Compile(o.only)
	if err != nil {
		return fmt.Errorf("-only: %w", err)
	}
	root, err := runner.Root()
	if err != nil {
		return err
	}
	temp, err := os.MkdirTemp("", "gmpscope-record-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(temp)
	stop, err := neighbours(ctx, o.busy)
	if err != nil {
		return err
	}
	defer stop()
	r := runner.New(root, temp)
	r.With = strings.Fields(o.with)
	return f(root, only, r)
}

func (s *set) record(flags *flag.FlagSet) cli.Do {
	o := s.options(flags)
	tries := flags.Int("tries", s.tries, "recordings to make of each at most")
	keep := flags.Int("keep", s.keep, "right ones to choose the least disturbed from")
	return func(ctx context.Context, _ []string, stdout io.Writer) error {
		return o.run(ctx, func(root string, only *regexp.Regexp, r *runner.Runner) error {
			dir, err := s.folder(o, root)
			if err != nil {
				return err
			}
			if err := os.MkdirAll(dir, 0o755); err != nil {
				return err
			}
			takes, err := s.takes(root)
			if err != nil {
				return err
			}
			takes = slices.DeleteFunc(takes, func(t take) bool { return !only.MatchString(t.Name) })
			if len(takes) == 0 {
				return fmt.Errorf("no recording matches %q", o.only)
			}
			for _, t := range takes {
				if err := t.record(ctx, r, dir, max(1, *tries), max(1, *keep), stdout); err != nil {
					return fmt.Errorf("%s: %w", t.Name, err)
				}
			}
			if s.prune == nil || o.only != "" {
				return nil
			}
			gone, err := s.prune(root, dir)
			for _, name := range gone {
				fmt.Fprintf(stdout, "%s: belongs to no program any more: removed\n", name)
			}
			return err
		})
	}
}

// record writes the best of some recordings, and its row in the manifest.
func (t *take) record(ctx context.Context, r *runner.Runner, dir string, tries, keep int, stdout io.Writer) error {
	best, wrong, err := r.Best(ctx, t.Take, tries, keep, t.check)
	if err != nil {
		return err
	}
	if t.strict && wrong != nil {
		return fmt.Errorf("no good recording in %d tries: %w", tries, wrong)
	}
	zipped, row, err := best.Pack()
	if err != nil {
		return err
	}
	if t.put != nil {
		if err := t.put(dir, best, row); err != nil {
			return err
		}
	}
	result := "right"
	if wrong != nil {
		result = wrong.Error()
	}
	fmt.Fprintf(stdout, "%s: %d bytes, CPU lacked %.1f ms: %s\n", t.Name, len(zipped), float64(best.Waited)/1e6, result)
	return os.WriteFile(filepath.Join(dir, t.File()), zipped, 0o644)
}

// judging is what is judged.
type judging struct {
	root, dir string
	only      *regexp.Regexp
	from      runner.Source
	live      int // fresh recordings of each; 0: those in dir
	stdout    io.Writer
}

func (s *set) judgeThem(flags *flag.FlagSet) cli.Do {
	o := s.options(flags)
	live := flags.Int("live", 0, "judge `N` fresh recordings of each, and keep none; 0: those in the folder")
	return func(ctx context.Context, _ []string, stdout io.Writer) error {
		return o.run(ctx, func(root string, only *regexp.Regexp, r *runner.Runner) error {
			j := &judging{root: root, only: only, from: r.Record, live: *live, stdout: stdout}
			if *live == 0 {
				var err error
				if j.dir, err = s.folder(o, root); err != nil {
					return err
				}
				j.from = runner.Stored(j.dir)
			}
			return s.judge(ctx, j)
		})
	}
}
