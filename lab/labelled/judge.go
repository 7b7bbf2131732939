package labelled

import (
	"context"
	"fmt"
	"io"
	"runtime"
	"strings"

	"github.com/gmpscope/gmpscope/analyze"
	"github.com/gmpscope/gmpscope/compare"
	"github.com/gmpscope/gmpscope/lab/runner"
)

// sides of a program before and after a change, and how often each is recorded.
var sides = [...]string{"before", "after"}

const recordings = 5

// Take is the recording of a program in dir.
func (l *Label) Take(dir string) *runner.Take {
	return &runner.Take{Name: l.Name, Program: dir + "/" + l.Name, Go: runtime.Version(), GOMAXPROCS: l.Procs}
}

// Sides are the recordings of a program in dir on both sides, in turns.
func (l *Label) Sides(dir string) []*runner.Take {
	var all []*runner.Take
	for i := range recordings {
		for _, side := range sides {
			t := l.Take(dir)
			t.Name, t.Env = fmt.Sprintf("%s-%s-%d", l.Name, side, i+1), []string{"SIDE=" + side}
			all = append(all, t)
		}
	}
	return all
}

// JudgeAll prints whether the verdicts on programs are right.
func JudgeAll(ctx context.Context, w io.Writer, labels []*Label, from runner.Source) error {
	var wrong, fine score
	for _, l := range labels {
		r, err := from.Analyze(ctx, l.Take(Dir))
		if err != nil {
			return err
		}
		j, of := l.Judge(r), &fine
		if l.Wrong {
			of = &wrong
		}
		fmt.Fprintf(w, "%-6s %s (%s): %s\n", of.count(j.Right), l.Name, l.Cause, j.Headline)
		if !j.Right && l.Wrong {
			fmt.Fprintf(w, "       wanted %s; advice: %s\n", strings.Join(l.Culprit, " or "), j.Advice)
		}
	}
	fmt.Fprintf(w, "\nThe first line or the first advice names the culprit: %s\nNothing is named where nothing is wrong: %s\n", &wrong, &fine)
	return nil
}

// JudgePairs compares the two sides of each program in dir, both ways.
func JudgePairs(ctx context.Context, w io.Writer, labels []*Label, dir string, from runner.Source) error {
	var there, back score
	for _, l := range labels {
		var results [len(sides)][]*analyze.Result
		for i, t := range l.Sides(dir) {
			r, err := from.Analyze(ctx, t)
			if err != nil {
				return err
			}
			results[i%len(sides)] = append(results[i%len(sides)], r)
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
