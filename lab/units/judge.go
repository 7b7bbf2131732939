package units

import (
	"bytes"
	"cmp"
	"context"
	"fmt"
	"io"
	"math"
	"slices"
	"strings"

	"github.com/gmpscope/gmpscope/analyze"
	"github.com/gmpscope/gmpscope/analyze/input"
	"github.com/gmpscope/gmpscope/analyze/work"
	"github.com/gmpscope/gmpscope/lab/runner"
	"github.com/gmpscope/gmpscope/report"
)

// Judgement is what gmpscope finds in a recording, held against the truth.
type Judgement struct {
	Score
	Unknown float64 // share of the units' time of which it is not known what it was
	// Place is that of the kind with the planted cause among those whose slow units the text
	// explains, from 1; 0 if it is none of them.
	Place int
	Cause Cause
}

// Cause is what slow units do longer than typical ones, most of all.
type Cause struct {
	What, Text      string
	Right, Function bool // it is what was planted, and names the function
}

// judge analyses a recording of the program.
func (l *Label) judge(ctx context.Context, t *runner.Take, from runner.Source) (*Judgement, error) {
	x, err := from(ctx, t)
	if err != nil {
		return nil, err
	}
	truth, err := read(x.Units)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", t.Name, err)
	}
	found, kinds, err := analyzed(ctx, x)
	if err != nil {
		return nil, err
	}
	found = onClasses(truth, found)
	pairs := match(truth, found)
	j := &Judgement{Score: score(truth, found, pairs), Unknown: unknown(truth, kinds)}
	if k := l.kind(truth, found, pairs, kinds); k != nil {
		j.Cause = l.cause(k)
		entries := slices.DeleteFunc(report.WorkKinds(&work.Units{Kinds: kinds}), func(k *work.UnitKind) bool { return !k.Entry })
		j.Place = 1 + slices.Index(entries[:min(len(entries), explained)], k)
	}
	return j, nil
}

// explained is of how many kinds, those that begin from outside, the report explains slow units.
const explained = 3

// analyzed returns the units of a recording, and their kinds.
func analyzed(ctx context.Context, x *runner.Recording) (found []work.Unit, kinds []work.UnitKind, err error) {
	src, err := input.New(bytes.NewReader(x.Trace), x.Name)
	if err != nil {
		return nil, nil, err
	}
	defer src.Close()
	result, err := analyze.Run(ctx, src, analyze.Options{NoTimeline: true, OnUnit: func(u work.Unit) { found = append(found, u) }})
	if err != nil {
		return nil, nil, err
	}
	return found, result.Work.Kinds, nil
}

// unknown returns the share of the time of units of which it is not known what it was.
func unknown(truth []*Unit, kinds []work.UnitKind) float64 {
	classes, lost, all := map[string]bool{}, 0.0, 0.0
	for _, u := range truth {
		classes[u.Class] = true
	}
	for i := range kinds {
		if !classes[kinds[i].Class] {
			continue
		}
		for _, p := range kinds[i].Path {
			all += float64(p.Ns)
			if p.What == "unknown" {
				lost += float64(p.Ns)
			}
		}
	}
	return lost / all
}

// kind returns the kind that holds most of the time of those units of the label's kind that were
// found, if there is one among those that begin from outside, which are explained; nil if none was
// found.
func (l *Label) kind(truth []*Unit, found []work.Unit, pairs []pair, kinds []work.UnitKind) (most *work.UnitKind) {
	var longest int64
	for i := range kinds {
		k, sum := &kinds[i], int64(0)
		for _, p := range pairs {
			x := &found[p.found]
			if truth[p.truth].Kind == l.Kind && x.Kind == k.Name && x.Class == k.Class && x.How.String() == k.How {
				sum += x.To - x.From
			}
		}
		if sum > 0 && (most == nil || k.Entry && !most.Entry || k.Entry == most.Entry && sum > longest) {
			most, longest = k, sum
		}
	}
	return most
}

// much is how many times a typical unit a slow one takes, at least, for the text to explain the
// difference. It explains all of their time else.
const much = 1.5

// cause returns what slow units of a kind do longer than typical ones, most of all: first by what
// their own goroutine waits for, then by who does what meanwhile.
func (l *Label) cause(k *work.UnitKind) Cause {
	type bucket struct {
		more, most int64
		what, text string
	}
	var typical, slow float64
	for i := range k.Path {
		typical, slow = typical+float64(k.Path[i].TypicalNs), slow+float64(k.Path[i].SlowNs)
	}
	buckets, first := map[string]*bucket{}, &bucket{}
	for i := range k.Path {
		p := &k.Path[i]
		key, what := p.What+" "+p.Where, p.What
		if p.Via != nil {
			key, what = p.Via.What+" "+p.Via.Site, p.Via.What
		}
		b := buckets[key]
		if b == nil {
			b = &bucket{what: what}
			buckets[key] = b
		}
		more := p.SlowNs - p.TypicalNs
		if slow < much*typical {
			more = p.Ns
		}
		b.more += more
		if more > b.most {
			b.most, b.text = more, fmt.Sprintf("%s, while %s is %s", key, p.Who, strings.TrimSpace(p.What+" "+p.Where+" "+p.Cause))
		}
	}
	for _, b := range buckets {
		if c := cmp.Or(cmp.Compare(b.more, first.more), cmp.Compare(first.text, b.text)); c > 0 {
			first = b
		}
	}
	return Cause{first.what, first.text, first.what == l.What, strings.Contains(first.text, l.Function)}
}

// Judge prints how well the units of programs are found, a line a program, and then which causes
// are not what was planted.
func Judge(ctx context.Context, w io.Writer, labels []*Label, goVersion string, from runner.Source) error {
	fmt.Fprintf(w, "%-18s %6s %6s %7s %7s %7s %7s %7s %7s %7s %7s  %-8s %6s %6s  %s\n",
		"program", "units", "found", "recall", "visible", "of them", "prec.", "p50", "p99", "unknown", "place", "cause", "marked", "prec.", "cause")
	var wrong bytes.Buffer
	for _, l := range labels {
		plain, twin := l.Takes(goVersion)
		j, err := l.judge(ctx, plain, from)
		if err != nil {
			return err
		}
		marked, err := l.judge(ctx, twin, from)
		if err != nil {
			return err
		}
		fmt.Fprintf(w, "%-18s %6d %6d %7s %7s %7s %7s %7s %7s %7s %7d  %-8s %6s %6s  %s\n", l.Name, j.Units, j.Found, decimals(j.Recall), decimals(j.Visible),
			decimals(j.VisibleRecall), decimals(j.Precision), percent(j.P50), percent(j.P99), percent(j.Unknown), j.Place, j.Cause.String(), decimals(marked.Recall), decimals(marked.Precision), marked.Cause.String())
		if j.Cause.String() != "right" {
			fmt.Fprintf(&wrong, "%s: first is: %s\n    but the cause is: %s\n", l.Name, cmp.Or(j.Cause.Text, "nothing: no such unit was found"), l.First)
		}
	}
	_, err := wrong.WriteTo(w)
	return err
}

func (c Cause) String() string {
	switch {
	case c.Right && c.Function:
		return "right"
	case c.Right:
		return "function"
	}
	return "WRONG"
}

func decimals(x float64) string {
	if math.IsNaN(x) {
		return "-"
	}
	return fmt.Sprintf("%.3f", x)
}

func percent(x float64) string {
	if math.IsNaN(x) {
		return "-"
	}
	return fmt.Sprintf("%.1f%%", 100*x)
}
