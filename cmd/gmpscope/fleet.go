package main

import (
	"bufio"
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"iter"
	"path/filepath"
	"runtime"
	"runtime/debug"
	"slices"
	"strings"
	"sync"

	"github.com/spf13/cobra"

	"github.com/gmpscope/gmpscope/analyze"
	"github.com/gmpscope/gmpscope/fleet"
	"github.com/gmpscope/gmpscope/internal/files"
	"github.com/gmpscope/gmpscope/internal/term"
	"github.com/gmpscope/gmpscope/report"
	"github.com/gmpscope/gmpscope/report/html"
)

type gatherFlags struct {
	readFlags
	labels []string
	paths  string // pattern of labels
	cache  string
	shard  string
	key    string // the file that --anonymize-key names
	output string
}

func (g *gatherFlags) flags(cmd *cobra.Command) {
	f := cmd.Flags()
	f.BoolVarP(&g.quiet, "quiet", "q", false, "no progress on standard error")
	f.IntVar(&g.workers, "workers", 0, "analyse `N` traces at once; 0 means GOMAXPROCS, or fewer with --max-memory; the result is the same")
	f.Var(&g.memory, "max-memory", "limit memory to about `SIZE`, such as 2GiB: fewer traces at once, and each with its part of it")
	f.StringVar(&g.goVersion, "go-version", "", "the Go release that wrote the traces, such as `1.26`, whose rules of the scheduler to apply (default: as their format tells)")
	f.BoolVar(&g.anonymize, "anonymize", false, "replace names that are not Go's own; without --anonymize-key they mean nothing beyond their trace")
	f.StringVar(&g.key, "anonymize-key", "", "with --anonymize: replace names by the secret in `FILE`, so that the same ones stay the same")
	f.StringArrayVar(&g.labels, "label", nil, "give all traces the label `NAME=VALUE`, such as service=payments; can be repeated; a file TRACE.labels, with one a line, is for one trace")
	f.StringVar(&g.paths, "label-paths", "", "take labels from the end of each path by a `PATTERN`, such as '{service}/{version}/*'")
	f.StringVar(&g.cache, "cache", "", "keep summaries in the folder `DIR`: what is there is not made again")
	f.StringVar(&g.shard, "shard", "", "read part `I/N` of the inputs only, by their paths")
	g.fullFlag(cmd, "names", "path")
	g.configFlag(cmd)
	must(cmd.MarkFlagDirname("cache"))
}

func (a *app) fleet() *cobra.Command {
	var (
		g      gatherFlags
		format *choice
		by     []string
		since  string
	)
	cmd := &cobra.Command{
		Use:   "fleet PATH...",
		Short: "Report on many traces: who waits more than its peers, and since when",
		Long: `Fleet puts many traces together: which services, versions and hosts wait most and
for what, which traces and groups wait more than their peers, which findings are
new in a version. A PATH is a trace or a file of summaries, a folder of them, a
pattern, a URL, or - for a list on standard input, one a line.

The labels service, version, host and others come from --label, from paths by
--label-paths, and from files TRACE.labels. The report is the same for any order,
and any mixture of traces and summaries of them. With -o FILE.sum it writes the summaries, which take less room
than traces and can be merged; a FILE.sum that is an input, too, is added to. With
--shard I/N it writes those of a part of the inputs. docs/fleet.md has more.`,
		Example: `  gmpscope fleet traces/ -o fleet.html
  gmpscope fleet *.sum --group service,version,host --format json | jq '.outliers[0]'
  gmpscope fleet traces/ --shard 1/10 -o part1.sum
  gmpscope fleet monday.sum new.trace -o monday.sum
  gmpscope fleet part*.sum --since 1.4.0 -o fleet.html`,
		Args:              someInputs,
		ValidArgsFunction: anyTraces,
		RunE: a.do(func(ctx context.Context, args []string) error {
			if err := checkGroup(by); err != nil {
				return err
			}
			as := formatOf(format.value, g.output)
			if g.shard != "" && as != "sum" {
				return usagef("--shard: a part makes no report: write its summaries, with --format sum or -o FILE.sum")
			}
			if slices.Contains(args, "-") {
				var err error
				if args, err = a.listed(ctx, args); err != nil {
					return err
				}
			}
			return a.gather(ctx, args, &g, as == "sum", func(w io.Writer, records fleetRecords, problems []fleet.Problem) error {
				switch as {
				case "sum":
					return fleet.WriteAll(w, records(), problems)
				case "parquet":
					return fleet.WriteParquet(w, records())
				}
				f, err := fleet.Aggregate(records, problems, fleet.Grouping{By: by, Since: since, Tool: tool(), Schema: report.Schema})
				if err != nil {
					return err
				}
				switch full := g.full.has("names"); as {
				case "json":
					return report.WriteFleetJSON(w, f)
				case "html":
					return html.WriteFleet(w, f, full, html.Options{ECharts: a.echarts(ctx, true)})
				default:
					return report.WriteFleetText(w, f, report.TextOptions{Color: g.output == "-" && term.Color(a.stdout, a.getenv), FullNames: full})
				}
			})
		}),
	}
	g.flags(cmd)
	cmd.Flags().StringVarP(&g.output, "output", "o", "-", "write to `FILE`; - is standard output")
	format = addChoice(cmd, "format", "how to write it; auto: as the name of the output ends, else text", "auto", "text", "html", "json", "parquet", "sum")
	cmd.Flags().StringSliceVar(&by, "group", fleet.DefaultGrouping(), "group traces by these `LABELS`; gomaxprocs and go they have by themselves")
	cmd.Flags().StringVar(&since, "since", "", "call findings new that no `VERSION` before this one has (default: before the first that has it)")
	return cmd
}

// formatOf is the format that is asked for, or that the name of an output tells.
func formatOf(asked, output string) string {
	if asked != "auto" {
		return asked
	}
	switch ext := strings.TrimPrefix(filepath.Ext(output), "."); ext {
	case "html", "json", "parquet", "sum":
		return ext
	}
	return "text"
}

func checkGroup(by []string) error {
	if len(by) == 0 || len(by) > 8 {
		return usagef("--group: name one to eight labels")
	}
	for i, name := range by {
		if name == "" || slices.Contains(by[:i], name) {
			return usagef("--group %s: each label once", strings.Join(by, ","))
		}
	}
	return nil
}

func someInputs(_ *cobra.Command, args []string) error {
	if len(args) == 0 {
		return usagef("name traces, summaries or folders of them")
	}
	if slices.Contains(args, "") {
		return usagef("the name of an input is empty")
	}
	return nil
}

// listed replaces - by the lines of standard input.
func (a *app) listed(ctx context.Context, args []string) ([]string, error) {
	if term.Is(a.stdin) {
		return nil, usagef("standard input is a terminal: pipe a list of paths into it, or name them")
	}
	args = slices.DeleteFunc(slices.Clone(args), func(s string) bool { return s == "-" })
	list, err := a.readStdin(ctx, "the list")
	if err != nil {
		return nil, err
	}
	lines := bufio.NewScanner(list)
	for lines.Scan() {
		if line := strings.TrimSpace(lines.Text()); line != "" && line != "-" {
			args = append(args, line)
		}
	}
	return args, lines.Err()
}

// fleetRecords yields the records of all inputs, each time it is called.
type fleetRecords = func() iter.Seq2[*fleet.Record, error]

// gather reads the inputs and has write make the output of them, which may be a file of summaries.
func (a *app) gather(ctx context.Context, args []string, g *gatherFlags, sums bool, write func(io.Writer, fleetRecords, []fleet.Problem) error) error {
	o, err := a.collecting(ctx, g)
	if err != nil {
		return err
	}
	names, adds, err := a.find(args, g, sums)
	if err != nil {
		return err
	}
	o.Adds = adds
	var warnings []string
	err = a.output(ctx, "-o", g.output, func(out *files.Output) error {
		set, problems, err := a.collect(ctx, names, g, o)
		if err != nil {
			return err
		}
		defer set.Close()
		records := func() iter.Seq2[*fleet.Record, error] { return conflicts(set.All(), &warnings) }
		err = write(files.Writer(ctx, out), records, problems)
		for _, p := range problems {
			warnings = append(warnings, p.Err.Error())
		}
		return err
	})
	if err != nil {
		return err
	}
	a.wrote(g.output, g.quiet)
	a.warn(warnings...)
	a.noteUnused()
	return nil
}

// collect reads the inputs. It fails where there was nothing in them.
func (a *app) collect(ctx context.Context, names []string, g *gatherFlags, o fleet.Collecting) (*fleet.Set, []fleet.Problem, error) {
	if g.memory > 0 {
		debug.SetMemoryLimit(int64(g.memory) * 7 / 8) // as in analyze
	}
	if a.getenv("GOGC") == "" {
		defer collectOften()()
	}
	p := a.progress(g.quiet)
	defer p.Done()
	o.OnDone = p.Files
	set, problems, err := fleet.Collect(ctx, names, o)
	if err != nil {
		return nil, nil, err
	}
	for _, err = range set.All() {
		if err == nil {
			return set, problems, nil
		}
	}
	set.Close()
	switch {
	case err != nil:
		return nil, nil, err
	case len(problems) == 1:
		return nil, nil, problems[0].Err
	case len(problems) > 0:
		return nil, nil, fmt.Errorf("none of %d inputs could be read; the first: %w", len(problems), problems[0].Err)
	case g.shard != "":
		return &fleet.Set{}, nil, nil // others have the inputs
	}
	return nil, nil, errors.New("there is no trace and no summary in what was named")
}

// conflicts yields the records, and notes of which traces there are different summaries.
func conflicts(records iter.Seq2[*fleet.Record, error], warnings *[]string) iter.Seq2[*fleet.Record, error] {
	return func(yield func(*fleet.Record, error) bool) {
		*warnings = nil
		for r, err := range records {
			if err == nil && r.Conflict && len(*warnings) < 1000 {
				*warnings = append(*warnings, fmt.Sprintf("summaries of %s differ (%.12s…): made by other versions or settings; one of them counts", r.Sources[0].Name, r.Key))
			}
			if !yield(r, err) {
				return
			}
		}
	}
}

// collecting are the options that the flags ask for.
func (a *app) collecting(ctx context.Context, g *gatherFlags) (o fleet.Collecting, err error) {
	if err := g.check(); err != nil {
		return o, err
	}
	if g.key != "" && !g.anonymize {
		return o, usagef("--anonymize-key goes with --anonymize")
	}
	if g.anonymize && g.key == "" && (len(g.labels) > 0 || g.paths != "") {
		return o, usagef("labels with --anonymize: the values are replaced by a key: name its file with --anonymize-key")
	}
	conf, err := a.configure(ctx, g.readFlags)
	if err != nil {
		return o, err
	}
	var settings strings.Builder
	if err := conf.Write(&settings); err != nil {
		return o, err
	}
	for _, s := range g.labels {
		l, err := fleet.ParseLabel(s)
		if err != nil {
			return o, usagef("--label %v", err)
		}
		o.Labels = append(o.Labels, l)
	}
	if g.paths != "" {
		if o.Pattern, err = fleet.ParsePattern(g.paths); err != nil {
			return o, usagef("--label-paths %v", err)
		}
	}
	if o.Key, err = a.anonymizeKey(ctx, g.key); err != nil {
		return o, err
	}
	o.Workers = cmp.Or(g.workers, runtime.GOMAXPROCS(0))
	memory := int64(g.memory)
	if memory > 0 {
		o.Workers = min(o.Workers, int(memory/analyze.MinMemory))
		memory /= int64(o.Workers)
	}
	o.Analyze = analyze.Options{Workers: 1, MaxMemory: memory, Thresholds: a.findingsConfig.thresholds, Homes: a.findingsConfig.homes, Rules: g.rules, NoTimeline: true}
	o.Settings = tool() + "\n" + settings.String()
	o.Anonymize, o.FullPath, o.Cache, o.Stdin = g.anonymize, g.full.has("path"), g.cache, a.stdin
	var mu sync.Mutex
	o.Finish = func(res *analyze.Result, names *analyze.Pseudonyms) {
		mu.Lock()
		defer mu.Unlock()
		a.suppress(res, names)
	}
	return o, nil
}

// anonymizeKey reads the secret in a file; nil without one.
func (a *app) anonymizeKey(ctx context.Context, name string) ([]byte, error) {
	if name == "" {
		return nil, nil
	}
	var key []byte
	err := a.read(ctx, "the key", name, func(f io.Reader) (err error) {
		key, err = io.ReadAll(io.LimitReader(f, 1<<16))
		return err
	})
	if err != nil {
		return nil, err
	}
	if key = bytes.TrimSpace(key); len(key) < 16 {
		return nil, usagef("--anonymize-key %s: a secret has at least 16 bytes", name)
	}
	return key, nil
}

// find returns the inputs that the arguments name, but for those that a folder has in the cache,
// and declares them. If the output is to be a file of summaries, and one of the inputs is that
// file, the records are added to it: adds is its name among them.
func (a *app) find(args []string, g *gatherFlags, sums bool) (names []string, adds string, err error) {
	var shard fleet.Shard
	if g.shard != "" {
		if shard, err = fleet.ParseShard(g.shard); err != nil {
			return nil, "", usagef("--shard %v", err)
		}
	}
	found, err := fleet.Find(args)
	if err != nil {
		return nil, "", err
	}
	found = slices.DeleteFunc(found, func(name string) bool { return within(name, g.cache) && !slices.Contains(args, name) })
	names = shard.Of(found)
	if out := files.Named(g.output); sums {
		i := slices.IndexFunc(found, func(name string) bool { return files.Named(name).Same(out) && fleet.IsSummaries(name) })
		if i >= 0 {
			adds = found[i]
			a.guard.Adds(out)
			if !slices.Contains(names, adds) {
				names = append(names, adds) // whosever shard it is in
			}
		}
	}
	if err := a.declareInputs("the input", found...); err != nil {
		return nil, "", err
	}
	return names, adds, nil
}

// within reports whether a file is in a folder; in no folder is none.
func within(name, folder string) bool {
	n, err1 := filepath.Abs(name)
	f, err2 := filepath.Abs(folder)
	rel, err3 := filepath.Rel(f, n)
	return folder != "" && errors.Join(err1, err2, err3) == nil && filepath.IsLocal(rel)
}
