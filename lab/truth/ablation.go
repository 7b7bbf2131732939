package truth

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"math"
	"path/filepath"
	"regexp"
	"slices"
	"strings"

	"github.com/gmpscope/gmpscope/analyze"
	"github.com/gmpscope/gmpscope/analyze/reconstruct"
)

func scoreTrace(ctx context.Context, trace string, real []Line, without reconstruct.Set) (*Score, error) {
	said, decisions, err := Reconstruct(ctx, trace, analyze.Options{Without: without})
	if err != nil {
		return nil, err
	}
	s, _ := Compare(real, said)
	s.Waiting = CompareWaiting(real, decisions)
	return s, nil
}

// ReadRecording returns the name of a recording's trace, and its truth. stem is its path
// without endings: those of the compact form, or of the full one.
func ReadRecording(stem string) (trace string, truth []Line, err error) {
	truth, err = ReadLinesFile(stem + compactEnding)
	if errors.Is(err, fs.ErrNotExist) {
		truth, err = ReadLinesFile(stem + ".truth.jsonl")
		return stem + ".trace", truth, err
	}
	return stem + ".trace.zst", truth, err
}

// Recordings returns the paths of the recordings in a folder, without their endings.
func Recordings(dir string) ([]string, error) {
	var stems []string
	for _, ending := range []string{compactEnding, ".truth.jsonl"} {
		list, err := filepath.Glob(filepath.Join(dir, "*"+ending))
		if err != nil {
			return nil, err
		}
		for _, file := range list {
			stems = append(stems, strings.TrimSuffix(file, ending))
		}
	}
	if len(stems) == 0 {
		return nil, fmt.Errorf("there are no recordings in %s", dir)
	}
	return stems, nil
}

// Ablation is what the hypotheses of the reconstruction are worth.
type Ablation struct {
	Recordings int
	only       []string                     // names of the hypotheses to leave out, one at a time; all if it is empty
	Workloads  []string                     // sorted
	All        map[string]*Score            // with all of them: by workload, and of all together by ""
	Without    map[string]map[string]*Score // without each, by name, and likewise
}

// recordingName is the name of a recording: workload, release and GOMAXPROCS.
var recordingName = regexp.MustCompile(`^(.+)-go[0-9.]+-p[0-9]+`)

// Ablate scores the recordings of a folder, with all hypotheses and without each, or only
// without those of some names.
func Ablate(ctx context.Context, dir string, only ...string) (*Ablation, error) {
	stems, err := Recordings(dir)
	if err != nil {
		return nil, err
	}
	if _, err := reconstruct.Without(only...); err != nil {
		return nil, err
	}
	a := &Ablation{only: only, Recordings: len(stems), All: map[string]*Score{}, Without: map[string]map[string]*Score{}}
	for _, stem := range stems {
		parts := recordingName.FindStringSubmatch(filepath.Base(stem))
		if parts == nil {
			return nil, fmt.Errorf("%s: its name does not tell its workload", stem)
		}
		if err := a.add(ctx, stem, parts[1]); err != nil {
			return nil, err
		}
	}
	for workload := range a.All {
		if workload != "" {
			a.Workloads = append(a.Workloads, workload)
		}
	}
	slices.Sort(a.Workloads)
	return a, nil
}

// add scores a recording of a workload.
func (a *Ablation) add(ctx context.Context, stem, workload string) error {
	trace, real, err := ReadRecording(stem)
	if err != nil {
		return fmt.Errorf("reading %s: %w", stem, err)
	}
	score := func(to map[string]*Score, without reconstruct.Set) error {
		s, err := scoreTrace(ctx, trace, real, without)
		if err != nil {
			return err
		}
		for _, key := range []string{workload, ""} {
			AddTo(to, key, s)
		}
		return nil
	}
	if err := score(a.All, 0); err != nil {
		return fmt.Errorf("scoring %s: %w", stem, err)
	}
	for _, h := range a.hypotheses() {
		less, err := reconstruct.Without(h.Name)
		if err != nil {
			return err
		}
		if a.Without[h.Name] == nil {
			a.Without[h.Name] = map[string]*Score{}
		}
		if err := score(a.Without[h.Name], less); err != nil {
			return fmt.Errorf("scoring %s without %s: %w", stem, h.Name, err)
		}
	}
	return nil
}

// hypotheses returns those that are left out, one at a time.
func (a *Ablation) hypotheses() []reconstruct.Hypothesis {
	list := slices.Clone(reconstruct.Hypotheses())
	if len(a.only) == 0 {
		return list
	}
	return slices.DeleteFunc(list, func(h reconstruct.Hypothesis) bool { return !slices.Contains(a.only, h.Name) })
}

// columns are the rates by which a hypothesis is judged.
var columns = []struct {
	name string
	of   func(*Score) Rate
}{
	{"exact source", func(s *Score) Rate { return s.Exact }},
	{"steal recall", func(s *Score) Rate { return s.StealRecall }},
	{"steal precision", func(s *Score) Rate { return s.StealPrecision }},
	{"ll", func(s *Score) Rate { return s.LL }},
	{"gl", func(s *Score) Rate { return s.GL }},
	{"true cause of waiting", func(s *Score) Rate { return s.Waiting.Cause }},
}

// The least changes of a rate, in percentage points, that a table names, and for which a workload has a row.
const (
	worthNaming = 0.02
	worthARow   = 0.5
)

// change returns by how many points a rate changes; empty if that is not worth naming.
func change(with, without Rate) string {
	points := pointsOf(with, without)
	if points > -worthNaming && points < worthNaming {
		return ""
	}
	return fmt.Sprintf("%+.2f", points)
}

func pointsOf(with, without Rate) float64 { return 100 * (share(without) - share(with)) }

func share(r Rate) float64 {
	if r.Of == 0 {
		return 1
	}
	return float64(r.Right) / float64(r.Of)
}

// Total is a table of Markdown, one row for each hypothesis: by how many percentage points
// the rates of all recordings together change without it.
func (a *Ablation) Total() string {
	var b strings.Builder
	b.WriteString("| without |")
	for _, c := range columns {
		fmt.Fprintf(&b, " %s |", c.name)
	}
	b.WriteString("\n|---|" + strings.Repeat("---:|", len(columns)) + "\n| nothing, in % |")
	for _, c := range columns {
		fmt.Fprintf(&b, " %v |", c.of(a.All[""]))
	}
	b.WriteString("\n")
	for _, h := range a.hypotheses() {
		fmt.Fprintf(&b, "| %s |", h.Name)
		for _, c := range columns {
			fmt.Fprintf(&b, " %s |", change(c.of(a.All[""]), c.of(a.Without[h.Name][""])))
		}
		b.WriteString("\n")
	}
	return b.String()
}

// ByWorkload is a table of Markdown, one row for each hypothesis and each workload of which a
// rate changes much without it.
func (a *Ablation) ByWorkload() string {
	var b strings.Builder
	b.WriteString("| without | workload |")
	for _, c := range columns {
		fmt.Fprintf(&b, " %s |", c.name)
	}
	b.WriteString("\n|---|---|" + strings.Repeat("---:|", len(columns)) + "\n")
	for _, h := range a.hypotheses() {
		name := h.Name
		for _, workload := range a.Workloads {
			cells, changes := "", false
			for _, c := range columns {
				with, without := c.of(a.All[workload]), c.of(a.Without[h.Name][workload])
				changes = changes || math.Abs(pointsOf(with, without)) >= worthARow
				cells += fmt.Sprintf(" %s |", change(with, without))
			}
			if changes {
				fmt.Fprintf(&b, "| %s | %s |%s\n", name, workload, cells)
				name = ""
			}
		}
	}
	return b.String()
}

// hypothesesList is the part of the page that does not depend on recordings.
func hypothesesList() string {
	var b strings.Builder
	fmt.Fprintf(&b, `# What the reconstruction assumes, and what that is worth

For those who change package reconstruct. Generated by %[1]sscripts/lab truth ablate%[1]s, as described [below](#what-each-is-worth); a test
keeps list and examples up to date.

Where exactly one rule of the scheduler explains a start, nothing is assumed. Elsewhere something happened between the events of
the trace. Each hypothesis about that has a name, and its code in one file of [analyze/reconstruct](../../analyze/reconstruct).

| hypothesis | what may have happened | in the runtime | file |
|---|---|---|---|
`, "`")
	for _, h := range reconstruct.Hypotheses() {
		fmt.Fprintf(&b, "| [%s](#%s) | %s | %s | [%s](../../analyze/reconstruct/%s) |\n", h.Name, h.Name, h.Claim, h.Cites, h.File, h.File)
	}
	return b.String()
}

const examplesHead = `
## Examples

Of each hypothesis, the first start of a recording of which it found the truth: its source, if any recording has such a start,
or else the length of a queue. The runtime itself wrote down what happened in these [recordings](../truth/testdata). Shown is what concerns
the goroutine, its P, and the P that it was stolen from; times are in µs from the start. %[1]sll%[1]s and %[1]sgl%[1]s are the lengths of the P's own
queue and of the global one after a start; (wrong) contradicts the runtime. The last column is the result without the
hypothesis, where it differs. Where forks decided, the choices follow, with the evidence for each in nats.
`

// examplesPart is the part of the page with the examples.
func examplesPart(list []*Example) string {
	var b strings.Builder
	fmt.Fprintf(&b, examplesHead, "`")
	for i, h := range reconstruct.Hypotheses() {
		fmt.Fprintf(&b, "\n### %s\n\n", h.Name)
		if list[i] == nil {
			b.WriteString("No recording there has one.\n")
			continue
		}
		b.WriteString(list[i].String())
	}
	return b.String()
}

// HypothesesPage is lab/docs/hypotheses.md: with the examples of a folder of recordings, and what
// those of another one, of which from says what they are, tell of the worth of each hypothesis.
func HypothesesPage(examples []*Example, a *Ablation, from string) string {
	return hypothesesList() + examplesPart(examples) + fmt.Sprintf(`
## What each is worth

%[2]d recordings of which the runtime itself wrote down what happened, %[3]s, reconstructed without one hypothesis at a time.
The first row has the rates with all hypotheses, the others the change of each rate in percentage points, from 0.02 on. On other recordings:

    scripts/accuracy --dir DIR                                        # record, and print the rates
    scripts/accuracy --dir DIR --without deferred-enqueue,enqueue-order
    scripts/lab truth ablate --dir DIR --from 'recorded with seed 78' --out lab/docs/hypotheses.md

%[4]s
They work together: without one, another may find the same. With %[1]s--only NAMES%[1]s the command prints the same by workload.
[lab/truth/tried.md](../truth/tried.md) has what was tried and did not help.
`, "`", a.Recordings, from, a.Total())
}
