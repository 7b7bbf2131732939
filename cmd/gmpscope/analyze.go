package main

import (
	"context"

	"github.com/spf13/cobra"

	"github.com/gmpscope/gmpscope/analyze"
	"github.com/gmpscope/gmpscope/internal/files"
	"github.com/gmpscope/gmpscope/internal/term"
	"github.com/gmpscope/gmpscope/report"
)

// writing returns the context that ends the output about a trace: of one whose analysis was
// interrupted nothing does, so that what is known is written.
func writing(ctx context.Context, res *analyze.Result) context.Context {
	if res.Trace.Interrupted {
		return context.WithoutCancel(ctx)
	}
	return ctx
}

// interrupted is the error of a command that wrote what was known of a trace
// when it was interrupted.
func interrupted(ctx context.Context, res *analyze.Result) error {
	if res.Trace.Interrupted {
		return context.Cause(ctx)
	}
	return nil
}

func (a *app) analyzeCmd() *cobra.Command {
	var (
		r        readFlags
		format   *choice
		timeline bool
		top      int
	)
	cmd := &cobra.Command{
		Use:   "analyze TRACE",
		Short: "Print the analysis, as text or for programs",
		Long: `Analyze prints what the report says, without the pictures: as text for people,
or as one JSON object for programs, which docs/json.md describes, and the JSON
Schema docs/schema/analyze.json.

Interrupted while it reads, it prints what it knows of the trace so far, marked
as incomplete, and fails. A second interrupt ends it at once.`,
		Example: `  gmpscope analyze trace.out
  gmpscope analyze trace.out --top 5
  gmpscope analyze trace.out --from 1.2s --to 1.5s --class '*readLoop'
  gmpscope analyze trace.out --kernel sched.txt.zst
  gmpscope analyze trace.out --format json | jq '.waits.p99_ns'
  gmpscope analyze trace.out --format json | jq -r '.findings[] | [.severity, .id, .title] | @tsv'`,
		Args:              oneTrace,
		ValidArgsFunction: traceFiles,
		RunE: a.reading(&r, func(ctx context.Context, args []string) error {
			if timeline && format.value != "json" {
				return usagef("--timeline needs --format json")
			}
			if top < 0 || top > 0 && format.value != "text" {
				return usagef("--top takes a number of lines, and text")
			}
			r.picture = timeline
			if err := a.readsKernel(&r, args[0]); err != nil {
				return err
			}
			if _, err := a.configure(ctx, r); err != nil {
				return err
			}
			doc, err := a.document(ctx, args[0], r)
			if err != nil {
				return err
			}
			res := doc.Result
			out := files.Writer(writing(ctx, res), a.stdout)
			if format.value == "json" {
				err = report.WriteJSON(out, doc, report.JSONOptions{Timeline: timeline})
			} else {
				err = report.WriteText(out, doc, report.TextOptions{Color: term.Color(a.stdout, a.getenv), AllFindings: r.full.has("findings"), Top: top})
			}
			if err != nil {
				return err
			}
			a.warn(res.Trace.Warnings...)
			a.noteUnused()
			return interrupted(ctx, res)
		}),
	}
	r.reportingFlags(cmd, "names", "path", "findings")
	format = addChoice(cmd, "format", "how to print it", "text", "json")
	format.moved = map[string]string{"bench": "gmpscope export bench", "openmetrics": "gmpscope export openmetrics"}
	cmd.Flags().IntVar(&top, "top", 0, "with --format text: only the verdict, and the first `N` kinds of work and findings, a line each")
	cmd.Flags().BoolVar(&timeline, "timeline", false, "with --format json: add the picture over time, which is large")
	return cmd
}
