package main

import (
	"errors"
	"fmt"
	"io"
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/gmpscope/gmpscope/analyze"
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

type size int64

// units are what a size can be given in; without one it is in bytes.
var units = []struct {
	name  string
	bytes float64
}{
	{"KiB", 1 << 10}, {"MiB", 1 << 20}, {"GiB", 1 << 30}, {"TiB", 1 << 40},
	{"kB", 1e3}, {"MB", 1e6}, {"GB", 1e9}, {"TB", 1e12}, {"B", 1},
}

func (s *size) Set(text string) error {
	number, unit := text, 1.0
	for _, u := range units {
		if n, ok := strings.CutSuffix(text, u.name); ok {
			number, unit = strings.TrimSpace(n), u.bytes
			break
		}
	}
	x, err := strconv.ParseFloat(number, 64)
	if err != nil || !(x > 0) || x*unit > math.MaxInt64/2 {
		return errors.New("must be a size such as 512MiB or 2GB")
	}
	*s = size(x * unit)
	return nil
}

func (s size) String() string {
	switch {
	case s == 0:
		return ""
	case s%(1<<20) == 0:
		return fmt.Sprintf("%dMiB", s>>20)
	}
	return fmt.Sprintf("%dB", int64(s))
}

// Type names the flag's value in a usage message.
func (s *size) Type() string { return "size" }

func (r *readFlags) cpusFlag(f *pflag.FlagSet) {
	f.Func("cpus", "the process had `N` CPUs, such as 4, or 0.5 by a quota: with more Ps than that, lack of CPUs is certain (default: not known)", func(text string) (err error) {
		if r.cpus, err = strconv.ParseFloat(text, 64); err != nil {
			return errors.New("must be a number such as 4 or 0.5")
		}
		return analyze.CheckCPUs(r.cpus)
	})
}

// moved are commands of the version before, each of which answers with its new spelling.
func moved() []*cobra.Command {
	var cmds []*cobra.Command
	for name, now := range map[string]string{
		"summarize": "gmpscope fleet TRACE... -o FILE.sum",
		"config":    "gmpscope explain --config [FILE], or explain --schema",
	} {
		cmds = append(cmds, &cobra.Command{Use: name, Hidden: true, DisableFlagParsing: true, RunE: func(*cobra.Command, []string) error {
			return usagef("gmpscope %s is now: %s", name, now)
		}})
	}
	return cmds
}

// addMoved adds a flag of the version before, which answers with its new spelling.
func addMoved(f *pflag.FlagSet, name, now string) {
	f.BoolFunc(name, "now "+now, func(string) error { return fmt.Errorf("it is now %s", now) })
	f.Lookup(name).Hidden = true
}

// full is what a command shows in full.
type full struct{ allowed, chosen []string }

func (x *full) Set(s string) error {
	for w := range strings.SplitSeq(s, ",") {
		if !slices.Contains(x.allowed, w) {
			return fmt.Errorf("must be of %s", strings.Join(x.allowed, ", "))
		}
		x.chosen = append(x.chosen, w)
	}
	return nil
}
func (x *full) String() string { return strings.Join(x.chosen, ",") }
func (x *full) Type() string   { return strings.Join(x.allowed, ",") }

func (x *full) has(what string) bool { return slices.Contains(x.chosen, what) }

// fullFlag adds the flag of commands whose output shortens what is in allowed: path, names, findings.
func (r *readFlags) fullFlag(cmd *cobra.Command, allowed ...string) {
	about := map[string]string{
		"path":     "path: name a trace by its path as given, not only by the last part of it",
		"names":    "names: in text and HTML, call functions by their names with the paths of their packages; JSON has both",
		"findings": "findings: in text, show notes, and all after the twelfth finding, with their evidence",
	}
	old := map[string]string{"path": "full-path", "names": "full-names", "findings": "all-findings"}
	r.full.allowed = allowed
	var usage []string
	for _, w := range allowed {
		usage = append(usage, about[w])
		addMoved(cmd.Flags(), old[w], "--full "+w)
	}
	cmd.Flags().Var(&r.full, "full", "show in full: "+strings.Join(usage, "; "))
	must(cmd.RegisterFlagCompletionFunc("full", cobra.FixedCompletions(allowed, cobra.ShellCompDirectiveNoFileComp)))
}
