// Package bench answers: what does gmpscope cost, beside a bare read of the
// same trace? It records traces of programs at work, makes them as long as
// needed, runs the tools on them in turns, and writes a page of Markdown.
//
//	scripts/bench                 a page about small traces, in some minutes
//	scripts/bench -full -update   docs/performance.md again
//	scripts/bench -pgo            the profile that the compiler optimises gmpscope by
//
// All figures are of child processes: their wall time, CPU time and peak memory,
// as the kernel counts them. The plain loop and whatever is compared with it run
// in the same round, so that a slow moment of the machine meets both; a figure
// is the median of the rounds' ratios.
//
// The tests guard what an analysis costs. What can be counted, every run of them
// holds: it is the same each time. What only a clock or the live heap can tell is
// in files with the build tag guard, which scripts/bench -guard runs.
package bench

import (
	"context"
	"flag"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"

	"github.com/gmpscope/gmpscope/lab/cli"
	"github.com/gmpscope/gmpscope/lab/runner"
)

// Bench are the commands. What has no words is a child: what it takes is told apart from what
// its parent takes.
var Bench = []cli.Command{
	{Name: "bench make", Args: "STEM FULL FILE", Init: child(makeTrace)},
	{Name: "bench plain", Args: "FILE", Init: child(plain)},
	{Name: "bench decode", Args: "FILE", Init: child(decode)},
	{Name: "bench profile", Args: "COMMAND FILE PROFILE", Init: child(profileRun)},
	{Name: "bench", What: "what gmpscope costs, beside a bare read of the same trace", Init: compared},
	{Name: "fleet", Args: "FOLDER", What: "what a fleet costs on one core, and what that means for many traces a day", Init: fleetCost},
}

func child(do cli.Do) func(*flag.FlagSet) cli.Do {
	return func(*flag.FlagSet) cli.Do { return do }
}

func compared(flags *flag.FlagSet) cli.Do {
	full := flags.Bool("full", false, "traces of up to a gigabyte and a million goroutines; needs half an hour, 16 GB of memory and 10 GB of disk")
	dir := flags.String("dir", filepath.Join(os.TempDir(), "gmpscope-bench"), "`directory` for traces and programs; traces in it are used again")
	rounds := flags.Int("rounds", 5, "how often each tool reads a trace; fewer times for one of more than 200 MB")
	only := flags.String("only", "", "measure only these traces, comma-separated `names`; with -update, others are in the page as they were measured before, of the same build; what was interrupted goes on where it was")
	update := flags.Bool("update", false, "write docs/performance.md, not to standard output")
	pgo := flags.Bool("pgo", false, "measure nothing, but write cmd/gmpscope/default.pgo, by which the compiler optimises, from analyses of the traces")
	return func(ctx context.Context, _ []string, stdout io.Writer) error {
		root, err := runner.Root()
		if err != nil {
			return err
		}
		b := &bench{root: root, dir: *dir, rounds: max(1, *rounds), full: *full, log: os.Stderr}
		if err := b.prepare(ctx); err != nil {
			return err
		}
		var chosen []spec
		for _, t := range traces(*full) {
			if *only == "" || strings.Contains(","+*only+",", ","+t.name+",") || strings.Contains(","+*only+",", ","+t.stem()+",") {
				chosen = append(chosen, t)
			}
		}
		if *pgo {
			return b.pgo(ctx, chosen)
		}
		s, err := b.stored()
		if err != nil {
			return err
		}
		for _, t := range chosen {
			if err := b.measureInto(ctx, s, t); err != nil {
				return fmt.Errorf("%s: %w", t.what(), err)
			}
			if err := b.save(s); err != nil {
				return err
			}
		}
		p := page{date: s.Date, full: *full, rounds: b.rounds, starts: s.Starts, decodes: s.Decodes, shares: s.Packages, steps: s.Steps}
		for _, t := range traces(*full) {
			if m := s.measured(t); m != nil && b.complete(m) && (*update || slices.Contains(chosen, t)) {
				p.traces = append(p.traces, m)
			}
		}
		if !*update {
			_, err := io.WriteString(stdout, p.long())
			return err
		}
		return p.update(root)
	}
}

// measureInto measures what is told of a trace: what is lacking after an interruption,
// or all of it anew.
func (b *bench) measureInto(ctx context.Context, s *store, t spec) error {
	starts, closest := t.name == megabyte, t.name == central && t.length == long
	m := s.measured(t)
	if m != nil && b.complete(m) && (!starts || s.Starts != nil) && (!closest || s.Steps != nil) {
		m = nil
	}
	if m == nil && starts {
		s.Starts = nil
	}
	if m == nil && closest {
		s.Decodes, s.Packages, s.Steps = nil, nil, nil
	}
	m, err := b.measure(ctx, t, m, func(m *measured) error {
		s.put(m)
		return b.save(s)
	})
	if err != nil {
		return err
	}
	if starts {
		if s.Starts, err = b.starts(ctx, m.file); err != nil {
			return err
		}
	}
	if closest {
		if s.Decodes, err = b.decodes(ctx, m.file); err != nil {
			return err
		}
		s.Packages, s.Steps, err = b.profile(ctx, m.file)
	}
	return err
}

// bench runs programs for the benchmark.
type bench struct {
	root   string // of the checkout
	dir    string // for files
	rounds int
	full   bool // which traces are measured
	log    io.Writer

	self, gmpscope string // paths of programs
}

// prepare builds what is measured.
func (b *bench) prepare(ctx context.Context) error {
	var err error
	if b.dir, err = filepath.Abs(b.dir); err != nil {
		return err
	}
	if err := os.MkdirAll(b.dir, 0o755); err != nil {
		return err
	}
	if b.self, err = os.Executable(); err != nil {
		return err
	}
	b.gmpscope = filepath.Join(b.dir, "gmpscope")
	for program, pkg := range map[string]string{b.gmpscope: "cmd/gmpscope", filepath.Join(b.dir, loadProgram): "lab/bench/load"} {
		cmd := exec.CommandContext(ctx, "go", "build", "-buildvcs=false", "-o", program, ".")
		cmd.Dir = filepath.Join(b.root, filepath.FromSlash(pkg))
		if out, err := cmd.CombinedOutput(); err != nil {
			return fmt.Errorf("build %s: %w\n%s", pkg, err, out)
		}
	}
	return nil
}

// child runs this program as one of its children and returns what it printed.
func (b *bench) child(ctx context.Context, args ...string) ([]byte, error) {
	cmd := exec.CommandContext(ctx, b.self, append([]string{"bench"}, args...)...)
	cmd.Dir = b.dir
	var stderr strings.Builder
	cmd.Stderr = &stderr
	out, err := cmd.Output()
	if err != nil {
		return nil, fmt.Errorf("%s: %w\n%s", strings.Join(args, " "), err, stderr.String())
	}
	return out, nil
}
