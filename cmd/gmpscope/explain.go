package main

import (
	"context"
	"errors"
	"strings"

	"github.com/spf13/cobra"

	"github.com/gmpscope/gmpscope/analyze/config"
	"github.com/gmpscope/gmpscope/internal/term"
	"github.com/gmpscope/gmpscope/report"
)

func (a *app) explain() *cobra.Command {
	var settings, schema bool
	cmd := &cobra.Command{
		Use:   "explain [NAME] | --config [FILE] | --schema",
		Short: "Explain a finding, a cause, a metric or a word; print the configuration",
		Long: `Explain prints what a finding means, how it is detected and what to do about it,
or what a cause of waiting, a source of starts, a metric or a word stands for.
Without a name it lists everything that it can explain.

With --config it prints what findings are judged by: the thresholds of all
detectors, and the suppressions, by default or with a FILE. It is JSON, and a
configuration itself: keep what you change, and give it to analyze, report, check
or diff. --schema prints its JSON Schema. docs/config.md has more.`,
		Example: `  gmpscope explain
  gmpscope explain starvation
  gmpscope explain idle-p-available
  gmpscope explain global run queue
  gmpscope explain --config | jq '.thresholds["timer-lateness"]'
  gmpscope explain --config gmpscope.json
  gmpscope explain --schema > gmpscope.schema.json`,
		ValidArgsFunction: func(_ *cobra.Command, args []string, _ string) ([]string, cobra.ShellCompDirective) {
			if settings {
				return nil, cobra.ShellCompDirectiveDefault
			}
			if len(args) > 0 {
				return nil, cobra.ShellCompDirectiveNoFileComp
			}
			return report.Names(), cobra.ShellCompDirectiveNoFileComp
		},
		RunE: a.do(func(ctx context.Context, args []string) error {
			switch {
			case schema && (settings || len(args) > 0):
				return usagef("--schema is the same for each configuration: leave out what else there is")
			case schema:
				_, err := a.stdout.Write(config.Schema())
				return err
			case settings:
				return a.writeConfig(ctx, args)
			}
			o := report.TextOptions{Color: term.Color(a.stdout, a.getenv)}
			if len(args) == 0 {
				return report.WriteNames(a.stdout, o)
			}
			err := report.WriteExplanation(a.stdout, strings.Join(args, " "), o)
			if _, unknown := errors.AsType[*report.UnknownName](err); unknown {
				return &usageError{msg: err.Error(), hint: "gmpscope explain"}
			}
			return err
		}),
	}
	cmd.Flags().BoolVar(&settings, "config", false, "print the thresholds and suppressions in force")
	cmd.Flags().BoolVar(&schema, "schema", false, "print the JSON Schema of a configuration")
	return cmd
}
