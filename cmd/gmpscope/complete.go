package main

import (
	"os"

	"github.com/spf13/cobra"

	"github.com/gmpscope/gmpscope/analyze"
	"github.com/gmpscope/gmpscope/internal/term"
)

// maxCompleted is the size of a file, in bytes, up to which it is analysed for what the
// shell asks: that takes some tenths of a second.
const maxCompleted = 8 << 20

// completeClasses has the shell complete the classes of the trace that is named already.
func completeClasses(cmd *cobra.Command) {
	must(cmd.RegisterFlagCompletionFunc("class", func(cmd *cobra.Command, args []string, _ string) ([]string, cobra.ShellCompDirective) {
		if len(args) != 1 {
			return nil, cobra.ShellCompDirectiveNoFileComp
		}
		st, err := os.Stat(args[0])
		if err != nil || !st.Mode().IsRegular() || st.Size() > maxCompleted {
			return nil, cobra.ShellCompDirectiveNoFileComp
		}
		res, err := analyze.File(cmd.Context(), args[0], analyze.Options{NoTimeline: true})
		if err != nil {
			return nil, cobra.ShellCompDirectiveNoFileComp
		}
		return classesToComplete(res), cobra.ShellCompDirectiveNoFileComp | cobra.ShellCompDirectiveKeepOrder
	}))
}

// classesToComplete are the names of classes, those that waited longest first. What
// would drive the terminal is left out.
func classesToComplete(res *analyze.Result) []string {
	var out []string
	seen := map[string]bool{}
	for i := range res.Waits.Classes {
		name := res.Waits.Classes[i].Name
		if name != "" && name == term.Visible(name) && !seen[name] {
			seen[name] = true
			out = append(out, name)
		}
	}
	return out
}
