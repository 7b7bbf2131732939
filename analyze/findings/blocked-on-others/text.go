package blockedonothers

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/gmpscope/gmpscope/analyze/findings"
	"github.com/gmpscope/gmpscope/internal/quantity"
	"github.com/gmpscope/gmpscope/reference"
)

// headlineLen is how many characters a headline has.
const headlineLen = 90

// waited reports what one waited for that was blocked for a reason.
var waited = map[reference.Reason]string{
	reference.ReasonSleep: "asleep", reference.ReasonSelect: "in a select", reference.ReasonNetwork: "for the network",
}

// phrase writes title, evidence and advice.
func (w *watcher) phrase(f *findings.Facts, x *findings.Finding, g *group, all []*group) {
	total := quantity.Duration(g.ns)
	who := findings.Short(f.Name(g.class))
	times := quantity.Plural(g.n, "time", "times")
	class := w.view.ClassStat(g.class)
	share := float64(g.ns) / float64(max(1, class.RunNs+class.BlockedNs))
	x.Measured("waits in "+g.in, findings.Count(g.n))
	x.Measured("their sum", findings.Time(g.ns), findings.Time(w.t.MinNs))
	x.Measured("their mean", findings.Time(g.ns/g.n), findings.Time(w.t.MeanNs))
	x.Measured("goroutines that wait there, on average", findings.Number(float64(g.ns)/float64(max(1, f.RecordedNs()))), findings.Number(w.t.Line))
	x.Measured("of the time that these goroutines ran or were blocked", findings.Share(share))
	x.Measured("the longest", findings.Time(g.longest.waits.Worst))
	if g.top.by < 0 {
		x.Headline = fmt.Sprintf("%s waits for the end of garbage collections: %s in all", g.in, total)
		x.Title = fmt.Sprintf("Goroutines of %s were blocked %s in %s until the garbage collector had ended, %s in all", who, times, g.in, total)
		x.Advice = []string{"Let " + g.in + " not ask for a collection (runtime.GC, debug.FreeOSMemory, debug.SetGCPercent, a change of the memory limit) where somebody waits for it."}
		return
	}
	cause := x.Actors[1].AtInnermost()
	by := cause.Short()
	reason, part := g.mostly()
	handsOver := g.longest.reason == reference.ReasonChanSend // work; else it may be what comes over the network
	busy := g.ran / max(1, float64(g.ns))
	queued := g.runnable / max(1, float64(g.ns))
	x.Evidence = append(x.Evidence,
		findings.Measured("ended by goroutines of "+findings.Short(f.Name(g.top.by)), findings.PartOf(g.topNs, g.ns)),
		findings.Measured("what those that ended them did in their last round: ran", findings.Share(busy)),
	)
	if reason != reference.ReasonNone {
		x.Measured("were blocked ("+reason.String()+")", findings.Share(part))
	}
	chain, last, where := w.chain(f, all, g)
	far := slices.DeleteFunc(chain, func(name string) bool { return name == by || name == g.in })
	meanwhile, outside, elsewhere := "", waited[reason], ""
	if reason != reference.ReasonSleep {
		outside = cmp.Or(ended[last], outside)
	}
	switch {
	case busy >= 0.5:
		meanwhile = by + " had run for most of its last round"
		x.Advice = []string{"Make what " + by + " does shorter, or let several do it at once: " + g.in + " waits for it."}
	case busy+queued >= 0.5:
		meanwhile = by + " had run, or waited for a P, for most of its last round"
		x.Advice = []string{"Make what " + by + " does shorter, or let less compute at once: " + g.in + " waits for it."}
	case len(far) > 0:
		end := far[len(far)-1]
		meanwhile = by + " had itself waited for " + strings.Join(far, ", and that for ")
		x.Advice = []string{"Begin with " + end + ", for which " + by + " waits in turn: let it begin sooner, or take less long, or let " + by + " not wait for it."}
		if last == byAnswerer {
			x.Basis = findings.Inferred
			meanwhile += " over the network, as it seems, which " + where
			x.Advice[0] = "Begin with " + end + ", for whose answers " + g.in + " waits: let it take less long, begin sooner, or answer several at once."
		}
		if w := ended[last]; w != "" {
			meanwhile += ", which waited " + w
		}
	case part >= 0.5 && outside != "":
		in := ""
		if where != "" && where != by && where != g.in && len(chain) == 0 {
			in, elsewhere = " in "+where, where
		}
		meanwhile = by + " had itself waited before" + in + ", mostly " + outside
		x.Advice = []string{by + " itself waits" + in + " while " + g.in + " does: let it begin sooner (a shorter timer, a smaller batch), if it is not slow on purpose, as a limit of a rate is."}
		if reason == reference.ReasonNetwork {
			x.Advice[0] = by + " waits for an answer from outside" + in + " meanwhile: if that is not simply as slow as it is, ask for less, or have several requests under way at once."
			if in != "" && handsOver {
				x.Advice[0] = "Have goroutines of their own do what " + elsewhere + " does, several at once, so that " + by + " goes on meanwhile: it waits there for an answer from outside. Or ask for less."
			}
		}
	default:
		x.Advice = []string{"See what " + by + " waits for before it lets " + g.in + " go on, and whether all have to wait for it."}
	}
	if slices.ContainsFunc(x.Actors[0].Stack, findings.IsOnce) {
		x.Headline = fmt.Sprintf("%s waits for the first caller of a sync.Once: %s, %s of its time", g.in, total, quantity.Percent(share))
		x.Title = fmt.Sprintf("Goroutines of %s were blocked %s in %s until the first caller of a sync.Once was done, %s in all", who, times, g.in, total)
		x.Advice = []string{"Do what the sync.Once in " + g.in + " is for before it is needed, at the start or in the background, or make it shorter: all callers wait until the first is done."}
		return
	}
	of := fmt.Sprintf(", %s in all, %s of the time that they ran or were blocked", total, quantity.Percent(share))
	if meanwhile != "" {
		meanwhile = "; " + meanwhile
	}
	if by == g.in {
		x.Headline = fmt.Sprintf("Goroutines wait for one another in %s: %s in all", g.in, total)
		x.Title = fmt.Sprintf("Goroutines of %s were blocked %s in %s until another went on there", who, times, g.in) + of + meanwhile
		x.Advice = []string{"See whether those that wait in " + g.in + " have to: what is done in order, or together, goes at the pace of the slowest."}
		return
	}
	if len(far) == 0 && reason == reference.ReasonNetwork && part >= 0.5 && ofLibrary(by) {
		x.Headline = fmt.Sprintf("%s waits for the network (%s): %s in all", g.in, by, total)
		x.Title = fmt.Sprintf("Goroutines of %s were blocked %s in %s until something came over the network (%s)", who, times, g.in, by) + of
		x.Advice = []string{"See whether the other end can answer sooner. If not, have " + g.in + " ask for less, or for several things at once, or keep the answers."}
		return
	}
	if last == byAnswerer && len(far) == 1 && ofLibrary(by) {
		x.Headline = fmt.Sprintf("%s waits for %s over the network: %s in all", g.in, far[0], total)
		x.Title = fmt.Sprintf("Goroutines of %s were blocked %s in %s until an answer came over the network", who, times, g.in) + of + "; it seems to come from " + far[0] + ", which " + where + " before"
		return
	}
	some := ""
	if float64(g.topNs) < 0.9*float64(g.ns) {
		some = " and others"
	}
	x.Headline = fmt.Sprintf("%s waits for %s%s: %s in all", g.in, by, some, total)
	if len(far) > 0 && busy < 0.5 {
		room, inTheEnd := headlineLen, ""
		if last == byAnswerer {
			room += 20
		}
		if len(far) > 1 {
			inTheEnd = " in the end"
		}
		if long := fmt.Sprintf("%s waits for %s, and that%s for %s: %s in all", g.in, by, inTheEnd, far[len(far)-1], total); utf8.RuneCountInString(long) <= room {
			x.Headline = long
		}
	}
	if elsewhere != "" {
		whom := by
		if strings.HasPrefix(by, g.in+".func") {
			whom = "what it starts"
		}
		if reason == reference.ReasonNetwork && handsOver {
			x.Headline = fmt.Sprintf("%s waits for the network, and %s for it: %s in all", elsewhere, g.in, total)
		} else if long := fmt.Sprintf("%s waits for %s, waiting in %s: %s", g.in, whom, elsewhere, total); utf8.RuneCountInString(long) <= headlineLen+20 {
			x.Headline = long
		}
	}
	until := by
	if user := cause.CalledBy(); user != "" {
		until += " (called by " + user + ")"
	}
	if g.topNs < g.ns {
		until = by + " (for " + quantity.Part(g.topNs, g.ns) + " of that time) or others"
	}
	x.Title = fmt.Sprintf("Goroutines of %s were blocked %s in %s until %s went on", who, times, g.in, until) + of + meanwhile
}

// ended reports what one waited for in whose place nobody of the program ended that.
var ended = map[int32]string{byTimer: "for a timer", byPeer: "for the network"}
