package cases

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/gmpscope/gmpscope/internal/quantity"
	"github.com/gmpscope/gmpscope/lab/runner"
)

// Result is the verdicts of all recordings, in their order.
type Result []*Verdict

// JudgeAll judges recordings.
func JudgeAll(ctx context.Context, recordings []*Recording, from runner.Source) (Result, error) {
	var out Result
	var problems []error
	for _, r := range recordings {
		x, err := from(ctx, &r.Take)
		if err != nil {
			problems = append(problems, err)
			continue
		}
		v, err := r.Analyze(ctx, x)
		if err != nil {
			problems = append(problems, err)
			continue
		}
		out = append(out, v)
	}
	return out, errors.Join(problems...)
}

// Score counts recordings for one detector, or for all.
type Score struct {
	Wanted int // that want it
	Found  int // of them, in which it found enough
	False  int // in which it found something that is false
}

func (s *Score) add(t Score) {
	s.Wanted += t.Wanted
	s.Found += t.Found
	s.False += t.False
}

// Precision is the share of the true among its findings, and Recall the share of
// the wanted that it found; not ok where there are none.
func (s Score) Precision() (share float64, ok bool) { return ratio(s.Found, s.Found+s.False) }

// Recall see [Score.Precision].
func (s Score) Recall() (share float64, ok bool) { return ratio(s.Found, s.Wanted) }

func ratio(n, of int) (float64, bool) {
	if of == 0 {
		return 0, false
	}
	return float64(n) / float64(of), true
}

// Score counts for one detector.
func (r Result) Score(id string) Score {
	var s Score
	for _, v := range r {
		if _, ok := v.Recording.Want[id]; ok {
			s.Wanted++
			if !slices.Contains(v.Missed, id) {
				s.Found++
			}
		}
		if slices.Contains(v.False, id) {
			s.False++
		}
	}
	return s
}

// Clean counts the recordings in which nothing is wanted, and those of them in
// which something false was found.
func (r Result) Clean() (n, alarmed int) {
	for _, v := range r {
		if len(v.Recording.Want) == 0 {
			n++
			if len(v.False) > 0 {
				alarmed++
			}
		}
	}
	return n, alarmed
}

// Page is the page about the result, in Markdown.
func (r Result) Page() string {
	var b strings.Builder
	b.WriteString(`# Do the detectors find what is there?

For those who change a detector. Each has programs that it must find guilty, and programs that come near and are innocent;
besides there are programs in which all is well. Here is what the detectors find in recordings of them.

Made by ` + "`go -C lab test ./cases -update`" + ` from the traces in testdata/traces/cases; a test fails if it is out of date.
` + "`scripts/lab record cases`" + ` records them again, ` + "`scripts/lab judge cases -live 1`" + ` judges fresh recordings, which may come out
otherwise: of several recordings the one disturbed least is kept, of those judged right if there are any. At a load average of 17 on two
CPUs about half of the fresh recordings were judged wrong, since a goroutine whose thread lacks a CPU seems to run. The same people wrote the
programs and set the thresholds: of other programs these figures say less.

`)
	r.detectors(&b)
	r.recordings(&b)
	return b.String()
}

// detectors writes the table of the detectors.
func (r Result) detectors(b *strings.Builder) {
	b.WriteString(`## By detector

In recordings. Precision: the share of wanted findings among wanted and false ones. Recall: the share of wanted findings that
are found, no milder than wanted. A note is false only in the detector's own near miss. Detectors with 100 % of both have no row.

| detector | wanted | found | false | precision | recall |
|---|---:|---:|---:|---:|---:|
`)
	var sum Score
	for _, id := range rooms() {
		if id == All {
			continue
		}
		s := r.Score(id)
		sum.add(s)
		if s.False > 0 || s.Found < s.Wanted {
			row(b, id, s)
		}
	}
	row(b, "**all**", sum)
	n, alarmed := r.Clean()
	fmt.Fprintf(b, "\nOf %s in which nothing is wanted, %d gave a false alarm.\n", quantity.Plural(int64(n), "recording", "recordings"), alarmed)
}

func row(b *strings.Builder, id string, s Score) {
	fmt.Fprintf(b, "| %s | %d | %d | %d | %s | %s |\n", id, s.Wanted, s.Found, s.False, percent(s.Precision()), percent(s.Recall()))
}

func percent(share float64, ok bool) string {
	if !ok {
		return "–"
	}
	return quantity.Percent(share)
}

// recordings writes what was found in each recording, by program.
func (r Result) recordings(b *strings.Builder) {
	b.WriteString(`
## By recording

For each recording Go version and GOMAXPROCS, and what was found: **bold** if wanted, in (brackets) if allowed, with ! if false. The
comment of a program describes it, and what is wanted at least.
`)
	var silent []string
	last := ""
	for _, v := range r {
		x := v.Recording
		link := fmt.Sprintf("[%s/%s](../../%s/main.go)", x.Case.Room, x.Case.Name, x.Case.Dir())
		if len(x.Want) == 0 && len(v.Found) == 0 {
			if !slices.Contains(silent, link) {
				silent = append(silent, link)
			}
			continue
		}
		var found []string
		for _, f := range v.Found {
			text := f.ID + ":" + string(f.Severity)
			_, wanted := x.Want[f.ID]
			switch {
			case wanted:
				text = "**" + text + "**"
			case slices.Contains(v.False, f.ID):
				text += "!"
			case slices.Contains(x.May, f.ID):
				text = "(" + text + ")"
			}
			found = append(found, text)
		}
		if !v.Right() {
			found = append(found, v.Wrong())
		}
		between := "; "
		if link != last {
			between = "\n* " + link + ": "
		}
		last = link
		fmt.Fprintf(b, "%s%s/%d %s", between, strings.TrimPrefix(x.Go, "go"), x.GOMAXPROCS, strings.Join(found, ", "))
	}
	fmt.Fprintf(b, "\n\nNothing is wanted, and nothing found, in recordings of %s.\n", strings.Join(silent, ", "))
}
