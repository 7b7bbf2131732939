package main

import (
	"bufio"
	"cmp"
	"context"
	"errors"
	"time"

	"github.com/spf13/cobra"

	"github.com/gmpscope/gmpscope/analyze"
	"github.com/gmpscope/gmpscope/analyze/input"
	"github.com/gmpscope/gmpscope/analyze/work"
	"github.com/gmpscope/gmpscope/internal/files"
	"github.com/gmpscope/gmpscope/reference"
	"github.com/gmpscope/gmpscope/report"
)

var errEnough = errors.New("enough")

const dumpAtOnce = 128 << 10

func (a *app) dump() *cobra.Command {
	var (
		r        readFlags
		from, to time.Duration
		stacks   bool
		units    bool
	)
	cmd := &cobra.Command{
		Use:   "dump TRACE",
		Short: "Print every decision of the scheduler, as JSON Lines",
		Long: `Dump prints the decisions of the scheduler, observed and inferred, one JSON
object a line, in their order. docs/json.md describes the keys, and so does the
JSON Schema docs/schema/dump.json; "basis" says how each is known.

With --units it prints the units of work instead, one object a line: docs/work.md,
and the JSON Schema docs/schema/units.json.`,
		Example: `  gmpscope dump trace.out | head
  gmpscope dump trace.out --from 1.2s --to 1.21s
  gmpscope dump trace.out | jq -c 'select(.k == "start" and (.src | startswith("steal")))'`,
		Args:              oneTrace,
		ValidArgsFunction: traceFiles,
	}
	cmd.RunE = a.reading(&r, func(ctx context.Context, args []string) error {
		if from < 0 || to < 0 {
			return usagef("--from and --to count from the first event: they must not be negative")
		}
		last := cmd.Flags().Changed("to")
		if last && to < from {
			return usagef("--to %s lies before --from %s", to, from)
		}
		if units && stacks {
			return usagef("--stacks is about decisions: leave it out, or --units")
		}
		w := bufio.NewWriterSize(files.Writer(ctx, a.stdout), 2*dumpAtOnce)
		lines := func(h input.Header, o *analyze.Options) {
			_, rules := analyze.ChooseRules(h, o.Rules)
			say := report.DumpOptions{NoQueues: h.V1, Rules: rules}
			o.OnClasses = func(name func(int32) string) { say.Class = name }
			if stacks {
				o.OnStacks = func(frames func(int32) []string) { say.Stack = frames }
			}
			var d *report.Dump
			o.DecisionsOnly = true
			o.OnDecision = func(dec *reference.Decision) error {
				if d == nil {
					d = report.NewDump(w, say)
				}
				switch {
				case dec.Time < int64(from):
					return nil
				case last && dec.Time >= int64(to):
					return errEnough
				}
				if err := d.Write(dec); err != nil || w.Buffered() < dumpAtOnce {
					return err
				}
				return w.Flush() // at the end of a line: that is where an interrupt ends the output
			}
		}
		var bad error
		if units {
			lines = func(_ input.Header, o *analyze.Options) {
				d := report.NewDumpUnits(w)
				o.Focus.From, o.Focus.To = int64(from), int64(to)
				names := analyze.NewPseudonyms() // those of the analysis are in use meanwhile
				o.OnUnit = func(u work.Unit) {
					if r.anonymize {
						u = names.Unit(u)
					}
					bad = cmp.Or(bad, d.Write(u))
				}
			}
		}
		res, err := a.analyze(ctx, args[0], r, lines)
		err = cmp.Or(err, bad)
		if err != nil && !errors.Is(err, errEnough) {
			return errors.Join(err, w.Flush())
		}
		if err := w.Flush(); err != nil {
			return err
		}
		if res != nil {
			a.warn(res.Trace.Warnings...)
		}
		return nil
	})
	r.flags(cmd.Flags())
	r.homeFlag(cmd.Flags())
	cmd.Flags().BoolVar(&stacks, "stacks", false, "with the stacks at which goroutines were made runnable and stopped")
	cmd.Flags().BoolVar(&units, "units", false, "print the units of work instead: requests, jobs, tests, with begin and end")
	cmd.Flags().DurationVar(&from, "from", 0, "begin at that `time` after the first event, for example 1.5s")
	cmd.Flags().DurationVar(&to, "to", 0, "end before that `time` after the first event")
	return cmd
}
