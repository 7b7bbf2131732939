package main

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"math"
	"os"
	"runtime/debug"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/gmpscope/gmpscope/analyze"
	"github.com/gmpscope/gmpscope/analyze/focus"
	"github.com/gmpscope/gmpscope/analyze/input"
	"github.com/gmpscope/gmpscope/internal/files"
	"github.com/gmpscope/gmpscope/internal/quantity"
	"github.com/gmpscope/gmpscope/internal/term"
	"github.com/gmpscope/gmpscope/reference"
	"github.com/gmpscope/gmpscope/replay"
	"github.com/gmpscope/gmpscope/report"
)

// app is what the subcommands share: the world outside, whether one of them got
// to run, and the files that it reads and writes.
type app struct {
	stdin          io.Reader
	stdout, stderr io.Writer
	getenv         func(string) string
	ran            bool
	guard          files.Guard
	names          *analyze.Pseudonyms // with --anonymize, those of all traces
	findingsConfig findingsConfig      // by default, or by --config
	now            func() time.Time
}

// do makes the RunE of a command.
func (a *app) do(f func(ctx context.Context, args []string) error) func(*cobra.Command, []string) error {
	return func(cmd *cobra.Command, args []string) error {
		a.ran = true
		return f(a.guard.With(cmd.Context()), args)
	}
}

// reading is do for a command that reads traces, whose flags for that it checks first.
func (a *app) reading(r *readFlags, f func(ctx context.Context, args []string) error) func(*cobra.Command, []string) error {
	return a.do(func(ctx context.Context, args []string) error {
		if err := r.check(); err != nil {
			return err
		}
		return f(ctx, args)
	})
}

type readFlags struct {
	quiet     bool
	workers   int
	anonymize bool
	full      full
	memory    size
	config    string
	goVersion string
	cpus      float64
	kernel    string
	cgroup    string
	picture   bool // the output shows the trace over time
	reference bool // what waits is held against it
	homes     []string
	program   string
	focusing  focusing
	focus     focus.Focus     // of focusing, after check
	rules     reference.Rules // of goVersion, after check
}

func (r *readFlags) flags(f *pflag.FlagSet) {
	f.BoolVarP(&r.quiet, "quiet", "q", false, "no progress on standard error")
	f.IntVar(&r.workers, "workers", 0, "decode `N` generations of the trace at once; 0 means GOMAXPROCS; the result is the same")
	f.Var(&r.memory, "max-memory", "limit memory to about `SIZE`, such as 512MiB; paths of slow units, columns of the timeline and longest waits go first, then latencies; reports what was reduced")
	f.StringVar(&r.goVersion, "go-version", "", "the Go release that wrote the trace, such as `1.26`, whose rules of the scheduler to apply (default: as its format tells)")
	f.BoolVar(&r.anonymize, "anonymize", false, "replace names that are not Go's own by numbers, the same throughout")
}

func (r *readFlags) homeFlag(f *pflag.FlagSet) {
	f.StringArrayVar(&r.homes, "home", nil, "goroutines with a start function wait for something to do in a function, as `CLASS@FUNCTION`; may be repeated, * stands for any letters")
}

func (r *readFlags) programFlag(f *pflag.FlagSet) {
	f.StringVar(&r.program, "program", "", "judge the trace as one of a `KIND` of program: server, tests, benchmarks, batch, idle or wasm (default: it is inferred)")
}

func (r *readFlags) check() error {
	if kind := analyze.ProgramKind(r.program); kind != "" {
		if err := analyze.CheckProgramKind(kind); err != nil {
			return usagef("--%v", err)
		}
	}
	for _, h := range r.homes {
		if class, function, _ := strings.Cut(h, "@"); class == "" || function == "" {
			return usagef("--home %s: must be CLASS@FUNCTION, a start function, and one that its goroutines wait in", h)
		}
	}
	if r.workers < 0 {
		return usagef("--workers %d: must not be negative", r.workers)
	}
	if r.anonymize && r.full.has("path") {
		return usagef("--full path shows what --anonymize hides: choose one of them")
	}
	if r.memory != 0 && r.memory < analyze.MinMemory {
		return usagef("--max-memory %v: must be %v at least", r.memory, size(analyze.MinMemory))
	}
	var err error
	if r.focus, err = r.focusing.focus(); err != nil {
		return err
	}
	if r.goVersion != "" {
		rules, ok := reference.Release(strings.TrimPrefix(r.goVersion, "go"))
		if !ok {
			var names []string
			for _, known := range reference.Releases() {
				names = append(names, known.Release)
			}
			return usagef("--go-version %s: its rules are not known; those of Go %s are", r.goVersion, strings.Join(names, ", "))
		}
		r.rules = rules
	}
	return nil
}

// name gives the traces of a command the names that its output shows.
func (r *readFlags) name(results ...*analyze.Result) {
	if r.full.has("path") {
		return
	}
	paths := make([]string, len(results))
	for i, res := range results {
		paths[i] = res.Trace.Name
	}
	for i, name := range report.TraceNames(paths) {
		results[i].Trace.Name = name
	}
}

// analyze reads the trace called name and analyses it. The observer, if any,
// sees every decision, and hears before that what the trace's header says.
func (a *app) analyze(ctx context.Context, name string, r readFlags, o observer) (res *analyze.Result, err error) {
	if name == "-" && term.Is(a.stdin) {
		return nil, usagef("standard input is a terminal: pipe a trace into it, or name a file")
	}
	if err := a.declareInputs("the trace", name); err != nil {
		return nil, err
	}
	p := a.progress(r.quiet)
	defer p.Done()
	if r.memory > 0 {
		debug.SetMemoryLimit(int64(r.memory) * 7 / 8) // the rest is for what is not the collector's: code, and what the kernel holds
		defer debug.FreeOSMemory()                    // for the next trace, or what is simulated
	}
	if a.getenv("GOGC") == "" {
		defer collectOften()()
	}
	in := input.Options{Stdin: a.stdin, Progress: p.Update, MaxMemory: int64(r.memory)}
	if r.focusing.twice() != "" {
		if r.focus, err = a.focusOnParts(ctx, name, r, in); err != nil {
			return nil, err
		}
	}
	src, err := input.Open(ctx, name, in)
	if err != nil {
		return nil, err
	}
	defer src.Close()
	opts := analyze.Options{Workers: r.workers, MaxMemory: int64(r.memory), Thresholds: a.findingsConfig.thresholds, Rules: r.rules, CPUs: r.cpus, Focus: r.focus, NoTimeline: !r.picture, Homes: a.homes(r), Program: analyze.ProgramKind(r.program), TraceID: r.focusing.traceID}
	if r.anonymize {
		opts.Anonymize = a.anonymous()
	}
	done, err := a.openKernel(ctx, &r, &opts)
	if err != nil {
		return nil, err
	}
	defer done()
	if o != nil {
		o(src.Header(), &opts)
	}
	opts.OnEvents = p.Events
	res, err = analyze.Run(ctx, src, opts)
	if err != nil {
		return nil, err
	}
	a.suppress(res, opts.Anonymize)
	return res, nil
}

// homes returns what overrules where goroutines wait for something to do.
func (a *app) homes(r readFlags) []string { return slices.Concat(r.homes, a.findingsConfig.homes) }

// focusOnParts reads the trace for the part of it that is about the tasks or units asked for.
func (a *app) focusOnParts(ctx context.Context, name string, r readFlags, in input.Options) (f focus.Focus, err error) {
	if name == "-" || strings.Contains(name, "://") {
		return f, usagef("%s reads the trace twice: save it to a file first", r.focusing.twice())
	}
	src, err := input.Open(ctx, name, in)
	if err != nil {
		return f, err
	}
	defer src.Close()
	o := analyze.Options{Workers: r.workers, MaxMemory: int64(r.memory), Rules: r.rules, Homes: a.homes(r), TraceID: r.focusing.traceID}
	switch {
	case r.focusing.traceID != "":
		f, err = analyze.FocusOnTraceID(ctx, src, o)
	case len(r.focusing.tasks) > 0:
		f, err = analyze.FocusOnTasks(ctx, src, o, r.focusing.tasks)
	default:
		f, err = analyze.FocusOnUnits(ctx, src, o, r.focusing.units)
	}
	f.Classes = r.focus.Classes
	return f, err
}

// observer asks, in the options, for what it wants to see of the analysis of a
// trace with that header.
type observer func(input.Header, *analyze.Options)

// progress is shown on standard error, if that is a terminal; nil shows nothing.
func (a *app) progress(quiet bool) *term.Progress {
	if quiet || !term.Controls(a.stderr, a.getenv) {
		return nil
	}
	return term.NewProgress(a.stderr)
}

// reportingFlags adds the flags of commands that report on a trace.
func (r *readFlags) reportingFlags(cmd *cobra.Command, full ...string) {
	r.flags(cmd.Flags())
	r.fullFlag(cmd, full...)
	r.cpusFlag(cmd.Flags())
	r.kernelFlags(cmd)
	r.focusing.flags(cmd)
	r.configFlag(cmd)
	r.homeFlag(cmd.Flags())
	r.programFlag(cmd.Flags())
	cmd.Flags().BoolVar(&r.reference, "reference", false, "split the waiting by simulation into capacity, policy and excess; of a long trace, for its beginning")
}

// document analyses a trace for a report and, if asked, holds it against the reference. If
// ctx is cancelled meanwhile, the document is about what was read until then.
func (a *app) document(ctx context.Context, name string, r readFlags) (*report.Document, error) {
	if r.reference && !r.focus.Whole() {
		return nil, usagef("--reference simulates the whole trace: leave it out, or --from, --to, --class and --goroutine")
	}
	var f *replay.Simulation
	res, err := a.analyze(ctx, name, r, func(h input.Header, o *analyze.Options) {
		o.Partial = true
		if r.reference {
			so := replay.SplitOptions()
			so.Rules, so.MaxMemory = o.Rules, o.MaxMemory
			f = replay.NewSimulation(h, so)
			o.OnStacks, o.OnDecision = f.Stacks, f.Add
		}
	})
	if err != nil {
		return nil, err
	}
	r.name(res)
	var split *replay.Decomposition
	if r.reference && !res.Trace.Interrupted {
		p := a.progress(r.quiet)
		defer p.Done()
		f.OnProgress(p.Simulated)
		if split, err = f.Decompose(ctx, res); err != nil {
			return nil, err
		}
	}
	doc := report.Build(res, tool())
	doc.Split = split
	if r.full.has("names") {
		doc.ShowFullNames()
	}
	return doc, nil
}

// maxWarnings is how many warnings go to standard error; every report holds
// them all.
const maxWarnings = 10

// anonymous returns the names that --anonymize gives, the same for all traces.
func (a *app) anonymous() *analyze.Pseudonyms {
	if a.names == nil {
		a.names = analyze.NewPseudonyms()
	}
	return a.names
}

func (a *app) warn(lines ...string) { a.say("warning", lines) }

func (a *app) say(kind string, lines []string) {
	for i, l := range lines {
		if i == maxWarnings {
			fmt.Fprintf(a.stderr, "gmpscope: %s: and %d more\n", kind, len(lines)-i)
			return
		}
		fmt.Fprintf(a.stderr, "gmpscope: %s: %s\n", kind, term.Line(l))
	}
}

// print writes lines of text to standard output, names in them made harmless.
func (a *app) print(lines ...string) error {
	w := bufio.NewWriter(term.Lines(a.stdout))
	for _, l := range lines {
		fmt.Fprintln(w, term.Visible(l))
	}
	return w.Flush()
}

func (a *app) printSize(name string, bytes int64) error {
	return a.print(fmt.Sprintf("%s: %d bytes", name, bytes))
}

// wrote reports on standard error what a command wrote to a file, and how much; standard output
// needs no word.
func (a *app) wrote(name string, quiet bool) {
	if st, err := os.Stat(name); !quiet && name != "-" && err == nil && st.Mode().IsRegular() { // no pipe or device
		fmt.Fprintf(a.stderr, "gmpscope: wrote %s (%s)\n", term.Line(name), quantity.Size(st.Size()))
	}
}

func oneTrace(cmd *cobra.Command, args []string) error {
	if len(args) > 1 {
		return usagef("one trace at a time, but there are %d arguments", len(args))
	}
	return someTraces(cmd, args)
}

func someTraces(_ *cobra.Command, args []string) error {
	switch {
	case len(args) == 0:
		return usagef("name a trace: a file, - for standard input, or a URL")
	case slices.Contains(args, ""):
		return usagef("the name of the trace is empty")
	}
	return nil
}

var (
	traceFiles = completeTraces(1)
	bothTraces = completeTraces(2)
	anyTraces  = completeTraces(math.MaxInt)
)

// completeTraces completes the names of so many traces at most.
func completeTraces(most int) cobra.CompletionFunc {
	return func(_ *cobra.Command, args []string, _ string) ([]string, cobra.ShellCompDirective) {
		if len(args) >= most {
			return nil, cobra.ShellCompDirectiveNoFileComp
		}
		return []string{"trace", "out", "gz", "zst"}, cobra.ShellCompDirectiveFilterFileExt
	}
}

// choice is a flag with few values.
type choice struct {
	value   string
	allowed []string
	moved   map[string]string // what values of the version before are now
}

func (c *choice) String() string { return c.value }
func (c *choice) Type() string   { return strings.Join(c.allowed, "|") }

func (c *choice) Set(s string) error {
	if now := c.moved[s]; now != "" {
		return fmt.Errorf("it is now %s", now)
	}
	if !slices.Contains(c.allowed, s) {
		return fmt.Errorf("must be %s", strings.Join(c.allowed, " or "))
	}
	c.value = s
	return nil
}

// addChoice adds a flag with few values, the first of which is the default, and
// its completion.
func addChoice(cmd *cobra.Command, name, usage string, allowed ...string) *choice {
	c := &choice{value: allowed[0], allowed: allowed}
	cmd.Flags().Var(c, name, usage)
	must(cmd.RegisterFlagCompletionFunc(name, cobra.FixedCompletions(allowed, cobra.ShellCompDirectiveNoFileComp)))
	return c
}

// must is for what fails only of a flag that was not added.
func must(err error) {
	if err != nil {
		panic(err)
	}
}
