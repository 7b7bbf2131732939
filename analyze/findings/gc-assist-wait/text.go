package gcassistwait

import (
	"fmt"
	"slices"
	"strings"

	"github.com/gmpscope/gmpscope/analyze/findings"
	"github.com/gmpscope/gmpscope/internal/quantity"
	"github.com/gmpscope/gmpscope/internal/std"
)

// phrase writes title, evidence and advice.
func (w *watcher) phrase(f *findings.Facts, x *findings.Finding, n *evidence) {
	total, long := w.assists.Total, w.blocks.Total
	site := allocator(x.Actors)
	who := "Who allocates"
	if function, _, _ := strings.Cut(site, " "); function != "" {
		who = function + " allocates, and"
		if user := user(x.Actors, site); user != "" {
			who = function + ", called by " + user + ", allocates, and"
		}
	}
	x.Headline = fmt.Sprintf("%s helps the garbage collector: %s a second of running", who, perSecond(n.share))
	x.Title = fmt.Sprintf("Goroutines had to help the garbage collector, or wait for it, before they might allocate: it cost %s, %s for each second that the program ran",
		quantity.Duration(n.cost), perSecond(n.share))
	x.Evidence = []findings.Evidence{
		{What: "lost in assists, for each second that the program ran", Value: perSecond(n.share), Limit: perSecond(w.t.Share), Ns: n.cost},
		{What: "of it, marking", Value: quantity.Duration(total.Ns) + " in " + quantity.Plural(total.N, "assist", "assists"), Ns: total.Ns},
		{What: "of it, blocked while Ps were free of the program", Value: quantity.Duration(w.lost), Ns: w.lost},
		{What: "blocked, all goroutines summed", Value: quantity.Duration(w.blocked) + " in " + quantity.Plural(w.nblock, "block", "blocks"), Ns: w.blocked},
		{What: "long blocks", Value: quantity.Count(long.N), Limit: quantity.Duration(w.t.BlockNs) + " each"},
	}
	if long.N > 0 {
		x.Evidence = append(x.Evidence,
			findings.Evidence{What: "the longest block", Value: quantity.Duration(long.Worst), Limit: quantity.Duration(w.t.BlockNs), Ns: long.Worst},
			findings.Evidence{What: "long blocks that ended only with the cycle", Value: quantity.Count(w.atEnd)})
	}
	where := "where the stacks show it"
	if site != "" {
		where = "in " + site
	}
	x.Advice = []string{
		"Allocate less " + where + ", above all in bursts: reuse buffers, size slices and maps beforehand, keep temporary values on the stack. Who allocates faster than the collector marks has to mark for it.",
		"Let cycles be rarer: raise GOGC, or set GOMEMLIMIT with GOGC off, if there is memory. What is alive, and full of pointers, is what has to be marked: keep less of it.",
	}
	if more := f.MoreRoom(); more != "" {
		x.Advice[1] = more
	}
	if 2*w.atEnd > long.N {
		x.Advice = append(x.Advice, "Most long blocks lasted until the cycle was over: there was no mark work left to share. A long linked list is marked one element after the other, by one thread; several short ones, or a slice, can be shared.")
	}
}

// perSecond writes a ratio of two times, which may be more than 1, as that of a
// second.
func perSecond(ratio float64) string { return quantity.Duration(int64(ratio * 1e9)) }

// user is the program's own function that called the library's that allocates at a frame, ""
// if that one is the program's.
func user(actors []findings.Actor, site string) string {
	for _, a := range actors {
		if i := slices.Index(a.Stack, site); i >= 0 {
			return (&findings.Actor{Stack: a.Stack[i:], Tested: a.Tested}).AtInnermost().CalledBy()
		}
	}
	return ""
}

// allocator is the innermost frame that is not of the standard library and allocated, in the first
// stack that shows one; else the library's.
func allocator(actors []findings.Actor) string {
	library := ""
	for _, a := range actors {
		for _, frame := range a.Stack {
			function, _, _ := strings.Cut(frame, " ")
			switch pkg, _ := std.Split(function); {
			case !std.Has(pkg):
				return frame
			case library == "" && !strings.HasPrefix(frame, "runtime.") && !strings.HasPrefix(frame, "internal/runtime/"):
				library = frame
			}
		}
	}
	return library
}
