package corpus

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/gmpscope/gmpscope/compare"
	"github.com/gmpscope/gmpscope/lab/cases"
	"github.com/gmpscope/gmpscope/lab/labelled"
	"github.com/gmpscope/gmpscope/lab/pairs"
	"github.com/gmpscope/gmpscope/lab/runner"
	"github.com/gmpscope/gmpscope/lab/scenarios"
	"github.com/gmpscope/gmpscope/lab/units"
)

// goVersion builds the programs whose set does not say with which Go.
const goVersion = "go1.26.8"

func sets() []*set {
	return []*set{
		scenarioSet(), caseSet(), pairSet(), whatIfSet(), fleetSet(),
		labelledSet("labelled", labelled.Dir, false),
		labelledSet("labelled-pairs", labelled.Pairs, true),
		labelledSet("labelled-same", labelled.Dir, true),
		unitSet(),
	}
}

func scenarioSet() *set {
	var goes string
	targets := func() []*scenarios.Target {
		return scenarios.Targets(strings.FieldsFunc(goes, func(r rune) bool { return r == ',' || r == ' ' }))
	}
	return &set{
		name: "scenarios", what: "programs of testdata/traces, whose traces must show what the manifest says",
		dir: "testdata/traces", tries: 30, keep: 5,
		flags: func(flags *flag.FlagSet) {
			flags.StringVar(&goes, "go", "", "these Go `versions`, comma-separated, instead of the scenario's own")
		},
		takes: func(string) ([]take, error) {
			var all []take
			for _, t := range targets() {
				all = append(all, take{Take: &t.Take, check: t.Check, strict: true, put: t.Put})
			}
			return all, nil
		},
		prune: func(_, dir string) ([]string, error) {
			if goes != "" {
				return nil, nil
			}
			return scenarios.Prune(dir, targets())
		},
		judge: func(_ context.Context, j *judging) error {
			if j.live > 0 {
				return errors.New("record them, which judges each recording")
			}
			return scenarios.Verify(j.dir, j.stdout)
		},
	}
}

func caseSet() *set {
	return &set{
		name: "cases", what: "programs that a detector must find, or must not", dir: "testdata/traces/cases", tries: 10, keep: 3,
		takes: func(root string) ([]take, error) {
			found, err := cases.Find(root)
			var all []take
			for _, r := range found {
				put := func(dir string, _ *runner.Recording, row runner.Row) error { return r.Put(dir, row) }
				all = append(all, take{Take: &r.Take, check: r.Check, put: put})
			}
			return all, err
		},
		prune: func(root, dir string) ([]string, error) {
			found, err := cases.Find(root)
			if err != nil {
				return nil, err
			}
			return cases.Prune(dir, found)
		},
		judge: func(ctx context.Context, j *judging) error {
			found, err := cases.Find(j.root)
			if err != nil {
				return err
			}
			found = slices.DeleteFunc(found, func(r *cases.Recording) bool { return !j.only.MatchString(r.Name) })
			if j.live > 0 {
				return cases.Live(ctx, j.stdout, found, j.from, j.live)
			}
			result, err := cases.JudgeAll(ctx, found, j.from)
			fmt.Fprint(j.stdout, result.Page())
			return err
		},
	}
}

func pairSet() *set {
	return &set{
		name: "pairs", what: "programs before and after a change, for diff", dir: "testdata/traces/pairs", tries: 1, keep: 1,
		takes: func(string) ([]take, error) { return plain(pairs.Takes()), nil },
		judge: func(ctx context.Context, j *judging) error { return pairs.Page(ctx, j.stdout, j.from) },
	}
}

// whatIfSet is programs with one P and with two: what does the trace of the one predict for the other?
func whatIfSet() *set {
	const dir = "testdata/traces/whatif"
	return &set{
		name: "whatif", what: "programs with one P and with two, for predictions", dir: dir, tries: 5, keep: 5,
		takes: func(root string) ([]take, error) {
			programs, err := os.ReadDir(filepath.Join(root, dir, "programs"))
			var all []*runner.Take
			for _, p := range programs {
				for procs := 1; procs <= 2; procs++ {
					all = append(all, &runner.Take{Name: fmt.Sprintf("%s-p%d", p.Name(), procs), Program: dir + "/programs/" + p.Name(), Go: goVersion, GOMAXPROCS: procs})
				}
			}
			return plain(all), err
		},
	}
}

// fleetSet is two services in three versions, one of which has a mistake. Versions take turns, so
// that a machine that gets slower does so for all.
func fleetSet() *set {
	return &set{
		name: "fleet", what: "two services in three versions", dir: "fleet/testdata", tries: 1, keep: 1,
		takes: func(string) ([]take, error) {
			var all []*runner.Take
			for i := range 5 {
				for _, service := range []string{"checkout", "search"} {
					for _, version := range []string{"1.0", "1.1", "1.2"} {
						all = append(all, &runner.Take{
							Name: fmt.Sprintf("%s-%s-%d", service, version, i), Program: "fleet/testdata/programs/shop", Go: goVersion,
							GOMAXPROCS: 1, Env: []string{"SERVICE=" + service, "VERSION=" + version},
						})
					}
				}
			}
			return plain(all), nil
		},
	}
}

// labelledSet is the labelled programs in a folder, each once or, as a pair, before and after a
// change. Where it is the same program, no difference is right.
func labelledSet(name, programs string, paired bool) *set {
	var kept bool
	same := paired && programs == labelled.Dir
	labels := func(root string, matches func(string) bool) ([]*labelled.Label, error) {
		all, err := labelled.Read(root, programs)
		all = slices.DeleteFunc(all, func(l *labelled.Label) bool { return l.Kept != kept || !matches(l.Name) })
		for _, l := range all {
			if same {
				l.Want = compare.NoChange
			}
		}
		return all, err
	}
	what := "labelled programs"
	if same {
		what = "each labelled program twice: what diff finds is noise"
	} else if paired {
		what = "labelled programs before and after a change"
	}
	return &set{
		name: name, what: what, tries: 1, keep: 1,
		flags: func(flags *flag.FlagSet) {
			flags.BoolVar(&kept, "kept", false, "the programs that are kept, in place of the others; look at them seldom")
		},
		takes: func(root string) ([]take, error) {
			found, err := labels(root, func(string) bool { return true })
			var all []*runner.Take
			for _, l := range found {
				if paired {
					all = append(all, l.Sides(programs)...)
				} else {
					all = append(all, l.Take(programs))
				}
			}
			return plain(all), err
		},
		judge: func(ctx context.Context, j *judging) error {
			found, err := labels(j.root, j.only.MatchString)
			if err != nil {
				return err
			}
			found = slices.Repeat(found, max(1, j.live))
			if paired {
				return labelled.JudgePairs(ctx, j.stdout, found, programs, j.from)
			}
			return labelled.JudgeAll(ctx, j.stdout, found, j.from)
		},
	}
}

// unitSet is programs that write down their units of work, each also as the twin that marks them.
func unitSet() *set {
	return &set{
		name: "units", what: "programs that write down their units of work", tries: 3, keep: 3,
		takes: func(root string) ([]take, error) {
			labels, err := units.Read(root)
			var all []take
			for _, l := range labels {
				plain, twin := l.Takes(goVersion)
				for _, t := range []*runner.Take{plain, twin} {
					all = append(all, take{Take: t, put: func(dir string, x *runner.Recording, _ runner.Row) error { return units.Put(dir, x) }})
				}
			}
			return all, err
		},
		judge: func(ctx context.Context, j *judging) error {
			labels, err := units.Read(j.root)
			if err != nil {
				return err
			}
			labels = slices.DeleteFunc(labels, func(l *units.Label) bool { return !j.only.MatchString(l.Name) })
			from := units.Stored(j.dir)
			if j.live > 0 {
				labels, from = slices.Repeat(labels, j.live), units.Fresh(j.from)
			}
			return units.Judge(ctx, j.stdout, labels, goVersion, from)
		},
	}
}
