package main

import (
	"context"
	"errors"
	"strings"

	"github.com/spf13/cobra"

	"github.com/gmpscope/gmpscope/internal/term"
	"github.com/gmpscope/gmpscope/report"
)

func (a *app) explain() *cobra.Command {
	return &cobra.Command{
		Use:   "explain [NAME]",
		Short: "Explain a finding, a cause, a metric or a word",
		Long: `Explain tells what a finding means, how it is detected and what to do about it,
or what a cause of waiting, a source of starts, a metric or a word stands for.
Without a name it lists everything that it can explain.`,
		Example: `  gmpscope explain
  gmpscope explain starvation
  gmpscope explain idle-p/missed
  gmpscope explain global run queue`,
		ValidArgsFunction: func(_ *cobra.Command, args []string, _ string) ([]string, cobra.ShellCompDirective) {
			if len(args) > 0 {
				return nil, cobra.ShellCompDirectiveNoFileComp
			}
			return report.Names(), cobra.ShellCompDirectiveNoFileComp
		},
		RunE: a.do(func(_ context.Context, args []string) error {
			o := report.TextOptions{Color: term.Color(a.stdout, a.getenv)}
			if len(args) == 0 {
				return report.WriteNames(a.stdout, o)
			}
			err := report.WriteExplanation(a.stdout, strings.Join(args, " "), o)
			var unknown *report.UnknownName
			if errors.As(err, &unknown) {
				return &usageError{msg: err.Error(), hint: "gmpscope explain"}
			}
			return err
		}),
	}
}
