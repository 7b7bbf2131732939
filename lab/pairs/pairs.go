// Package pairs judges package compare by programs recorded before and after a
// change of known effect.
//
// Each folder in testdata/traces/pairs/programs is a program that the variable
// SIDE (before, after) tells which of its two forms to take; its package comment
// says what the change is. testdata/traces/pairs holds some recordings of each
// form.
package pairs

import (
	"context"
	"errors"
	"fmt"
	"io"
	"path/filepath"
	"strings"

	"github.com/gmpscope/gmpscope/analyze"
	"github.com/gmpscope/gmpscope/compare"
	"github.com/gmpscope/gmpscope/lab/runner"
)

// Pair is a program before and after a change.
type Pair struct {
	Name string
	// GOMAXPROCS on both sides.
	Before, After int
	// Want is the verdict that is right. Cause is the cause of waiting that must
	// account for the most of the change, "" where that is open.
	Want  compare.Verdict
	Cause string
}

// goVersion builds the programs.
const goVersion = "go1.26.8"

// Nothing is the program that does not change.
const Nothing = "nothing"

// Sides are the values of SIDE.
var Sides = [...]string{"before", "after"}

// Recordings is how many there are of each side.
const Recordings = 6

// All lists the pairs. The one called [Nothing] has twice the recordings on each
// side: they are dealt out to two sides in all ways.
var All = []Pair{
	{Name: "mutex-sharded", Before: 2, After: 2, Want: compare.Better, Cause: "queueing"},
	{Name: "channel-batched", Before: 2, After: 2, Want: compare.Better, Cause: "overtaken"},
	{Name: "fan-out-limited", Before: 2, After: 2, Want: compare.Better, Cause: "queueing"},
	{Name: "queue-bounded", Before: 2, After: 2, Want: compare.Better, Cause: "queueing"},
	{Name: "senders-fifo", Before: 1, After: 1, Want: compare.Better, Cause: "overtaken"},
	{Name: "procs-halved", Before: 2, After: 1, Want: compare.Worse, Cause: "queueing"},
	{Name: "relay", Before: 1, After: 1, Want: compare.Better},
	{Name: "handlers", Before: 2, After: 2, Want: compare.Better},
	{Name: "poll-barrier", Before: 2, After: 2, Want: compare.NoChange}, // it saves P-time, and no user feels it
	{Name: "stopped-server", Before: 2, After: 2, Want: compare.Better},
	{Name: Nothing, Before: 2, After: 2, Want: compare.NoChange},
}

// Dir is the folder of the recordings in the checkout root.
func Dir(root string) string { return filepath.Join(root, "testdata", "traces", "pairs") }

// Program is the folder of a pair's program, from the checkout root, with slashes.
func Program(p *Pair) string { return "testdata/traces/pairs/programs/" + p.Name }

// Take is the recording i, from 0, of one side.
func Take(p *Pair, side string, i int) *runner.Take {
	procs := p.Before
	if side == Sides[1] {
		procs = p.After
	}
	return &runner.Take{Name: fmt.Sprintf("%s-%s-%d", p.Name, side, i), Program: Program(p), Go: goVersion, GOMAXPROCS: procs, Env: []string{"SIDE=" + side}}
}

// Takes are all recordings. Sides take turns, so that a machine that gets slower does so for both.
func Takes() []*runner.Take {
	var all []*runner.Take
	for _, p := range All {
		for i := range Recordings {
			for _, side := range Sides {
				all = append(all, Take(&p, side, i))
			}
		}
	}
	return all
}

// Results analyses the recordings of one side.
func Results(ctx context.Context, from runner.Source, p *Pair, side string) ([]*analyze.Result, error) {
	var out []*analyze.Result
	for i := range Recordings {
		r, err := from.Analyze(ctx, Take(p, side, i))
		if err != nil {
			return nil, err
		}
		out = append(out, r)
	}
	return out, nil
}

// Judged is a pair with what compare says about it.
type Judged struct {
	Pair
	Got   *compare.Result
	Chief string                  // the cause with the largest part in the change
	One   map[compare.Verdict]int // verdicts on single recordings, one of each side
}

// Right reports whether the verdict, and the cause where one is wanted, are right.
func (j *Judged) Right() bool {
	return j.Got.Verdict == j.Want && (j.Cause == "" || j.Cause == j.Chief)
}

// Judge compares a pair's recordings: all, and each with one of the other side.
func Judge(before, after []*analyze.Result, p Pair) (*Judged, error) {
	c, err := compare.Compare(before, after)
	if err != nil {
		return nil, err
	}
	j := &Judged{Pair: p, Got: c, One: map[compare.Verdict]int{}}
	var most int64
	for _, x := range c.Causes {
		if n := max(x.DeltaNs, -x.DeltaNs); n > most {
			most, j.Chief = n, x.Cause
		}
	}
	for i := range before {
		one, err := compare.Compare(before[i:i+1], after[i:i+1])
		if err != nil {
			return nil, err
		}
		j.One[one.Verdict]++
	}
	return j, nil
}

// seesChange counts a comparison, and whether it sees a change.
func seesChange(before, after []*analyze.Result, alarms, all *int) error {
	c, err := compare.Compare(before, after)
	if err != nil {
		return err
	}
	*all++
	if c.Verdict == compare.Better || c.Verdict == compare.Worse || c.Verdict == compare.Mixed {
		*alarms++
	}
	return nil
}

// Alarms deals recordings of one program out to two sides, in all ways, and
// counts the comparisons that see a change.
func Alarms(rs []*analyze.Result) (alarms, all int, err error) {
	if len(rs)%2 != 0 {
		return 0, 0, errors.New("an odd number of recordings")
	}
	n := len(rs)
	for set := range 1 << n {
		var b, a []*analyze.Result
		for i, r := range rs {
			if set>>i&1 == 0 {
				b = append(b, r)
			} else {
				a = append(a, r)
			}
		}
		if len(a) != n/2 {
			continue
		}
		if err := seesChange(b, a, &alarms, &all); err != nil {
			return 0, 0, err
		}
	}
	return alarms, all, nil
}

// oneEach counts the same for each recording against each other.
func oneEach(rs []*analyze.Result) (alarms, all int, err error) {
	for i := range rs {
		for j := range rs {
			if i == j {
				continue
			}
			if err := seesChange(rs[i:i+1], rs[j:j+1], &alarms, &all); err != nil {
				return 0, 0, err
			}
		}
	}
	return alarms, all, nil
}

// Page writes lab/docs/diff.md.
func Page(ctx context.Context, w io.Writer, from runner.Source) error {
	var b strings.Builder
	b.WriteString(`# Does diff judge right?

For those who change package compare. Generated by ` + "`go -C lab test ./pairs -update`" + ` from the recordings in testdata/traces/pairs; a test keeps it up to date. Each program was recorded ` + fmt.Sprint(Recordings) + ` times before and ` + fmt.Sprint(Recordings) + ` times after a change of known effect. "One each": the
verdicts on single recordings, one of each side.

| program | GOMAXPROCS | verdict | right? | largest part of the change | one each |
|---|---|---|---|---|---|
`)
	var nothing []*analyze.Result
	for _, p := range All {
		before, err := Results(ctx, from, &p, Sides[0])
		if err != nil {
			return err
		}
		after, err := Results(ctx, from, &p, Sides[1])
		if err != nil {
			return err
		}
		if p.Name == Nothing {
			nothing = append(before, after...)
		}
		j, err := Judge(before, after, p)
		if err != nil {
			return err
		}
		right := "yes"
		if !j.Right() {
			right = "**no**"
		}
		var one []string
		for _, v := range []compare.Verdict{compare.Better, compare.Worse, compare.Mixed, compare.NoChange, compare.Inconclusive} {
			if n := j.One[v]; n > 0 {
				one = append(one, fmt.Sprintf("%d %s", n, v))
			}
		}
		fmt.Fprintf(&b, "| [%s](../../%s/main.go) | %d→%d | %s | %s | %s | %s |\n", p.Name, Program(&p), p.Before, p.After, j.Got.Verdict, right, j.Chief, strings.Join(one, ", "))
	}
	alarms, all, err := Alarms(nothing)
	if err != nil {
		return err
	}
	ones, allOnes, err := oneEach(nothing)
	if err != nil {
		return err
	}
	fmt.Fprintf(&b, `
**False alarms.** The %d recordings of the program that does not change, dealt out to two sides of %d in all ways: %d of %d
comparisons (%.1f %%) see a change. Each of them against each other one: %d of %d (%.1f %%).
`, len(nothing), len(nothing)/2, alarms, all, 100*float64(alarms)/float64(all), ones, allOnes, 100*float64(ones)/float64(allOnes))
	m, err := measured()
	if err != nil {
		return err
	}
	m.page(&b)
	_, err = io.WriteString(w, b.String())
	return err
}
