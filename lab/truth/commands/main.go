// Package commands are those of lab that record what the Go scheduler really decided, and score
// gmpscope against it.
//
// record writes NAME.trace and NAME.truth.jsonl. A workload may also be
// test:PKG, the tests of a package of the standard library, or
// mod:MODULE@VERSION/PKG, those of any other package.
package commands

import (
	"bytes"
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/gmpscope/gmpscope/analyze"
	"github.com/gmpscope/gmpscope/analyze/reconstruct"
	"github.com/gmpscope/gmpscope/lab/cli"
	"github.com/gmpscope/gmpscope/lab/truth"
	"github.com/gmpscope/gmpscope/reference"
)

// Truth are the commands.
var Truth = []cli.Command{
	{Name: "truth list", What: "names of the workloads", Init: list},
	{Name: "truth record", What: "record some of them, on an instrumented runtime", Init: record},
	{Name: "truth matrix", What: "record many: all releases, all workloads", Init: matrix},
	{Name: "truth join", Args: "STEM…", What: "make STEM.truth.jsonl again from a kept STEM.rec", Init: join},
	{Name: "truth check", Args: "FILE.rec…", What: "does a recording contradict itself?", Init: check},
	{Name: "truth score", What: "how right is the reconstruction of one recording?", Init: score},
	{Name: "truth table", What: "of those in a folder?", Init: table},
	{Name: "truth floor", What: "record the small set of the tests", Init: floor},
	{Name: "truth ablate", What: "what is each hypothesis worth?", Init: ablate},
}

// The full matrix: every release line with the tracer that gmpscope reads, and
// as many Ps as a process may have on a small machine.
const (
	allReleases = "1.22.12,1.23.12,1.24.9,1.25.14,1.26.8,1.27.4"
	allProcs    = "1,2,4,6,8"
)

type options struct {
	cache, release, workload, procs, env, args, out string
	seed, pick                                      int
	scale                                           float64
	keep, force                                     bool
}

// recipeFlags declares what says which recordings are meant.
func recipeFlags(flags *flag.FlagSet, release, workload, procs string) *options {
	o := &options{}
	flags.StringVar(&o.cache, "cache", "", "`directory` for built programs (default: in the user's cache)")
	flags.StringVar(&o.release, "go", release, "Go `releases`, comma-separated")
	flags.StringVar(&o.workload, "workload", workload, "`names`, comma-separated, or all")
	flags.StringVar(&o.procs, "procs", procs, "GOMAXPROCS, comma-separated `numbers`")
	flags.IntVar(&o.pick, "pick", 0, "only `N` of the GOMAXPROCS for each workload and release, in rotation (0: all)")
	flags.StringVar(&o.env, "env", "", "space-separated `settings` for the program, as in GODEBUG=…")
	flags.StringVar(&o.args, "args", "", "space-separated `arguments` for a test program")
	flags.StringVar(&o.out, "out", ".", "`directory` for the files")
	flags.IntVar(&o.seed, "seed", 1, "chooses the parameters of a workload")
	flags.Float64Var(&o.scale, "scale", 1, "amount of work")
	flags.BoolVar(&o.keep, "keep", false, "keep the binary recording beside the result, as NAME.rec")
	flags.BoolVar(&o.force, "force", false, "record again what is there already")
	return o
}

func (o *options) builder() (*truth.Builder, error) {
	if o.cache == "" {
		var err error
		if o.cache, err = truth.DefaultCache(); err != nil {
			return nil, err
		}
	}
	return &truth.Builder{Cache: o.cache, Log: os.Stderr}, nil
}

// recipes lists the asked-for combinations that exist, and returns who builds their programs.
func (o *options) recipes(ctx context.Context) (*truth.Builder, []truth.Recipe, error) {
	b, err := o.builder()
	if err != nil {
		return nil, nil, err
	}
	var procs []int
	for _, p := range strings.Split(o.procs, ",") {
		n, err := strconv.Atoi(p)
		if err != nil {
			return nil, nil, fmt.Errorf("procs %q: %w", p, err)
		}
		procs = append(procs, n)
	}
	var out []truth.Recipe
	for i, release := range strings.Split(o.release, ",") {
		names := strings.Split(o.workload, ",")
		if o.workload == "all" {
			if names, err = workloadNames(ctx, b, release); err != nil {
				return nil, nil, err
			}
		}
		for j, name := range names {
			for _, p := range picked(procs, o.pick, i+j) {
				out = append(out, truth.Recipe{
					Go: release, Workload: name, Procs: p, Seed: o.seed, Scale: o.scale,
					Env: strings.Fields(o.env), Args: strings.Fields(o.args),
				})
			}
		}
	}
	return b, out, nil
}

// sample gives each workload one of its recipes, and the named ones another.
func sample(all []truth.Recipe, again []string) []truth.Recipe {
	byName := make(map[string][]truth.Recipe)
	var names []string
	for _, r := range all {
		if byName[r.Workload] == nil {
			names = append(names, r.Workload)
		}
		byName[r.Workload] = append(byName[r.Workload], r)
	}
	var out []truth.Recipe
	for i, name := range append(names, again...) {
		// The recipes of a workload are in order of releases, then of Ps. 11 has
		// no common factor with either number of the full matrix: neither repeats
		// soon.
		if list := byName[name]; len(list) > 0 {
			out = append(out, list[(i*11)%len(list)])
		}
	}
	return out
}

// picked returns n of the list in its order, beginning at turn and around; all
// of them if n is 0 or more than there are.
func picked(list []int, n, turn int) []int {
	if n <= 0 || n >= len(list) {
		return list
	}
	var out []int
	for k := range n {
		out = append(out, list[(turn+k)%len(list)])
	}
	return out
}

// workloadNames are those of our own workloads, and of the real programs.
func workloadNames(ctx context.Context, b *truth.Builder, release string) ([]string, error) {
	bin, err := b.Workload(ctx, release)
	if err != nil {
		return nil, err
	}
	text, err := exec.CommandContext(ctx, bin, "-list").Output()
	return append(strings.Fields(string(text)), truth.RealPrograms()...), err
}

func list(flags *flag.FlagSet) cli.Do {
	o := recipeFlags(flags, "1.26.8", "all", "1")
	return func(ctx context.Context, _ []string, stdout io.Writer) error {
		b, err := o.builder()
		if err != nil {
			return err
		}
		names, err := workloadNames(ctx, b, o.release)
		if err != nil {
			return err
		}
		for _, n := range names {
			fmt.Fprintln(stdout, n)
		}
		return nil
	}
}

func record(flags *flag.FlagSet) cli.Do {
	return recipeFlags(flags, "1.26.8", "", "4").recordAll
}

func matrix(flags *flag.FlagSet) cli.Do {
	return recipeFlags(flags, allReleases, "all", allProcs).recordAll
}

func (o *options) recordAll(ctx context.Context, _ []string, stdout io.Writer) error {
	if o.workload == "" {
		return errors.New("--workload is missing; see truth list")
	}
	b, recipes, err := o.recipes(ctx)
	if err != nil {
		return err
	}
	// A failed recording is reported and does not stop the others.
	var failed []error
	for _, r := range recipes {
		if err := o.one(ctx, b, r, stdout); err != nil {
			fmt.Fprintf(os.Stderr, "%s: %v\n", r.Name(), err)
			failed = append(failed, err)
		}
		if ctx.Err() != nil {
			return ctx.Err()
		}
	}
	if len(failed) > 0 {
		return fmt.Errorf("%d of %d recordings failed", len(failed), len(recipes))
	}
	return nil
}

// attempts is how often a program may fail before its recording is given up.
const attempts = 3

// one makes one recording.
func (o *options) one(ctx context.Context, b *truth.Builder, r truth.Recipe, stdout io.Writer) error {
	if err := os.MkdirAll(o.out, 0o755); err != nil {
		return err
	}
	stem, err := filepath.Abs(filepath.Join(o.out, r.Name()))
	if err != nil {
		return err
	}
	if _, err := os.Stat(stem + ".truth.jsonl"); err == nil && !o.force {
		return nil
	}
	p, err := b.Program(ctx, r)
	if err != nil {
		return err
	}
	rec := stem + ".rec"
	if !o.keep {
		defer os.Remove(rec)
	}
	// Tests of others have deadlines that a busy machine misses now and then.
	for try := 1; ; try++ {
		if err = truth.Run(ctx, p, r, stem+".trace", rec); err == nil || try == attempts || ctx.Err() != nil {
			break
		}
	}
	if err != nil {
		os.Remove(stem + ".trace")
		return err
	}
	return joinOne(stem, stdout)
}

// joinOne brings stem.rec and stem.trace together in stem.truth.jsonl.
func joinOne(stem string, stdout io.Writer) error {
	recs, err := truth.ReadRecordsFile(stem + ".rec")
	if err != nil {
		return err
	}
	f, err := os.Open(stem + ".trace")
	if err != nil {
		return err
	}
	defer f.Close()
	j, err := truth.Join(recs, f)
	if err != nil {
		return err
	}
	var text bytes.Buffer
	if err := truth.WriteLines(&text, j.Lines); err != nil {
		return err
	}
	if err := os.WriteFile(stem+".truth.jsonl", text.Bytes(), 0o644); err != nil {
		return err
	}
	c := truth.Check(recs)
	fmt.Fprintf(stdout, "%-32s %7d starts, %d unmatched, %d without origin; %s\n", filepath.Base(stem), j.Starts, j.Unmatched, j.NoTake, c)
	return nil
}

func join(*flag.FlagSet) cli.Do {
	return func(_ context.Context, args []string, stdout io.Writer) error {
		for _, name := range args {
			if err := joinOne(strings.TrimSuffix(name, ".rec"), stdout); err != nil {
				return fmt.Errorf("%s: %w", name, err)
			}
		}
		return nil
	}
}

func check(*flag.FlagSet) cli.Do {
	return func(_ context.Context, args []string, stdout io.Writer) error {
		for _, name := range args {
			recs, err := truth.ReadRecordsFile(name)
			if err != nil {
				return err
			}
			c := truth.Check(recs)
			fmt.Fprintf(stdout, "%s: %s\n", name, c)
			for _, e := range c.Examples {
				fmt.Fprintln(stdout, "  "+e)
			}
		}
		return nil
	}
}

func score(flags *flag.FlagSet) cli.Do {
	truthFile := flags.String("truth", "", "`FILE` with the truth, .truth.jsonl or .truth.zst")
	traceFile := flags.String("trace", "", "`FILE` with the trace; scores waiting time as well")
	dumpFile := flags.String("dump", "", "`FILE` with the output of gmpscope dump, instead of the trace; - is standard input")
	lost := flags.Int("lost", 0, "show the `N` waits with most time of a wrong cause, at most 20; needs --trace")
	worst := truth.Mismatches{}
	flags.IntVar(&worst.Show, "worst", 0, "show the first `N` wrong starts")
	flags.IntVar(&worst.Skip, "skip", 0, "pass over the first `N` wrong starts")
	flags.IntVar(&worst.Context, "context", 14, "earlier decisions to show with each")
	flags.StringVar(&worst.Only, "only", "", "show only `TRUTH>DUMP` sources, as in local>steal; either may be empty")
	flags.BoolVar(&worst.AllPs, "all-ps", false, "show the earlier decisions of every P")
	flags.IntVar(&worst.Roots, "roots", 0, "show only what is wrong after `N` starts that were right: causes, not consequences")
	cascades := flags.Int("cascades", 0, "show the `N` longest runs of wrong starts, with how they began")
	flags.BoolVar(&worst.Lengths, "lengths", false, "wrong queue lengths count as wrong")
	return func(ctx context.Context, _ []string, stdout io.Writer) error {
		t, err := truth.ReadLinesFile(*truthFile)
		if err != nil {
			return err
		}
		var d []truth.Line
		var decisions []reference.Decision
		switch {
		case *traceFile != "":
			d, decisions, err = truth.Reconstruct(ctx, *traceFile, analyze.Options{})
		case *dumpFile == "-":
			d, err = truth.ReadLines(os.Stdin)
		default:
			d, err = truth.ReadLinesFile(*dumpFile)
		}
		if err != nil {
			return err
		}
		s, starts := truth.Compare(t, d)
		if decisions != nil {
			s.Waiting = truth.CompareWaiting(t, decisions)
		}
		s.Print(stdout)
		s.Waiting.PrintLost(stdout, *lost)
		if *cascades > 0 {
			truth.Cascades(stdout, t, d, starts, *cascades, worst.Context, worst.Context)
		}
		if worst.Show > 0 {
			worst.Print(stdout, t, d, starts)
		}
		return nil
	}
}

// recordingName parses the name of a recording.
var recordingName = regexp.MustCompile(`^(.+)-go([0-9.]+)-p([0-9]+)(?:-.+)?$`)

func table(flags *flag.FlagSet) cli.Do {
	o := recipeFlags(flags, allReleases, "all", allProcs)
	dir := flags.String("dir", "", "`directory` with recordings; also where they are made")
	small := flags.Bool("sample", false, "with --record: each workload once, with releases and GOMAXPROCS in rotation")
	again := flags.Bool("record", false, "record what is missing of the matrix (all of it with --force)")
	tool := flags.String("gmpscope", "", "`path` of another gmpscope command, whose dumps are scored instead; waiting time is not then")
	by := flags.String("by", "workload", "`what` to sum up: workload, go, procs or file; several comma-separated")
	details := flags.Bool("details", false, "print the whole score of everything together as well")
	match := flags.String("match", "", "only recordings whose name matches this `regexp`")
	less := flags.String("without", "", "`hypotheses` that the reconstruction does without, comma-separated; see lab/docs/hypotheses.md")
	return func(ctx context.Context, _ []string, stdout io.Writer) error {
		if *dir == "" {
			return errors.New("--dir is missing")
		}
		var without reconstruct.Set
		if *less != "" {
			var err error
			if without, err = reconstruct.Without(strings.Split(*less, ",")...); err != nil {
				return err
			}
		}
		if *again {
			o.out = *dir
			b, recipes, err := o.recipes(ctx)
			if err != nil {
				return err
			}
			if *small {
				recipes = sample(recipes, nil)
			}
			for _, r := range recipes {
				if err := o.one(ctx, b, r, os.Stderr); err != nil {
					fmt.Fprintf(os.Stderr, "%s: %v\n", r.Name(), err)
				}
			}
		}
		only, err := regexp.Compile(*match)
		if err != nil {
			return err
		}
		stems, err := truth.Recordings(*dir)
		if err != nil {
			return err
		}
		total, scored := truth.NewScore(), 0
		releases := make(map[string]bool)
		groups := make(map[string]map[string]*truth.Score)
		workloads := make(map[string]*truth.Score)
		for _, stem := range stems {
			parts := recordingName.FindStringSubmatch(filepath.Base(stem))
			if parts == nil || !only.MatchString(filepath.Base(stem)) {
				continue
			}
			s, err := scoreOne(ctx, *tool, stem, without)
			if err != nil {
				fmt.Fprintf(os.Stderr, "%s: %v\n", filepath.Base(stem), err)
				continue
			}
			total.Add(s)
			scored++
			truth.AddTo(workloads, parts[1], s)
			releases[parts[2]] = true
			for _, g := range strings.Split(*by, ",") {
				key := map[string]string{"workload": parts[1], "go": "Go " + parts[2], "procs": "GOMAXPROCS " + parts[3], "file": parts[0]}[g]
				if groups[g] == nil {
					groups[g] = make(map[string]*truth.Score)
				}
				truth.AddTo(groups[g], key, s)
			}
		}
		if scored == 0 {
			return fmt.Errorf("none of the %d recordings in %s was scored", len(stems), *dir)
		}
		fmt.Fprintf(stdout, "%s: %d recordings; Go %s; scored on a machine with %d cores.\n", time.Now().UTC().Format(time.DateOnly),
			scored, strings.Join(slices.Sorted(maps.Keys(releases)), ", "), runtime.NumCPU())
		for i, g := range strings.Split(*by, ",") {
			fmt.Fprintf(stdout, "\n| %s | %s |\n%s\n", g, truth.SummaryHead, truth.SummaryRule)
			for _, k := range slices.Sorted(maps.Keys(groups[g])) {
				fmt.Fprintf(stdout, "| %s | %s |\n", k, groups[g][k].Summary())
			}
			if i == 0 {
				fmt.Fprintf(stdout, "| **all** | %s |\n\n%s", total.Summary(), total.Rest())
			}
		}
		fmt.Fprintf(stdout, "\n| workload | %s |\n%s\n", truth.TicksHead, truth.TicksRule)
		names := slices.Sorted(maps.Keys(workloads))
		for _, k := range names {
			if ticks := &workloads[k].Ticks; !few(ticks.Open) {
				fmt.Fprintf(stdout, "| %s | %s |\n", k, ticks.Summary())
			}
		}
		fmt.Fprintf(stdout, "| **all** | %s |\n", total.Ticks.Summary())
		if total.Lengths.GLOpen.Of > 0 { // of recordings with moves
			fmt.Fprintf(stdout, "\n| workload | %s |\n%s\n", truth.LengthsHead, truth.LengthsRule)
			for _, k := range names {
				if l := &workloads[k].Lengths; l.GLOpen.Of > 0 && !(few(l.GLOpen) && few(l.LLOpen)) {
					fmt.Fprintf(stdout, "| %s | %s |\n", k, l.Summary())
				}
			}
			fmt.Fprintf(stdout, "| **all** | %s |\n", total.Lengths.Summary())
			fmt.Fprintf(stdout, "\n%s", total.Reasons.Table())
		}
		fmt.Fprintf(stdout, "\n%s", total.Calibration())
		if *tool == "" {
			fmt.Fprintf(stdout, "\n| workload | %s |\n%s\n", truth.WaitingHead, truth.WaitingRule)
			for _, k := range names {
				fmt.Fprintf(stdout, "| %s | %s |\n", k, workloads[k].Waiting.Summary())
			}
			fmt.Fprintf(stdout, "| **all** | %s |\n", total.Waiting.Summary())
		}
		if *details {
			fmt.Fprintln(stdout)
			total.Print(stdout)
		}
		return nil
	}
}

// few reports whether less than 1 % of the starts are open: such a workload has no row.
func few(open truth.Rate) bool { return 100*open.Right < open.Of }

// scoreOne scores a recording: the reconstruction of this program, or the dump
// of another one if tool names it.
func scoreOne(ctx context.Context, tool, stem string, without reconstruct.Set) (*truth.Score, error) {
	trace, t, err := truth.ReadRecording(stem)
	if err != nil {
		return nil, err
	}
	var d []truth.Line
	var decisions []reference.Decision
	if tool == "" {
		if d, decisions, err = truth.Reconstruct(ctx, trace, analyze.Options{Without: without}); err != nil {
			return nil, err
		}
	} else {
		var out, errs bytes.Buffer
		cmd := exec.CommandContext(ctx, tool, "dump", trace)
		cmd.Stdout, cmd.Stderr = &out, &errs
		if err := cmd.Run(); err != nil {
			return nil, fmt.Errorf("dump: %w: %.300s", err, errs.Bytes())
		}
		if d, err = truth.ReadLines(&out); err != nil {
			return nil, fmt.Errorf("dump: %w", err)
		}
	}
	s, starts := truth.Compare(t, d)
	if decisions != nil {
		s.Waiting = truth.CompareWaiting(t, decisions)
	}
	return s, scoreOpen(s, t, d, starts, trace)
}

// scoreOpen scores ticks and queue lengths by what the trace shows of them, and finds
// out why lengths are wrong. It does no lengths for a truth without moves.
func scoreOpen(s *truth.Score, t, d []truth.Line, starts []truth.Match, traceFile string) error {
	s.Ticks = truth.CompareTicks(t, d, starts, truth.FindOpenTicks(t))
	f, err := os.Open(traceFile)
	if err != nil {
		return err
	}
	defer f.Close()
	open, err := truth.FindOpen(t, f)
	if errors.Is(err, truth.ErrNoMoves) {
		return nil
	}
	if err != nil {
		return err
	}
	s.Lengths = truth.CompareLengths(t, d, starts, open)
	s.Reasons = truth.FindReasons(t, d, starts, open)
	return nil
}
