package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"github.com/spf13/cobra"

	"github.com/gmpscope/gmpscope/analyze"
	"github.com/gmpscope/gmpscope/analyze/input"
	"github.com/gmpscope/gmpscope/export/parquet"
	"github.com/gmpscope/gmpscope/export/perfetto"
	"github.com/gmpscope/gmpscope/export/pprof"
	"github.com/gmpscope/gmpscope/internal/files"
	"github.com/gmpscope/gmpscope/report"
)

func (a *app) export() *cobra.Command {
	formats := []*cobra.Command{a.exportPprof(), a.exportPerfetto(), a.exportParquet(), a.exportNumbers("bench"), a.exportNumbers("openmetrics")}
	var names []string
	for _, c := range formats {
		names = append(names, c.Name())
	}
	cmd := &cobra.Command{
		Use:   "export",
		Short: "Write the analysis for another tool",
		Long: `Export writes what the analysis found in a format that another tool reads.
docs/export.md says what each holds, and how to open it.`,
		Example: `  gmpscope export pprof trace.out -o waits.pprof && go tool pprof -http=: waits.pprof`,
		Args: func(_ *cobra.Command, args []string) error {
			known := strings.Join(names, ", ")
			if len(args) == 0 {
				return usagef("name a format: %s", known)
			}
			return usagef("there is no format %q: there are %s", args[0], known)
		},
		RunE: func(*cobra.Command, []string) error { return nil }, // Args refuses whatever there is
	}
	cmd.AddCommand(formats...)
	return cmd
}

type exportFlags struct {
	readFlags
	output string
}

// flags adds the flags of a format, which takes a trace.
func (x *exportFlags) flags(cmd *cobra.Command, usage string) {
	cmd.Args, cmd.ValidArgsFunction = oneTrace, traceFiles
	x.readFlags.flags(cmd.Flags())
	x.fullFlag(cmd, "path")
	x.focusing.flags(cmd)
	cmd.Flags().StringVarP(&x.output, "output", "o", "", usage)
}

// prepare checks the flags, and declares and reads what an export needs besides its trace.
func (a *app) prepare(ctx context.Context, trace string, x *exportFlags) error {
	if x.output == "" {
		return usagef("name what to write with -o")
	}
	if err := x.check(); err != nil {
		return err
	}
	if err := a.declareInputs("the trace", trace); err != nil {
		return err
	}
	_, err := a.configure(ctx, x.readFlags)
	return err
}

// finish writes to the end what an export writes of a result.
type finish = func(*analyze.Result) error

// exportFile writes a format, for which begin asks in the options for what it is to see of the analysis.
func (a *app) exportFile(ctx context.Context, trace string, x exportFlags, begin func(io.Writer, *analyze.Options) finish) error {
	if err := a.prepare(ctx, trace, &x); err != nil {
		return err
	}
	err := a.output(ctx, "-o", x.output, func(out *files.Output) error {
		return a.exportTo(ctx, trace, x, func(o *analyze.Options) finish { return begin(files.Writer(ctx, out), o) })
	})
	if err == nil {
		a.wrote(x.output, x.quiet)
	}
	return err
}

func (a *app) exportTo(ctx context.Context, trace string, x exportFlags, begin func(*analyze.Options) finish) error {
	var end finish
	res, err := a.analyze(ctx, trace, x.readFlags, func(_ input.Header, o *analyze.Options) { end = begin(o) })
	if err != nil {
		return err
	}
	x.name(res)
	if err := end(res); err != nil {
		return fmt.Errorf("exporting: %w", err)
	}
	a.warn(res.Trace.Warnings...)
	return nil
}

func (a *app) exportPprof() *cobra.Command {
	var (
		x                  exportFlags
		all, blocked, work bool
	)
	cmd := &cobra.Command{
		Use:   "pprof TRACE -o FILE",
		Short: "Write the waiting as a profile, for go tool pprof",
		Long: `Export pprof writes how often, and for how long, goroutines waited for a P, by the
stack at which they had stopped before, or were created. Each sample has the
labels cause, class, source (the queue it was taken from) and waker (who made it
runnable). The profile is compressed.

With --work it is about units of work instead: what their latency consists of, by
kind, who, what and where (docs/work.md).`,
		Example: `  gmpscope export pprof trace.out -o waits.pprof
  go tool pprof -http=: waits.pprof
  go tool pprof -top -tagfocus cause=behind waits.pprof
  go tool pprof -top -diff_base before.pprof after.pprof
  gmpscope export pprof --work trace.out -o latency.pprof`,
		RunE: a.do(func(ctx context.Context, args []string) error {
			if (all || blocked) && work {
				return usagef("--all and --blocked are about waits: leave them out, or --work")
			}
			return a.exportFile(ctx, args[0], x, func(w io.Writer, o *analyze.Options) finish {
				if work {
					return func(res *analyze.Result) error { return pprof.WriteWork(w, res) }
				}
				p := pprof.NewWriter(w, pprof.Options{All: all, Blocked: blocked})
				o.Observer = p
				return p.Finish
			})
		}),
	}
	x.flags(cmd, "write the profile to `FILE`; - is standard output")
	cmd.Flags().BoolVar(&all, "all", false, "with the waits of the runtime's goroutines, and those after runtime.Gosched")
	cmd.Flags().BoolVar(&blocked, "blocked", false, "with how long goroutines were blocked before, and who ended that, as values of their own")
	cmd.Flags().BoolVar(&work, "work", false, "what the latency of units of work consists of, instead of waits")
	return cmd
}

func (a *app) exportPerfetto() *cobra.Command {
	var x exportFlags
	cmd := &cobra.Command{
		Use:   "perfetto TRACE -o FILE",
		Short: "Write what the scheduler did, for the Perfetto UI",
		Long: `Export perfetto writes a trace that ui.perfetto.dev and Perfetto's trace processor
open: the run intervals of goroutines on each P and each thread, the lengths of
the run queues, arrows for wake-ups and steals, and the findings.`,
		Example: `  gmpscope export perfetto trace.out -o trace.perfetto
  gmpscope export perfetto trace.out --from 1.2s --to 1.5s -o window.perfetto`,
		RunE: a.do(func(ctx context.Context, args []string) error {
			return a.exportFile(ctx, args[0], x, func(w io.Writer, o *analyze.Options) finish {
				p := perfetto.NewWriter(w)
				o.Observer, o.NoDetail = p, true
				return p.Finish
			})
		}),
	}
	x.flags(cmd, "write the trace to `FILE`; - is standard output")
	x.configFlag(cmd)
	return cmd
}

func (a *app) exportParquet() *cobra.Command {
	var x exportFlags
	cmd := &cobra.Command{
		Use:   "parquet TRACE -o FOLDER",
		Short: "Write waits, starts and run intervals as tables, for a database",
		Long: `Export parquet writes tables in the format Apache Parquet into a folder:
waits.parquet, starts.parquet, runs.parquet, classes.parquet, findings.parquet,
units.parquet, paths.parquet.
DuckDB, Polars, pandas, Spark and ClickHouse read them.`,
		Example: `  gmpscope export parquet trace.out -o tables
  duckdb -c "select class, sum(queueing_ns) from 'tables/waits.parquet' group by class order by 2 desc"`,
		RunE: a.do(func(ctx context.Context, args []string) error {
			return a.exportTables(ctx, args[0], x)
		}),
	}
	x.flags(cmd, "write the tables into `FOLDER`, which is made if it does not exist")
	x.configFlag(cmd)
	return cmd
}

func (a *app) exportNumbers(format string) *cobra.Command {
	var x exportFlags
	cmd := &cobra.Command{Use: format + " TRACE -o FILE"}
	write := report.WriteBench
	switch format {
	case "bench":
		cmd.Short = "Write the numbers as benchmark results, for benchstat"
		cmd.Long = `Export bench writes waiting, percentiles, causes, Ps, steals, what findings cost,
and classes as benchmark results. Take several traces a side. docs/build.md has more.`
		cmd.Example = "  for t in old*.out; do gmpscope export bench $t -o - >>old.txt; done"
	case "openmetrics":
		write = report.WriteOpenMetrics
		cmd.Short = "Write the numbers for Prometheus"
		cmd.Long = `Export openmetrics writes the numbers of export bench, and histograms of the latency
of units of work, in the text format of OpenMetrics. docs/build.md has more.`
		cmd.Example = "  gmpscope export openmetrics trace.out -o trace.prom"
	}
	cmd.RunE = a.do(func(ctx context.Context, args []string) error {
		return a.exportFile(ctx, args[0], x, func(w io.Writer, _ *analyze.Options) finish {
			return func(res *analyze.Result) error { return write(w, report.Build(res, tool())) }
		})
	})
	x.flags(cmd, "write the numbers to `FILE`; - is standard output")
	x.cpusFlag(cmd.Flags())
	x.configFlag(cmd)
	x.homeFlag(cmd.Flags())
	x.programFlag(cmd.Flags())
	return cmd
}

func (a *app) exportTables(ctx context.Context, trace string, x exportFlags) (err error) {
	if x.output == "-" {
		return usagef("-o -: the tables are several files: name a folder")
	}
	if err := a.prepare(ctx, trace, &x); err != nil {
		return err
	}
	made, err := makeFolder(x.output)
	if err != nil {
		return err
	}
	defer func() {
		if err != nil && made {
			os.Remove(x.output) // unless somebody put something into it
		}
	}()
	var outs []*files.Output
	var to [7]io.Writer
	for i, name := range parquet.Files() {
		out, err := files.CreateIn(ctx, "-o", x.output, name)
		if err != nil {
			return err
		}
		defer out.Discard()
		to[i], outs = files.Writer(ctx, out), append(outs, out)
	}
	var names *analyze.Pseudonyms
	if x.anonymize {
		names = a.anonymous()
	}
	tables := parquet.NewWriter(to, names)
	if err := a.exportTo(ctx, trace, x, func(o *analyze.Options) finish {
		o.Observer, o.OnUnit = tables, tables.Unit
		return tables.Finish
	}); err != nil {
		return err
	}
	for _, out := range outs {
		if err := out.Commit(); err != nil {
			return err
		}
	}
	for _, name := range parquet.Files() {
		a.wrote(filepath.Join(x.output, name), x.quiet)
	}
	return nil
}

// makeFolder makes a folder, and reports whether it was not there before.
func makeFolder(name string) (made bool, err error) {
	err = os.Mkdir(name, 0o777)
	if !errors.Is(err, fs.ErrExist) {
		return err == nil, err
	}
	st, err := os.Stat(name)
	if err == nil && !st.IsDir() {
		return false, usagef("-o %s: is no folder", name)
	}
	return false, err
}
