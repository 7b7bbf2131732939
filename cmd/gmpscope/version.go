package main

import (
	"cmp"
	"context"
	"fmt"
	"runtime"
	"runtime/debug"
	"strings"

	"github.com/spf13/cobra"

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

// What scripts/release has the linker set: the tag, if there is one, and the commit,
// with ",modified" behind it if the files differ from it.
var tag, commit string

// tool is gmpscope with its version, as documents name it.
func tool() string {
	b, _ := debug.ReadBuildInfo()
	return "gmpscope " + versionOf(tag, commit, b)
}

// versionOf says which version this is: by what scripts/release set, by what the go
// command knows of the clone that it built, or by the module that it installed. b
// may be nil.
func versionOf(tag, commit string, b *debug.BuildInfo) string {
	commit, state, _ := strings.Cut(commit, ",")
	version := cmp.Or(tag, "devel")
	if b != nil && commit == "" {
		for _, s := range b.Settings {
			switch {
			case s.Key == "vcs.revision":
				commit = s.Value
			case s.Key == "vcs.modified" && s.Value == "true":
				state = "modified"
			}
		}
		// In a clone the go command makes up a version since Go 1.24, such as
		// v0.0.0-20260102150405-0123456789ab+dirty; it says no more than the commit.
		if commit == "" && b.Main.Version != "(devel)" {
			version = cmp.Or(b.Main.Version, version)
		}
	}
	if commit == "" {
		return version
	}
	version += " (commit " + commit[:min(12, len(commit))]
	if state != "" {
		version += ", " + state
	}
	return version + ")"
}

func noArgs(_ *cobra.Command, args []string) error {
	if len(args) > 0 {
		return usagef("unexpected argument %q", args[0])
	}
	return nil
}
