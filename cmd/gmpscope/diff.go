package main

import (
	"context"
	"fmt"
	"os"
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
	)
	cmd := &cobra.Command{
		Use:   "diff BEFORE AFTER | DIR",
		Short: "Compare traces from before and after a change",
		Long: `Diff reports what became better or worse for those who use the program: throughput
and latency of requests, jobs and tests by kind, and how long the same work took;
whether that may be chance, or the machine; and what of their time changed.

A side may be several traces, by --before and --after, or both, or all in a folder
that gmpscope record --alternate has written: old.1.trace, new.1.trace and so on.
Four a side, recorded in turns, are a good number. With fewer than three a side it
is judged by how much other programs differ from one recording to the next.

The output is text for people, or one JSON object for programs, which
docs/json.md describes, and the JSON Schema docs/schema/diff.json. With -o it is
also written as an HTML file.

With --fail-on worse it is a gate for a build: it exits with 3 if the verdict is
"worse", and with 4 if it is "inconclusive"; with --fail-on mixed also with 3 if
some is better and some worse. For numbers of your own, and for findings, see
gmpscope check.`,
		Example: `  gmpscope diff before.out after.out
  gmpscope record --alternate --runs 5 -o runs -- ./old --and ./new && gmpscope diff runs
  gmpscope diff --before a1.out --before a2.out --after b1.out --after b2.out
  gmpscope diff before.out after.out -o diff.html --open
  gmpscope diff before.out after.out --format json | jq .verdict
  gmpscope diff runs --fail-on worse`,
		Args:              cobra.ArbitraryArgs,
		ValidArgsFunction: bothTraces,
		RunE: a.reading(&r, func(ctx context.Context, args []string) error {
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
			if r.full.has("names") {
				first[0].ShowFullNames()
				first[1].ShowFullNames()
			}
			if page != nil {
				if err := html.WriteDiff(files.Writer(ctx, page), c, first[0], first[1], tool(), html.Options{ECharts: a.echarts(ctx, true)}); err != nil {
					return err
				}
				if err := page.Commit(); err != nil {
					return err
				}
				a.wrote(target, r.quiet)
			}
			out := files.Writer(ctx, a.stdout)
			if format.value == "json" {
				err = report.WriteDiffJSON(out, c, tool())
			} else {
				err = report.WriteDiffText(out, c, report.TextOptions{Color: term.Color(a.stdout, a.getenv), FullNames: r.full.has("names")})
			}
			if err != nil {
				return err
			}
			a.warn(warnings...)
			a.noteUnused()
			if open {
				if err := openBrowser(target); err != nil {
					a.warn(fmt.Sprintf("the comparison could not be opened in a browser: %v", err))
				}
			}
			return gateOf(c.Verdict, fail.value)
		}),
	}
	r.flags(cmd.Flags())
	r.fullFlag(cmd, "names", "path")
	r.cpusFlag(cmd.Flags())
	r.configFlag(cmd)
	format = addChoice(cmd, "format", "how to print it", "text", "json")
	fail = addChoice(cmd, "fail-on", "the verdict from which on to fail", "never", "worse", "mixed")
	cmd.Flags().StringVarP(&target, "output", "o", "", "write the comparison to `FILE`, as HTML, too")
	cmd.Flags().BoolVar(&open, "open", false, "open that file in the browser")
	must(cmd.MarkFlagFilename("output", "html"))
	cmd.Flags().StringArrayVar(&before, "before", nil, "a `TRACE` from before the change; can be repeated")
	cmd.Flags().StringArrayVar(&after, "after", nil, "a `TRACE` from after it; can be repeated")
	return cmd
}

// gateOf is the error of a verdict for --fail-on: nil if it passes.
func gateOf(v compare.Verdict, failOn string) error {
	switch {
	case failOn == "never":
		return nil
	case v == compare.Worse, v == compare.Mixed && failOn == "mixed":
		return errGate
	case v == compare.Inconclusive:
		return errInconclusive
	}
	return nil
}

// sides are the traces of each side: the two arguments, those of the flags, or
// both; or those in a folder, as record --alternate calls them.
func sides(args, before, after []string) (b, f []string, err error) {
	b, f = before, after
	switch {
	case len(args) == 2:
		b, f = append([]string{args[0]}, b...), append([]string{args[1]}, f...)
	case len(args) == 1 && isFolder(args[0]):
		for i, list := range []*[]string{&b, &f} {
			found, err := alternated(args[0], i)
			if err != nil {
				return nil, nil, err
			}
			*list = append(*list, found...)
		}
	case len(args) != 0:
		return nil, nil, usagef("name two traces, BEFORE and AFTER, or a folder, or use --before and --after; there are %d arguments", len(args))
	}
	if len(b) == 0 || len(f) == 0 {
		return nil, nil, usagef("each side needs a trace: name BEFORE and AFTER, or use --before and --after")
	}
	stdin := 0
	for _, name := range slices.Concat(b, f) {
		switch name {
		case "":
			return nil, nil, usagef("the name of a trace is empty")
		case "-":
			if stdin++; stdin > 1 {
				return nil, nil, usagef("standard input can be read only once")
			}
		}
	}
	return b, f, nil
}

func isFolder(name string) bool {
	st, err := os.Stat(name)
	return err == nil && st.IsDir()
}

// compare analyses the traces of both sides, one after the other. first are the
// documents of the first trace of each.
func (a *app) compare(ctx context.Context, before, after []string, r readFlags) (c *compare.Result, first [2]*report.Document, warnings []string, err error) {
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
