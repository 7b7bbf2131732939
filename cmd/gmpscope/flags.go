package main

import (
	"io"
	"slices"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/gmpscope/gmpscope/internal/term"
)

// flagGroups are the flags by what they are about, in the order in which help has them. Those of
// no group are the command's own, and come first.
var flagGroups = []struct {
	title string
	names []string
}{
	{"Output", []string{"output", "format", "open", "top", "full", "timeline", "anonymize", "quiet", "markdown", "link"}},
	{"Part of the trace", []string{"from", "to", "until", "class", "goroutine", "task", "trace-id", "unit"}},
	{"Judgement", []string{"config", "home", "program", "reference", "go-version"}},
	{"Machine", []string{"cpus", "kernel", "cgroup-stat"}},
	{"Limits", []string{"max-memory", "max-size", "workers", "no-fetch"}},
}

// widest is how wide help is at most: longer lines are hard to read.
const widest = 110

// groupFlags has the help of a command, and of those below it, group its flags and wrap them to
// the terminal.
func groupFlags(root *cobra.Command) {
	cobra.AddTemplateFunc("groupedFlags", grouped)
	const flags = "Flags:\n{{.LocalFlags.FlagUsages | trimTrailingWhitespaces}}"
	root.SetUsageTemplate(strings.Replace(root.UsageTemplate(), flags, "{{groupedFlags . | trimTrailingWhitespaces}}", 1))
}

// grouped are the flags of a command, under their titles.
func grouped(cmd *cobra.Command) string {
	width := min(term.Columns(cmd.OutOrStdout()), widest)
	sets := make([]*pflag.FlagSet, len(flagGroups)+1)
	for i := range sets {
		sets[i] = pflag.NewFlagSet("", pflag.ContinueOnError)
		sets[i].SetOutput(io.Discard)
	}
	cmd.LocalFlags().VisitAll(func(f *pflag.Flag) {
		at := 0
		for i, g := range flagGroups {
			if slices.Contains(g.names, f.Name) {
				at = i + 1
			}
		}
		// Of some lists pflag sees by itself that they are empty.
		if f.DefValue == "[]" && !slices.Contains([]string{"intSlice", "stringSlice", "stringArray"}, f.Value.Type()) {
			shown := *f
			shown.DefValue = ""
			f = &shown
		}
		sets[at].AddFlag(f)
	})
	var out []string
	for i, set := range sets {
		usages := set.FlagUsagesWrapped(width)
		if usages == "" {
			continue
		}
		title := "Flags"
		if i > 0 {
			title = flagGroups[i-1].title
		}
		out = append(out, title+":\n"+usages)
	}
	return strings.Join(out, "\n")
}
