package main

import (
	"context"
	"fmt"
	"runtime"

	"github.com/spf13/cobra"

	"github.com/gmpscope/gmpscope/internal/version"
	"github.com/gmpscope/gmpscope/report"
	"github.com/gmpscope/gmpscope/report/html/echarts"
)

func (a *app) version() *cobra.Command {
	return &cobra.Command{
		Use:               "version",
		Short:             "Print the version",
		Args:              noArgs,
		ValidArgsFunction: cobra.NoFileCompletions,
		RunE: a.do(func(context.Context, []string) error {
			charts := "not built in"
			if _, ok := echarts.Embedded(); ok {
				charts = "built in"
			}
			_, err := fmt.Fprintf(a.stdout, "%s\nschema %d, %s %s/%s, ECharts %s %s\n",
				tool(), report.Schema, runtime.Version(), runtime.GOOS, runtime.GOARCH, echarts.Version, charts)
			return err
		}),
	}
}

func tool() string { return version.Tool() }

func noArgs(_ *cobra.Command, args []string) error {
	if len(args) > 0 {
		return usagef("unexpected argument %q", args[0])
	}
	return nil
}
