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

Each detector of gmpscope has programs that it must find guilty, and programs that come near and are innocent; besides there
are programs in which all is well. This page holds what the detectors find in recorded traces of them against what they must.

Made by ` + "`go -C lab test ./cases -update`" + ` from the traces in testdata/traces/cases; a test fails if it is out of date.
` + "`scripts/lab record cases`" + ` records them again, and ` + "`scripts/lab judge cases -live 1`" + ` judges fresh recordings, which may come out otherwise: of
several recordings the one is kept that was disturbed least, of those that are judged right if there are any. On a machine
that others keep busy, threads lack CPUs: a goroutine that stands still on one seems to run, and about half of the fresh
recordings were judged wrong at a load average of 17 on two CPUs. The programs were written, and thresholds set, by the same
people, so that the figures say that the detectors do what they are meant to do; of other programs they say less.

`)
	r.detectors(&b)
	r.recordings(&b)
	b.WriteString("\n## The programs\n\n")
	names := make(map[string][]string)
	for _, v := range r {
		if c := v.Recording.Case; !slices.Contains(names[c.Dir()], c.Name) {
			names[c.Dir()] = append(names[c.Dir()], c.Name)
		}
	}
	for _, v := range r {
		c := v.Recording.Case
		if list := names[c.Dir()]; list != nil {
			fmt.Fprintf(&b, "* [%s/%s](../../%s/main.go): %s\n", c.Room, strings.Join(list, ", "), c.Dir(), summary(c.Doc))
			delete(names, c.Dir())
		}
	}
	return b.String()
}

// detectors writes the table of the detectors.
func (r Result) detectors(b *strings.Builder) {
	b.WriteString(`## By detector

Counted in recordings. Precision: of those in which it finds something, wanted or false, the share of the wanted. Recall: of
those that want it, the share in which it finds it, no milder than wanted. A note is never false, but for that of a detector
in its own near miss. What a recording allows without wanting it does not count.

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
		row(b, id, s)
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

// recordings writes the table of the recordings.
func (r Result) recordings(b *strings.Builder) {
	b.WriteString(`
## By recording

Wanted: with the least severity. Found: **bold** if wanted, in (brackets) if allowed, with ! if false.

| program | Go | Ps | wanted | found | verdict |
|---|---|---:|---|---|---|
`)
	for _, v := range r {
		x := v.Recording
		var want, found []string
		for _, id := range x.Wanted() {
			want = append(want, id+": "+string(x.Want[id]))
		}
		for _, f := range v.Found {
			text := f.ID + ": " + string(f.Severity)
			_, wanted := x.Want[f.ID]
			switch {
			case wanted:
				text = "**" + text + "**"
			case slices.Contains(v.False, f.ID):
				text += " !"
			case slices.Contains(x.May, f.ID):
				text = "(" + text + ")"
			}
			found = append(found, text)
		}
		fmt.Fprintf(b, "| %s/%s | %s | %d | %s | %s | %s |\n", x.Case.Room, x.Case.Name, strings.TrimPrefix(x.Go, "go"), x.GOMAXPROCS,
			strings.Join(want, ", "), strings.Join(found, ", "), v.Wrong())
	}
}

// summary is the first sentence of a package comment, on one line.
func summary(doc string) string {
	doc, _, _ = strings.Cut(doc, "\n\n")
	doc = strings.Join(strings.Fields(doc), " ")
	if i := strings.Index(doc, ". "); i >= 0 {
		doc = doc[:i+1]
	}
	return doc
}
