package main

import (
	"io"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
)

// TestFlagGroups wants each name in a group to be a flag of some command, and no default shown
// where there is none.
func TestFlagGroups(t *testing.T) {
	known := map[string]bool{}
	var visit func(*cobra.Command)
	visit = func(cmd *cobra.Command) {
		cmd.LocalFlags().VisitAll(func(f *pflag.Flag) { known[f.Name] = true })
		if help := grouped(cmd); strings.Contains(help, "(default )") || strings.Contains(help, "(default [])") {
			t.Errorf("%s shows empty defaults:\n%s", cmd.Name(), help)
		}
		for _, c := range cmd.Commands() {
			visit(c)
		}
	}
	visit((&app{stdout: io.Discard, stderr: io.Discard, getenv: os.Getenv, now: time.Now}).root())
	for _, g := range flagGroups {
		for _, name := range g.names {
			if !known[name] {
				t.Errorf("no command has --%s, of the group %s", name, g.title)
			}
		}
	}
}
