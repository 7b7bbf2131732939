package same

import (
	"bytes"
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"

	"github.com/gmpscope/gmpscope/analyze"
	"github.com/gmpscope/gmpscope/compare"
	"github.com/gmpscope/gmpscope/lab/cli"
	"github.com/gmpscope/gmpscope/lab/pairs"
	"github.com/gmpscope/gmpscope/lab/runner"
)

// Commands are those of this package.
var Commands = []cli.Command{
	{Name: "variances", Args: "DIR…", What: "write compare/variances.json, from recordings of the same programs: PROGRAM.SESSION.N.trace", Init: variances},
	{Name: "judge resampled", Args: "DIR…", What: "compare such recordings of a program with each other: what diff finds is noise", Init: resampled},
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
		var b bytes.Buffer
		if err := write(&b, programs); err != nil {
			return err
		}
		return os.WriteFile(filepath.Join(root, "compare", "variances.json"), b.Bytes(), 0o644)
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
				fmt.Fprintf(stdout, "%d a side, sessions apart %t: of %d comparisons %d significant, %d inconclusive\n", n, apart, all, all-none-unknown, unknown)
			}
		}
		return nil
	}
}

// draw returns n recordings for each side; nil if there are not enough. Sides that are not apart have
// the same number of each session.
func (p *program) draw(rnd *rand.Rand, n int, apart bool) (before, after []*analyze.Result) {
	var sessions []string
	for s := range p.sessions {
		sessions = append(sessions, s)
	}
	slices.Sort(sessions)
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

var errNone = errors.New("no recordings: name folders with PROGRAM.SESSION.N.trace")
