package main

import (
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
)

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

// movedFlag is a flag of the version before, which answers with its new spelling.
type movedFlag struct{ now string }

func (m movedFlag) Set(string) error { return fmt.Errorf("it is now %s", m.now) }
func (movedFlag) String() string     { return "" }
func (movedFlag) Type() string       { return "bool" }

func addMoved(f *pflag.FlagSet, name, now string) {
	f.Var(movedFlag{now}, name, "now "+now)
	f.Lookup(name).Hidden = true
	f.Lookup(name).NoOptDefVal = "true"
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
