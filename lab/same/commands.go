package same

import (
	"bytes"
	"context"
	"encoding/json"
	"flag"
	"fmt"
	"io"
	"maps"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/gmpscope/gmpscope/analyze"
	"github.com/gmpscope/gmpscope/compare"
	"github.com/gmpscope/gmpscope/compare/budget"
	"github.com/gmpscope/gmpscope/lab/cli"
	"github.com/gmpscope/gmpscope/lab/pairs"
	"github.com/gmpscope/gmpscope/lab/runner"
	"github.com/gmpscope/gmpscope/report"
)

// Commands are those of this package.
var Commands = []cli.Command{
	{Name: "variances", Args: "DIR…", What: "write compare/variances.json, from recordings of the same programs: PROGRAM.SESSION.N.trace", Init: variances},
	{Name: "judge resampled", Args: "DIR…", What: "compare such recordings of a program with each other: what diff finds is noise; into lab/pairs/measured.json", Init: resampled},
	{Name: "judge planted", Args: "DIR…", What: "judge folders of record --alternate, EFFECT.N, of which NEW is slower by the effect; into lab/pairs/measured.json", Init: planted},
}

// variances has also the sides of the pairs, each of which was recorded several times.
func variances(*flag.FlagSet) cli.Do {
	return func(ctx context.Context, dirs []string, stdout io.Writer) error {
		root, err := runner.Root()
		if err != nil {
			return err
		}
		programs, err := read(ctx, dirs)
		if err != nil {
			return err
		}
		from := runner.Stored(pairs.Dir(root))
		for _, p := range pairs.All {
			for _, side := range pairs.Sides {
				rs, err := pairs.Results(ctx, from, &p, side)
				if err != nil {
					return err
				}
				programs = append(programs, &program{p.Name + " " + side, map[string][]*analyze.Result{"": rs}})
			}
		}
		file := filepath.Join(root, "compare", "variances.json")
		text, err := os.ReadFile(file)
		if err != nil {
			return err
		}
		var before []variance
		if err := json.Unmarshal(text, &before); err != nil {
			return err
		}
		var b bytes.Buffer
		if err := write(&b, programs, before); err != nil {
			return err
		}
		return os.WriteFile(file, b.Bytes(), 0o644)
	}
}

// resampled draws recordings of each program at random for both sides: within a session, as if they had been
// recorded in turns, and from two sessions.
func resampled(flags *flag.FlagSet) cli.Do {
	draws := flags.Int("draws", 12, "comparisons of each program, of each kind")
	return func(ctx context.Context, dirs []string, stdout io.Writer) error {
		programs, err := read(ctx, dirs)
		if err != nil {
			return err
		}
		rnd := rand.New(rand.NewPCG(1, 2))
		var rows []pairs.Resampled
		for _, n := range []int{1, 2, 4} {
			for _, apart := range []bool{false, true} {
				count := map[compare.Verdict]int{}
				all := 0
				for _, p := range programs {
					for range *draws {
						before, after := p.draw(rnd, n, apart)
						if before == nil {
							continue
						}
						c, err := compare.Compare(before, after)
						if err != nil {
							return err
						}
						count[c.Verdict]++
						all++
						if c.Verdict != compare.NoChange && c.Verdict != compare.Inconclusive {
							fmt.Fprintf(stdout, "  %s: %s: %s\n", p.name, c.Verdict, c.Headline)
						}
					}
				}
				none, unknown := count[compare.NoChange], count[compare.Inconclusive]
				rows = append(rows, pairs.Resampled{Traces: n, Apart: apart, Programs: len(programs), All: all, Significant: all - none - unknown, Inconclusive: unknown})
				fmt.Fprintf(stdout, "%+v\n", rows[len(rows)-1])
			}
		}
		return pairs.Keep(func(m *pairs.Measured) { m.Resampled = rows })
	}
}

// planted counts how often diff, and check with the budget that it proposes from the old traces, notice what was planted.
func planted(*flag.FlagSet) cli.Do {
	return func(ctx context.Context, dirs []string, stdout io.Writer) error {
		var rows []pairs.Planted
		for _, dir := range dirs {
			effect := strings.TrimSuffix(filepath.Base(dir), filepath.Ext(dir))
			i := slices.IndexFunc(rows, func(p pairs.Planted) bool { return p.Effect == effect })
			if i < 0 {
				i = len(rows)
				rows = append(rows, pairs.Planted{Effect: effect})
			}
			var sides [2][]*analyze.Result
			for s, name := range []string{"old", "new"} {
				files, err := filepath.Glob(filepath.Join(dir, name+".*.trace"))
				if err != nil {
					return err
				}
				for _, file := range files {
					r, err := analyzed(ctx, file)
					if err != nil {
						return err
					}
					sides[s] = append(sides[s], r)
				}
			}
			if err := judgePlanted(&rows[i], sides[0], sides[1]); err != nil {
				return fmt.Errorf("%s: %w", dir, err)
			}
		}
		for _, p := range rows {
			fmt.Fprintf(stdout, "%+v\n", p)
		}
		return pairs.Keep(func(m *pairs.Measured) { m.Planted = rows })
	}
}

func judgePlanted(p *pairs.Planted, before, after []*analyze.Result) error {
	c, err := compare.Compare(before, after)
	if err != nil {
		return err
	}
	p.All++
	if c.Verdict == compare.Worse {
		p.Diff++
	}
	documents := func(rs []*analyze.Result) (out []budget.Document, err error) {
		for _, r := range rs {
			var b bytes.Buffer
			if err := report.WriteJSON(&b, report.Build(r, ""), report.JSONOptions{}); err != nil {
				return nil, err
			}
			d, err := budget.ReadDocument(&b, r.Trace.Name)
			if err != nil {
				return nil, err
			}
			out = append(out, d)
		}
		return out, nil
	}
	old, err := documents(before)
	if err != nil {
		return err
	}
	slow, err := documents(after)
	if err != nil {
		return err
	}
	var text bytes.Buffer
	if err := budget.Propose(&text, old); err != nil {
		return err
	}
	rules, err := budget.Parse(&text, "proposed")
	if err != nil {
		return err
	}
	if slices.ContainsFunc(budget.Check(rules, slow, nil), func(o budget.Outcome) bool { return !o.OK && o.Inconclusive == "" }) {
		p.Check++
	}
	return nil
}

// draw returns n recordings for each side; nil if there are not enough. Sides that are not apart have
// the same number of each session.
func (p *program) draw(rnd *rand.Rand, n int, apart bool) (before, after []*analyze.Result) {
	sessions := slices.Sorted(maps.Keys(p.sessions))
	rnd.Shuffle(len(sessions), func(i, j int) { sessions[i], sessions[j] = sessions[j], sessions[i] })
	take := func(session string, skip, n int) []*analyze.Result {
		rs := p.sessions[session]
		return rs[min(skip, len(rs)):min(skip+n, len(rs))]
	}
	for _, rs := range p.sessions {
		rnd.Shuffle(len(rs), func(i, j int) { rs[i], rs[j] = rs[j], rs[i] })
	}
	if apart {
		if len(sessions) < 2 {
			return nil, nil
		}
		before, after = take(sessions[0], 0, n), take(sessions[1], 0, n)
	} else {
		for _, s := range sessions {
			each := min(len(p.sessions[s])/2, n-len(before))
			before, after = append(before, take(s, 0, each)...), append(after, take(s, each, each)...)
		}
	}
	if len(before) < n || len(after) < n {
		return nil, nil
	}
	return before, after
}
