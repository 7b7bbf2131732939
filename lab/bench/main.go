// Package bench answers: what does gmpscope cost, beside a bare read of the
// same trace? It records traces of programs at work, makes them as long as
// needed, runs the tools on them in turns, and writes a page of Markdown.
//
//	scripts/bench                            a page, in a quarter of an hour on two idle cores
//	scripts/bench -before REVISION -update   docs/performance.md again
//	scripts/bench -pgo                       the profile that the compiler optimises gmpscope by
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
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/gmpscope/gmpscope/lab/cli"
	"github.com/gmpscope/gmpscope/lab/runner"
)

// Bench are the commands. What has no words is a child: what it takes is told apart from what
// its parent takes.
var Bench = []cli.Command{
	{Name: "bench make", Args: "NAME FILE", Init: child(makeTrace)},
	{Name: "bench plain", Args: "FILE", Init: child(plain)},
	{Name: "bench viewer", Args: "FILE", Init: child(viewer)},
	{Name: "bench profile", Args: "COMMAND FILE PROFILE", Init: child(profileRun)},
	{Name: "bench", What: "what gmpscope costs, beside a bare read of the same trace", Init: compared},
	{Name: "events", Args: "FILE…", What: "what an event of each trace costs, beside a bare read of it", Init: perEvent},
	{Name: "fleet", Args: "FOLDER", What: "what a fleet costs on one core, and what that means for many traces a day", Init: fleetCost},
}

func child(do cli.Do) func(*flag.FlagSet) cli.Do {
	return func(*flag.FlagSet) cli.Do { return do }
}

func compared(flags *flag.FlagSet) cli.Do {
	dir := flags.String("dir", filepath.Join(os.TempDir(), "gmpscope-bench"), "`directory` for traces and programs; traces in it are used again")
	rounds := flags.Int("rounds", 3, "how often each tool reads a trace")
	only := flags.String("only", "", "measure only these traces, comma-separated `names`")
	before := flags.String("before", "", "measure the command of a `REVISION`, too")
	update := flags.Bool("update", false, "write docs/performance.md, and only what is not for that page to standard output")
	pgo := flags.Bool("pgo", false, "measure nothing, but write cmd/gmpscope/default.pgo, by which the compiler optimises, from analyses of the traces")
	return func(ctx context.Context, _ []string, stdout io.Writer) error {
		root, err := runner.Root()
		if err != nil {
			return err
		}
		b := &bench{root: root, dir: *dir, rounds: max(1, *rounds), log: os.Stderr}
		if err := b.prepare(ctx, *before); err != nil {
			return err
		}
		var chosen []spec
		for _, t := range traces() {
			if *only == "" || slices.Contains(strings.Split(*only, ","), t.name) {
				chosen = append(chosen, t)
			}
		}
		if *pgo {
			return b.pgo(ctx, chosen)
		}
		p := page{date: time.Now(), rounds: b.rounds, before: *before}
		for _, t := range chosen {
			if err := b.measureInto(ctx, &p, t); err != nil {
				return fmt.Errorf("%s: %w", t.title, err)
			}
		}
		text := p.detail()
		if !*update {
			text = p.long() + "\n" + text
		} else if err := p.update(root); err != nil {
			return err
		}
		_, err = io.WriteString(stdout, text)
		return err
	}
}

// measureInto measures what the page tells of a trace.
func (b *bench) measureInto(ctx context.Context, p *page, t spec) error {
	m, err := b.measure(ctx, t)
	if err != nil {
		return err
	}
	p.traces = append(p.traces, m)
	if m.packages, m.steps, err = b.profile(ctx, m.file, 1); err != nil {
		return err
	}
	switch t.name {
	case megabyte:
		p.starts, err = b.starts(ctx, m.file)
	case central:
		p.wider = map[int][]share{}
		for _, procs := range []int{2, 4} {
			if _, p.wider[procs], err = b.profile(ctx, m.file, procs); err != nil {
				return err
			}
		}
	}
	return err
}

// bench runs programs for the benchmark.
type bench struct {
	root   string // of the checkout
	dir    string // for files
	rounds int
	log    io.Writer

	self, gmpscope, before string // paths of programs; before may be empty
}

// prepare builds what is measured.
func (b *bench) prepare(ctx context.Context, before string) error {
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
	if err := errors.Join(build(ctx, b.gmpscope, b.root, "cmd/gmpscope"), build(ctx, filepath.Join(b.dir, loadProgram), b.root, "lab/bench/load")); err != nil || before == "" {
		return err
	}
	b.before = filepath.Join(b.dir, "gmpscope-"+before)
	if _, err := os.Stat(b.before); err == nil {
		return nil
	}
	tree, err := os.MkdirTemp(b.dir, "tree-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(tree)
	if err := quiet(exec.CommandContext(ctx, "git", "-C", b.root, "worktree", "add", "--detach", tree, before)); err != nil {
		return err
	}
	err = build(ctx, b.before, tree, "cmd/gmpscope")
	return errors.Join(err, quiet(exec.CommandContext(ctx, "git", "-C", b.root, "worktree", "remove", "--force", tree)))
}

// build builds a package of a checkout.
func build(ctx context.Context, program, root, pkg string) error {
	cmd := exec.CommandContext(ctx, "go", "build", "-buildvcs=false", "-o", program, ".")
	cmd.Dir = filepath.Join(root, filepath.FromSlash(pkg))
	if err := quiet(cmd); err != nil {
		return fmt.Errorf("build %s: %w", pkg, err)
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
