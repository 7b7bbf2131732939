package html

import (
	"fmt"
	"html/template"
	"sort"

	"github.com/gmpscope/gmpscope/analyze"
	"github.com/gmpscope/gmpscope/analyze/waits"
	"github.com/gmpscope/gmpscope/internal/quantity"
	"github.com/gmpscope/gmpscope/report"
	"github.com/gmpscope/gmpscope/report/internal/words"
)

type waitView struct {
	G        int64
	P        int32
	Group    string
	From, To int64
	ID       string
	Head     string
	Name     Name
	Text     []string
	Steps    []step
	Ahead    []aheadRow
	Held     []heldRow
	Runs     []runRow
	Bar      template.HTML
	Legend   []legendItem
	Href     string
	Basis    string
	// MoreRuns is how many run intervals are not in Runs.
	MoreRuns int
}

type step struct{ At, Text string }

type aheadRow struct {
	Name Name
	Ns   string
	Runs string
}

func causeSegments(cs []waits.CauseTime, total int64) []segment {
	var out []segment
	for _, c := range ordered(cs) {
		out = append(out, segment{report.CauseKey(c.Cause), c.Ns, fmt.Sprintf("%s: %s, %s", words.Cause(c.Cause), quantity.Duration(c.Ns), quantity.Part(c.Ns, total))})
	}
	return out
}

// ordered returns the causes in the order in which they are always shown.
func ordered(cs []waits.CauseTime) []waits.CauseTime {
	rank := map[waits.Cause]int{}
	for i, c := range waits.Causes() {
		rank[c] = i
	}
	out := append([]waits.CauseTime(nil), cs...)
	sort.SliceStable(out, func(i, j int) bool {
		a, aok := rank[out[i].Cause]
		b, bok := rank[out[j].Cause]
		if aok != bok {
			return aok
		}
		return a < b
	})
	return out
}

func sumCauses(cs []waits.CauseTime) (n int64) {
	for _, c := range cs {
		n += c.Ns
	}
	return n
}

// longest fills in the longest waits.
func (v *view) longest(r *analyze.Result, names *words.Names) {
	longest := r.Waits.LongestWaits()
	for i, s := range longest {
		if i == maxLongWaits {
			v.MoreWaits = len(longest) - i
			break
		}
		o := newWaitView(s.WaitDetail, names)
		o.ID = fmt.Sprintf("story-%d", i+1)
		if s.Like > 0 {
			o.Text = append(o.Text, quantity.Plural(int64(s.Like), "more long wait", "more long waits")+" of this class at the same time was much the same.")
		}
		if i < openLongWaits {
			v.Longest = append(v.Longest, o)
		} else {
			v.Further = append(v.Further, o)
		}
	}
}

// classCauses are the causes of a class's waits.
func classCauses(c waits.Class) []waits.CauseTime {
	if len(c.Causes) > 0 {
		return c.Causes
	}
	return c.Waits.Causes
}
