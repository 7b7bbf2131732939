package main

import (
	"context"

	"github.com/spf13/cobra"

	"github.com/gmpscope/gmpscope/analyze/input"
	"github.com/gmpscope/gmpscope/internal/term"
	"github.com/gmpscope/gmpscope/reference"
	"github.com/gmpscope/gmpscope/replay"
	"github.com/gmpscope/gmpscope/report"
)

func (a *app) replay() *cobra.Command {
	var (
		r           reading
		format      *choice
		divergences int
	)
	cmd := &cobra.Command{
		Use:   "replay TRACE",
		Short: "Hold a trace against the rules of the scheduler",
		Long: `Replay steps the run queues along the rebuilt decisions of a trace, and holds
every start against the rules of the scheduler: explained, explained up to a
race, or unexplained, with the evidence. This is the guided replay.

It does not simulate: the free replay (what would the scheduler do with this
work?) and what-if (other GOMAXPROCS, other policies) are not there yet.

The output is text for people, or one JSON object for programs, whose schema
docs/json.md describes.`,
		Example: `  gmpscope replay trace.out
  gmpscope replay trace.out --format json | jq .guided.by_rule
  gmpscope replay trace.out --format json | jq -c '.guided.divergences[]'`,
		Args:              oneTrace,
		ValidArgsFunction: traceFiles,
		RunE: a.do(func(ctx context.Context, args []string) error {
			if err := r.check(); err != nil {
				return err
			}
			if divergences < 1 {
				return usagef("--divergences %d: must be 1 or more", divergences)
			}
			var g *replay.Guiding
			res, err := a.analyze(ctx, args[0], r, func(h input.Header) func(*reference.Decision) error {
				g = replay.NewGuiding(h, replay.Options{Divergences: divergences})
				return g.Add
			})
			if err != nil {
				return err
			}
			out := g.Finish(res)
			if format.value == "json" {
				err = report.WriteReplayJSON(a.stdout, out, tool())
			} else {
				err = report.WriteReplayText(a.stdout, out, report.TextOptions{Color: term.Color(a.stdout, a.getenv)})
			}
			if err != nil {
				return err
			}
			a.warn(res.Trace.Warnings)
			return nil
		}),
	}
	r.flags(cmd.Flags())
	format = addChoice(cmd, "format", "how to print it", "text", "json")
	cmd.Flags().IntVar(&divergences, "divergences", 100, "keep at most `N` divergences as evidence")
	return cmd
}
