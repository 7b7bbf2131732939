// Labelled records the programs in lab/testdata/programs and judges what gmpscope says of
// them: package labelled says how.
//
//	go run ./internal/cmd/labelled                   the programs that are not kept
//	go run ./internal/cmd/labelled -kept             those that are; look at them seldom
//	go run ./internal/cmd/labelled -pairs            the same of pairs, five recordings a side
//	go run ./internal/cmd/labelled -same             each program against itself: what diff finds is noise
//	go run ./internal/cmd/labelled -only '^audit-'   those whose names match
//	go run ./internal/cmd/labelled -busy 2           beside so many processes that only compute
//	go run ./internal/cmd/labelled -again DIR        judge the recordings in DIR, made with -keep DIR
//
// Programs that share a machine disturb each other: -run-with starts them by a command,
// for instance "nice -n -20".
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"regexp"
	"runtime"
	"strings"

	"github.com/gmpscope/gmpscope/analyze"
	"github.com/gmpscope/gmpscope/compare"
	"github.com/gmpscope/gmpscope/internal/testkit/rec"
	"github.com/gmpscope/gmpscope/lab/labelled"
	"github.com/gmpscope/gmpscope/lab/runner"
)

// sides of a pair, and how often each is recorded.
var sides = [...]string{"before", "after"}

const recordings = 5

func main() {
	if os.Getenv(busyVariable) != "" {
		for x := uint64(0); ; x += rec.Work(1000) { // a busy neighbour
		}
	}
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	if err := run(ctx, os.Args[1:], os.Stdout); err != nil && !errors.Is(err, flag.ErrHelp) {
		fmt.Fprintln(os.Stderr, "labelled:", err)
		os.Exit(1)
	}
}

// job is what the flags ask for.
type job struct {
	kept, pairs, same bool
	only              *regexp.Regexp
	with              []string
	keep, again       string
	root              string
	runner            *runner.Runner
}

func run(ctx context.Context, args []string, w io.Writer) error {
	flags := flag.NewFlagSet("labelled", flag.ContinueOnError)
	j := &job{}
	flags.BoolVar(&j.kept, "kept", false, "the programs that are kept, in place of the others")
	flags.BoolVar(&j.pairs, "pairs", false, "programs before and after a change")
	flags.BoolVar(&j.same, "same", false, "each program before and after no change at all")
	only := flags.String("only", "", "only programs whose names match this `regexp`")
	with := flags.String("run-with", "", "`command` that starts the programs, such as \"nice -n -20\"")
	busy := flags.Int("busy", 0, "`number` of processes that compute meanwhile")
	flags.StringVar(&j.keep, "keep", "", "`folder` to leave the recordings in")
	flags.StringVar(&j.again, "again", "", "`folder` of recordings to judge again")
	if err := flags.Parse(args); err != nil {
		return err
	}
	var err error
	if j.only, err = regexp.Compile(*only); err != nil {
		return err
	}
	if j.root, err = runner.Root(); err != nil {
		return err
	}
	temp, err := os.MkdirTemp("", "gmpscope-labelled-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(temp)
	j.with, j.runner = strings.Fields(*with), runner.New(j.root, temp)
	stop, err := neighbours(ctx, *busy)
	if err != nil {
		return err
	}
	defer stop()
	switch {
	case j.pairs:
		return j.judgePairs(ctx, w, labelled.Pairs)
	case j.same:
		return j.judgePairs(ctx, w, labelled.Dir)
	}
	return j.judge(ctx, w)
}

// busyVariable makes the program a busy neighbour.
const busyVariable = "GMPSCOPE_LABELLED_BUSY"

// neighbours starts processes that only compute.
func neighbours(ctx context.Context, n int) (stop func(), err error) {
	self, err := os.Executable()
	if err != nil {
		return nil, err
	}
	var all []*exec.Cmd
	stop = func() {
		for _, c := range all {
			c.Process.Kill()
			c.Wait()
		}
	}
	for range n {
		c := exec.CommandContext(ctx, self)
		c.Env = append(os.Environ(), busyVariable+"=1", "GOMAXPROCS=1")
		if err := c.Start(); err != nil {
			stop()
			return nil, err
		}
		all = append(all, c)
	}
	return stop, nil
}

// labels are those of the programs that are asked for.
func (j *job) labels(dir string) ([]*labelled.Label, error) {
	all, err := labelled.Read(j.root, dir)
	var out []*labelled.Label
	for _, l := range all {
		if l.Kept == j.kept && j.only.MatchString(l.Name) {
			out = append(out, l)
		}
	}
	return out, err
}

// record returns a trace of a program, which goes by the given name.
func (j *job) record(ctx context.Context, dir string, l *labelled.Label, name string, env ...string) ([]byte, error) {
	if j.again != "" {
		return os.ReadFile(filepath.Join(j.again, name+".trace"))
	}
	program, err := j.runner.Build(ctx, runtime.Version(), dir+"/"+l.Name)
	if err != nil {
		return nil, err
	}
	env = append(env, "PATH="+os.Getenv("PATH")) // some start others
	trace, _, err := j.runner.Run(ctx, program, runner.Run{GOMAXPROCS: l.Procs, Env: env, With: j.with})
	if err != nil {
		return nil, fmt.Errorf("%s: %w", name, err)
	}
	if j.keep != "" {
		err = os.WriteFile(filepath.Join(j.keep, name+".trace"), trace, 0o644)
	}
	return trace, err
}

func (j *job) judge(ctx context.Context, w io.Writer) error {
	labels, err := j.labels(labelled.Dir)
	if err != nil {
		return err
	}
	var wrong, fine score
	for _, l := range labels {
		trace, err := j.record(ctx, labelled.Dir, l, l.Name)
		if err != nil {
			return err
		}
		x, err := labelled.Judge(ctx, l, trace)
		if err != nil {
			return err
		}
		of := &fine
		if l.Wrong {
			of = &wrong
		}
		fmt.Fprintf(w, "%-6s %s (%s): %s\n", of.count(x.Right), l.Name, l.Cause, x.Headline)
		if !x.Right && l.Wrong {
			fmt.Fprintf(w, "       wanted %s; advice: %s\n", strings.Join(l.Culprit, " or "), x.Advice)
		}
	}
	fmt.Fprintf(w, "\nThe first line or the first advice names the culprit: %s\nNothing is named where nothing is wrong: %s\n", &wrong, &fine)
	return nil
}

// judgePairs compares two sides of each program in dir: where it is the same program, no difference is wanted.
func (j *job) judgePairs(ctx context.Context, w io.Writer, dir string) error {
	labels, err := j.labels(dir)
	if err != nil {
		return err
	}
	var there, back score
	for _, l := range labels {
		if j.same {
			l.Want = compare.NoChange
		}
		var results [len(sides)][]*analyze.Result
		for i := range recordings {
			for s, side := range sides { // in turns
				name := fmt.Sprintf("%s-%s-%d", l.Name, side, i+1)
				trace, err := j.record(ctx, dir, l, name, "SIDE="+side)
				if err != nil {
					return err
				}
				r, err := labelled.Analyze(ctx, name, trace)
				if err != nil {
					return err
				}
				results[s] = append(results[s], r)
			}
		}
		for _, x := range []struct {
			score         *score
			before, after []*analyze.Result
			want          compare.Verdict
		}{{&there, results[0], results[1], l.Want}, {&back, results[1], results[0], opposite(l.Want)}} {
			c, err := compare.Compare(x.before, x.after)
			if err != nil {
				return err
			}
			fmt.Fprintf(w, "%-6s %s: wanted %s: %s: %s\n", x.score.count(c.Verdict == x.want), l.Name, x.want, c.Verdict, c.Headline)
		}
	}
	fmt.Fprintf(w, "\nVerdicts that are right: %s there, %s back\n", &there, &back)
	return nil
}

// opposite is the verdict that is right with the sides swapped.
func opposite(v compare.Verdict) compare.Verdict {
	switch v {
	case compare.Better:
		return compare.Worse
	case compare.Worse:
		return compare.Better
	}
	return v
}

// score counts what is right.
type score struct{ right, all int }

func (s *score) count(right bool) string {
	s.all++
	if !right {
		return "WRONG"
	}
	s.right++
	return "right"
}

func (s *score) String() string {
	if s.all == 0 {
		return "none of none"
	}
	return fmt.Sprintf("%d of %d (%.0f %%)", s.right, s.all, 100*float64(s.right)/float64(s.all))
}
