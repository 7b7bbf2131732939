package main

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"os"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/gmpscope/gmpscope/internal/files"
)

// man is hidden: it is for those who package the program.
func (a *app) man() *cobra.Command {
	var cmd *cobra.Command
	cmd = &cobra.Command{
		Use:     "man FOLDER",
		Short:   "Write manual pages into a folder",
		Long:    `Man writes a manual page (section 1) for each command into a folder, which is made if it is not there.`,
		Example: `  gmpscope man man1 && man -l man1/gmpscope-check.1`,
		Hidden:  true,
		Args: func(_ *cobra.Command, args []string) error {
			if len(args) != 1 || args[0] == "" {
				return usagef("name one folder")
			}
			return nil
		},
		RunE: a.do(func(ctx context.Context, args []string) error {
			if err := os.MkdirAll(args[0], 0o755); err != nil {
				return fmt.Errorf("manual pages: %w", err)
			}
			return a.writePages(ctx, args[0], cmd.Root())
		}),
	}
	return cmd
}

// writePages writes the page of a command and those of the commands below it.
func (a *app) writePages(ctx context.Context, dir string, cmd *cobra.Command) error {
	out, err := files.CreateIn(ctx, "the manual page", dir, pageName(cmd)+".1")
	if err != nil {
		return err
	}
	defer out.Discard()
	if err := writePage(out, cmd); err != nil {
		return err
	}
	if err := out.Commit(); err != nil {
		return err
	}
	for _, c := range documented(cmd) {
		if err := a.writePages(ctx, dir, c); err != nil {
			return err
		}
	}
	return nil
}

// documented are the commands below cmd that have a page; cobra's own have none.
func documented(cmd *cobra.Command) []*cobra.Command {
	var out []*cobra.Command
	for _, c := range cmd.Commands() {
		if c.IsAvailableCommand() && c.Name() != "help" && c.Name() != "completion" {
			out = append(out, c)
		}
	}
	return out
}

func pageName(cmd *cobra.Command) string { return strings.ReplaceAll(cmd.CommandPath(), " ", "-") }

// writePage writes a page in the macros of man(7).
func writePage(w io.Writer, cmd *cobra.Command) error {
	bw := bufio.NewWriter(w)
	name := pageName(cmd)
	fmt.Fprintf(bw, ".TH %q 1 \"\" %q\n", strings.ToUpper(name), tool())
	fmt.Fprintf(bw, ".SH NAME\n%s \\- %s\n", roff(name), roff(cmd.Short))
	fmt.Fprintf(bw, ".SH SYNOPSIS\n.B %s\n", roff(cmd.UseLine()))
	fmt.Fprint(bw, ".SH DESCRIPTION\n")
	for i, paragraph := range strings.Split(cmd.Long, "\n\n") {
		if i > 0 {
			fmt.Fprint(bw, ".PP\n")
		}
		writeParagraph(bw, paragraph)
	}
	fmt.Fprint(bw, ".SH OPTIONS\n")
	cmd.InitDefaultHelpFlag()
	cmd.Flags().VisitAll(func(f *pflag.Flag) {
		if !f.Hidden {
			writeOption(bw, f)
		}
	})
	if cmd.Example != "" {
		fmt.Fprint(bw, ".SH EXAMPLES\n")
		writeParagraph(bw, cmd.Example)
	}
	writeSeeAlso(bw, cmd)
	return bw.Flush()
}

// writeParagraph writes text as it is where its lines are indented.
func writeParagraph(w io.Writer, text string) {
	if strings.HasPrefix(text, "  ") {
		fmt.Fprintf(w, ".EX\n%s\n.EE\n", roff(text))
		return
	}
	fmt.Fprintln(w, roff(text))
}

func writeOption(w io.Writer, f *pflag.Flag) {
	value, usage := pflag.UnquoteUsage(f)
	flag := "--" + f.Name
	if f.Shorthand != "" {
		flag = "-" + f.Shorthand + ", " + flag
	}
	fmt.Fprintf(w, ".TP\n\\fB%s\\fR", roff(flag))
	if value != "" {
		fmt.Fprintf(w, " \\fI%s\\fR", roff(value))
	}
	fmt.Fprintf(w, "\n%s\n", roff(usage))
}

func writeSeeAlso(w io.Writer, cmd *cobra.Command) {
	var pages []string
	if cmd.HasParent() {
		pages = append(pages, pageName(cmd.Parent()))
	}
	for _, c := range documented(cmd) {
		pages = append(pages, pageName(c))
	}
	fmt.Fprint(w, ".SH SEE ALSO\n")
	for _, p := range pages {
		fmt.Fprintf(w, ".BR %s (1)\n", roff(p))
	}
}

// roff makes text harmless for roff: a dot or a quote that begins a line makes it a
// request, a backslash begins an escape, and a dash would become a hyphen.
func roff(text string) string {
	lines := strings.Split(strings.NewReplacer(`\`, `\e`, "-", `\-`).Replace(text), "\n")
	for i, l := range lines {
		if strings.HasPrefix(l, ".") || strings.HasPrefix(l, "'") {
			lines[i] = `\&` + l
		}
	}
	return strings.Join(lines, "\n")
}
