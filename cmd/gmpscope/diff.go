package main

import (
	"context"
	"fmt"
	"slices"

	"github.com/spf13/cobra"

	"github.com/gmpscope/gmpscope/analyze"
	"github.com/gmpscope/gmpscope/compare"
	"github.com/gmpscope/gmpscope/internal/files"
	"github.com/gmpscope/gmpscope/internal/term"
	"github.com/gmpscope/gmpscope/report"
	"github.com/gmpscope/gmpscope/report/html"
)

func (a *app) diff() *cobra.Command {
	var (
		r             readFlags
		format, fail  *choice
		before, after []string
		target        string
		open          bool
		full          bool
	)
	cmd := &cobra.Command{
		Use:   "diff BEFORE AFTER",
		Short: "Compare traces from before and after a change",
		Long: `Diff says whether scheduling got better or worse, whether that may be chance, and
which causes and classes account for it.

A side may be several traces, by --before and --after, or both: the traces are
the samples, and five a side are the least with which chance can be ruled out.
With fewer, windows within the traces are compared, which is weaker.

The output is text for people, or one JSON object for programs, which
docs/json.md describes, and the JSON Schema docs/schema/diff.json. With -o it is
also written as an HTML file.

With --fail-on worse it is a gate for a build, and exits with 3 if the verdict
is "worse"; with --fail-on mixed also if some is better and some worse. What
cannot be told from chance fails no build. For numbers of your own, and for
findings, see gmpscope check.`,
		Example: `  gmpscope diff before.out after.out
  gmpscope diff before.out after.out -o diff.html --open
  gmpscope diff --before a1.out --before a2.out --after b1.out --after b2.out
  gmpscope diff before.out after.out --format json | jq .verdict
  gmpscope diff before.out after.out --fail-on worse`,
		Args:              cobra.ArbitraryArgs,
		ValidArgsFunction: manyTraces,
		RunE: a.do(func(ctx context.Context, args []string) error {
			if err := r.check(); err != nil {
				return err
			}
			b, f, err := sides(args, before, after)
			if err != nil {
				return err
			}
			if target == "" && open {
				return usagef("--open needs a file: name one with -o")
			}
			if target == "-" {
				return usagef("-o needs a file: the text goes to standard output")
			}
			if err := a.declareInputs("the trace", slices.Concat(b, f)...); err != nil {
				return err
			}
			if _, err := a.configure(ctx, r); err != nil {
				return err
			}
			var page *files.Output
			if target != "" {
				if page, err = a.create(ctx, "-o", target); err != nil {
					return err
				}
				defer page.Discard()
			}
			c, first, warnings, err := a.compare(ctx, b, f, r)
			if err != nil {
				return err
			}
			if full {
				first[0].ShowFullNames()
				first[1].ShowFullNames()
			}
			if page != nil {
				if err := html.WriteDiff(files.Writer(ctx, page), c, first[0], first[1], tool()); err != nil {
					return err
				}
				if err := page.Commit(); err != nil {
					return err
				}
			}
			out := files.Writer(ctx, a.stdout)
			if format.value == "json" {
				err = report.WriteDiffJSON(out, c, tool())
			} else {
				err = report.WriteDiffText(out, c, report.TextOptions{Color: term.Color(a.stdout, a.getenv), FullNames: full})
			}
			if err != nil {
				return err
			}
			a.warn(warnings)
			a.noteUnused()
			if open {
				if err := openBrowser(target); err != nil {
					a.warn([]string{fmt.Sprintf("the comparison could not be opened in a browser: %v", err)})
				}
			}
			if asBadAs(c.Verdict, fail.value) {
				return errGate
			}
			return nil
		}),
	}
	r.flags(cmd.Flags())
	r.pathFlag(cmd.Flags())
	r.cpusFlag(cmd.Flags())
	r.configFlag(cmd)
	fullNamesFlag(cmd.Flags(), &full)
	format = addChoice(cmd, "format", "how to print it", "text", "json")
	fail = addChoice(cmd, "fail-on", "the verdict from which on to fail", "never", "worse", "mixed")
	cmd.Flags().StringVarP(&target, "output", "o", "", "write the comparison to `FILE`, as HTML, too")
	cmd.Flags().BoolVar(&open, "open", false, "open that file in the browser")
	if err := cmd.MarkFlagFilename("output", "html"); err != nil {
		panic(err) // the flag was added above
	}
	cmd.Flags().StringArrayVar(&before, "before", nil, "a `TRACE` from before the change; can be repeated")
	cmd.Flags().StringArrayVar(&after, "after", nil, "a `TRACE` from after it; can be repeated")
	return cmd
}

// asBadAs reports whether a verdict is at least as bad as failOn, a value of
// --fail-on: worse is the worst, then mixed.
func asBadAs(v compare.Verdict, failOn string) bool {
	switch failOn {
	case "worse":
		return v == compare.Worse
	case "mixed":
		return v == compare.Worse || v == compare.Mixed
	}
	return false
}

// sides are the traces of each side: the two arguments, those of the flags, or
// both.
func sides(args, before, after []string) (b, f []string, err error) {
	b, f = before, after
	switch {
	case len(args) == 2:
		b, f = append([]string{args[0]}, b...), append([]string{args[1]}, f...)
	case len(args) != 0:
		return nil, nil, usagef("name two traces, BEFORE and AFTER, or use --before and --after; there are %d arguments", len(args))
	}
	if len(b) == 0 || len(f) == 0 {
		return nil, nil, usagef("each side needs a trace: name BEFORE and AFTER, or use --before and --after")
	}
	stdin := 0
	for _, list := range [][]string{b, f} {
		for _, name := range list {
			switch name {
			case "":
				return nil, nil, usagef("the name of a trace is empty")
			case "-":
				if stdin++; stdin > 1 {
					return nil, nil, usagef("standard input can be read only once")
				}
			}
		}
	}
	return b, f, nil
}

// compare analyses the traces of both sides, one after the other. first are the
// documents of the first trace of each.
func (a *app) compare(ctx context.Context, before, after []string, r readFlags) (c *compare.Result, first [2]*report.Document, warnings []string, err error) {
	r.picture = true // by its windows the sides are compared
	all := func(names []string) ([]*analyze.Result, error) {
		var out []*analyze.Result
		for _, name := range names {
			res, err := a.analyze(ctx, name, r, nil)
			if err != nil {
				return nil, err
			}
			for _, w := range res.Trace.Warnings {
				warnings = append(warnings, fmt.Sprintf("%s: %s", res.Trace.Name, w))
			}
			out = append(out, res)
		}
		return out, nil
	}
	b, err := all(before)
	if err != nil {
		return nil, first, nil, err
	}
	f, err := all(after)
	if err != nil {
		return nil, first, nil, err
	}
	r.name(slices.Concat(b, f)...)
	c, err = compare.Compare(b, f)
	first = [2]*report.Document{report.Build(b[0], tool()), report.Build(f[0], tool())}
	return c, first, warnings, err
}

// manyTraces completes the names of two traces.
func manyTraces(_ *cobra.Command, args []string, _ string) ([]string, cobra.ShellCompDirective) {
	if len(args) > 1 {
		return nil, cobra.ShellCompDirectiveNoFileComp
	}
	return traceFiles(nil, nil, "")
}
