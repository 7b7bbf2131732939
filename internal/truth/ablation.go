package truth

import (
	"context"
	_ "embed"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"

	"github.com/gmpscope/gmpscope/analyze/reconstruct"
)

// ScoreRecording reconstructs the trace of a recording, without some hypotheses, and
// scores it. stem is the path of the recording without its endings: those of the compact
// form, or of the full one.
func ScoreRecording(ctx context.Context, stem string, without reconstruct.Set) (*Score, error) {
	trace := stem + ".trace.zst"
	real, err := readCompactFile(stem + ".truth.zst")
	if errors.Is(err, fs.ErrNotExist) {
		trace = stem + ".trace"
		real, err = ReadLinesFile(stem + ".truth.jsonl")
	}
	if err != nil {
		return nil, err
	}
	said, decisions, err := Reconstruct(ctx, trace, without)
	if err != nil {
		return nil, err
	}
	s, _ := Compare(real, said)
	s.Waiting = CompareWaiting(real, decisions)
	return s, nil
}

func readCompactFile(name string) ([]Line, error) {
	f, err := os.Open(name)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	return ReadCompact(f)
}

// Ablation is what the hypotheses of the reconstruction are worth.
type Ablation struct {
	Recordings int
	All        *Score            // with all of them
	Without    []*Score          // without each, in the order of reconstruct.Hypotheses
	by         []map[string]loss // likewise, by workload
}

// loss is right answers that a workload loses, of so many.
type loss struct{ with, without Rate }

// points is by how many percentage points the rate falls.
func (l loss) points() float64 {
	return 100 * (share(l.with) - share(l.without))
}

func share(r Rate) float64 {
	if r.Of == 0 {
		return 1
	}
	return float64(r.Right) / float64(r.Of)
}

// recordingName is the name of a recording: workload, release and GOMAXPROCS.
var recordingName = regexp.MustCompile(`^(.+)-go[0-9.]+-p[0-9]+`)

// Ablate scores the recordings of a folder, with all hypotheses and without each.
func Ablate(ctx context.Context, dir string) (*Ablation, error) {
	var files []string
	for _, ending := range []string{".truth.zst", ".truth.jsonl"} {
		list, err := filepath.Glob(filepath.Join(dir, "*"+ending))
		if err != nil {
			return nil, err
		}
		for _, file := range list {
			files = append(files, strings.TrimSuffix(file, ending))
		}
	}
	if len(files) == 0 {
		return nil, fmt.Errorf("there are no recordings in %s", dir)
	}
	list := reconstruct.Hypotheses()
	a := &Ablation{Recordings: len(files), All: NewScore()}
	for range list {
		a.Without = append(a.Without, NewScore())
		a.by = append(a.by, map[string]loss{})
	}
	for _, stem := range files {
		parts := recordingName.FindStringSubmatch(filepath.Base(stem))
		if parts == nil {
			return nil, fmt.Errorf("%s: its name does not tell its workload", stem)
		}
		all, err := ScoreRecording(ctx, stem, 0)
		if err != nil {
			return nil, fmt.Errorf("scoring %s: %w", stem, err)
		}
		a.All.Add(all)
		for i, h := range list {
			less, err := reconstruct.Without(h.Name)
			if err != nil {
				return nil, err
			}
			s, err := ScoreRecording(ctx, stem, less)
			if err != nil {
				return nil, fmt.Errorf("scoring %s without %s: %w", stem, h.Name, err)
			}
			a.Without[i].Add(s)
			l := a.by[i][parts[1]]
			l.with.add(all.Waiting.Cause)
			l.without.add(s.Waiting.Cause)
			a.by[i][parts[1]] = l
		}
	}
	return a, nil
}

// AblationHead is the head of the table of an [Ablation].
const AblationHead = `| without | exact source | steal recall | steal precision | ll | gl | true cause of waiting | most of that in |
|---|---:|---:|---:|---:|---:|---:|---|
`

// Table is the ablation as a table of Markdown, one row for each hypothesis: by how many
// percentage points rates change without it.
func (a *Ablation) Table() string {
	var b strings.Builder
	b.WriteString(AblationHead)
	all := a.All
	fmt.Fprintf(&b, "| nothing, in %% | %v | %v | %v | %v | %v | %v | |\n", all.Exact, all.StealRecall, all.StealPrecision, all.LL, all.GL, all.Waiting.Cause)
	for i, h := range reconstruct.Hypotheses() {
		s := a.Without[i]
		fmt.Fprintf(&b, "| %s | %s | %s | %s | %s | %s | %s | %s |\n", h.Name, change(all.Exact, s.Exact), change(all.StealRecall, s.StealRecall), change(all.StealPrecision, s.StealPrecision),
			change(all.LL, s.LL), change(all.GL, s.GL), change(all.Waiting.Cause, s.Waiting.Cause), a.most(i))
	}
	return b.String()
}

// change is by how many points a rate changes; empty for less than a hundredth.
func change(with, without Rate) string {
	p := -loss{with, without}.points()
	if p > -0.005 && p < 0.005 {
		return ""
	}
	return fmt.Sprintf("%+.2f", p)
}

// most names the workload that loses most of the true causes of its waiting.
func (a *Ablation) most(i int) string {
	var names []string
	for name := range a.by[i] {
		names = append(names, name)
	}
	slices.Sort(names)
	best := ""
	for _, name := range names {
		if p := a.by[i][name].points(); p >= 0.005 && (best == "" || p > a.by[i][best].points()) {
			best = name
		}
	}
	if best == "" {
		return ""
	}
	return fmt.Sprintf("%s (%.2f)", best, -a.by[i][best].points())
}

// hypothesesList is the part of the page that does not depend on recordings.
func hypothesesList() string {
	var b strings.Builder
	fmt.Fprintf(&b, `# What the reconstruction assumes, and what that is worth

Generated by %[1]sgo run ./internal/cmd/truth ablate --dir internal/truth/testdata/floor --out docs/hypotheses.md%[1]s; a test
keeps its list up to date.

Where one rule of the scheduler explains a start, nothing has to be assumed. Elsewhere something happened between the events of
the trace, and the reconstruction looks for it: each such hypothesis has a name, says what of the runtime does it, and lives in
one file of [analyze/reconstruct](../analyze/reconstruct).

| hypothesis | what may have happened | in the runtime | file |
|---|---|---|---|
`, "`")
	for _, h := range reconstruct.Hypotheses() {
		fmt.Fprintf(&b, "| %s | %s | %s | [%s](../analyze/reconstruct/%s) |\n", h.Name, h.Claim, h.Cites, h.File, h.File)
	}
	return b.String()
}

// tried is the end of the page.
//
//go:embed tried.md
var tried string

// Page is docs/hypotheses.md.
func (a *Ablation) Page() string {
	return hypothesesList() + fmt.Sprintf(`
## What each is worth

The %d recordings of [internal/truth/testdata/floor](../internal/truth/testdata/floor), of which the runtime itself tells what
happened, reconstructed without one hypothesis at a time. The first row has the rates with all of them, the others say by how many
percentage points a rate changes; nothing is written for less than 0.005. %[2]sll%[2]s and %[2]sgl%[2]s are the lengths of the P's own
queue and of the global one at starts. The last column names the workload whose waiting loses most.

%[3]s
They work together: without one, another may find the same. On other recordings:

    scripts/accuracy --dir DIR --without deferred-enqueue,enqueue-order

%[4]s`, a.Recordings, "`", a.Table(), tried)
}
