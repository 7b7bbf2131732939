package blockedonothers

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

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
	x.MeasuredOf(findings.Say("waits in %s", g.in), findings.Count(g.n))
	x.Measured("their sum", findings.Time(g.ns), findings.Time(w.t.MinNs))
	x.Measured("their mean", findings.Time(g.ns/g.n), findings.Time(w.t.MeanNs))
	x.Measured("goroutines that wait there, on average", findings.Number(float64(g.ns)/float64(max(1, f.RecordedNs()))), findings.Number(w.t.Line))
	x.Measured("of the time that these goroutines ran or were blocked", findings.Share(share))
	x.Measured("the longest", findings.Time(g.longest.waits.Worst))
	if g.top.by < 0 {
		x.Headline = findings.Say("%s waits for the end of garbage collections: %s in all", g.in, total)
		x.Title = findings.Say("Goroutines of %s were blocked %s in %s until the garbage collector had ended, %s in all", who, times, g.in, total)
		x.Advise("Let %s not ask for a collection (runtime.GC, debug.FreeOSMemory, debug.SetGCPercent, a change of the memory limit) where somebody waits for it.", g.in)
		return
	}
	cause := x.Actors[1].AtInnermost()
	by := cause.Short()
	reason, part := g.blocked.Most() // what those that end the waits were blocked for most
	part /= float64(max(1, g.ns))
	handsOver := g.longest.reason == reference.ReasonChanSend // work; else it may be what comes over the network
	busy := g.ran / max(1, float64(g.ns))
	queued := g.runnable / max(1, float64(g.ns))
	x.MeasuredOf(findings.Say("ended by goroutines of %s", findings.Short(f.Name(g.top.by))), findings.PartOf(g.topNs, g.ns))
	x.Measured("what those that ended them did in their last round: ran", findings.Share(busy))
	if reason != reference.ReasonNone {
		x.Measured("were blocked ("+reason.String()+")", findings.Share(part))
	}
	chain, last, where, user, did := w.chain(f, all, g)
	far := slices.DeleteFunc(chain, func(name findings.Name) bool { return name == by || name == g.in })
	var meanwhile findings.Text
	var elsewhere findings.Name
	outside := waited[reason]
	if reason != reference.ReasonSleep {
		outside = cmp.Or(ended[last], outside)
	}
	calls, caller := w.calling(f, g)
	switch {
	case busy >= 0.5 && calls != "":
		if who != g.in && who != "main.main" { // who may wait for something to do, and for all others
			x.Severity = findings.Warning
		}
		elsewhere = cmp.Or(caller, calls)
		meanwhile = findings.Say("; %s had been in system calls in %s for most of its time", by, findings.Called(calls, caller))
		x.Advise("Make the system calls in %s fewer or shorter (put together what is written, sync once), or have several goroutines make them at once: others wait for that in %s.", findings.Called(calls, caller), g.in)
	case busy >= 0.5:
		meanwhile = findings.Say("; %s had run for most of its last round", by)
		x.Advise("Make what %s does shorter, or let several do it at once: %s waits for it.", by, g.in)
	case busy+queued >= 0.5:
		meanwhile = findings.Say("; %s had run, or waited for a P, for most of its last round", by)
		x.Advise("Make what %s does shorter, or let less compute at once: %s waits for it.", by, g.in)
	case len(far) > 0:
		end := far[len(far)-1]
		meanwhile = findings.Say("; %s had itself waited for %s", by, findings.List(far, ", and that for "))
		x.Advise("Begin with %s, for which %s waits in turn: let it begin sooner, or take less long, or let %s not wait for it.", end, by, by)
		if last == byAnswerer {
			x.Basis = findings.Inferred
			meanwhile = findings.Say("%s over the network, as it seems, which %s", meanwhile, did)
			x.AdviseOnly("Begin with %s, for whose answers %s waits: let it take less long, begin sooner, or answer several at once.", end, g.in)
		}
		if w := ended[last]; w != "" {
			meanwhile = findings.Say("%s, which waited %s", meanwhile, w)
			if where = cmp.Or(user, where); where != "" && where != g.in && where != end {
				meanwhile = findings.Say("%s in %s", meanwhile, where)
				x.AdviseOnly("Have goroutines of their own do what %s does, several at once, so that %s goes on meanwhile: it waits there %s. Or let that take less long.", where, end, w)
			}
		}
	case part >= 0.5 && outside != "":
		var in findings.Text
		if where != "" && where != by && where != g.in && len(chain) == 0 {
			in, elsewhere = findings.Say(" in %s", findings.Called(where, user)), cmp.Or(user, where)
		}
		meanwhile = findings.Say("; %s had itself waited before%s, mostly %s", by, in, outside)
		x.Advise("%s itself waits%s while %s waits for it: unless that is meant, as a rate limit is, let it begin sooner: a shorter timer, a higher rate, a smaller batch.", by, in, g.in)
		if reason == reference.ReasonNetwork {
			x.AdviseOnly("%s waits for an answer from outside%s meanwhile: if that is not simply as slow as it is, ask for less, or have several requests under way at once.", by, in)
			if in != nil && handsOver {
				x.AdviseOnly("Have goroutines of their own do what %s does, several at once, so that %s goes on meanwhile: it waits there for an answer from outside. Or ask for less.", elsewhere, by)
			}
		}
	default:
		x.Advise("See what %s waits for before it lets %s go on, and whether all have to wait for it.", by, g.in)
	}
	if findings.IsOnce(x.Actors[0].Stack) {
		x.Headline = findings.Say("%s waits for the first caller of a sync.Once: %s, %s of its time", g.in, total, quantity.Percent(share))
		x.Title = findings.Say("Goroutines of %s were blocked %s in %s until the first caller of a sync.Once was done, %s in all", who, times, g.in, total)
		x.AdviseOnly("Do what the sync.Once in %s is for before it is needed, at the start or in the background, or make it shorter: all callers wait until the first is done.", g.in)
		return
	}
	of := fmt.Sprintf(", %s in all, %s of the time that they ran or were blocked", total, quantity.Percent(share))
	if by == g.in {
		x.Headline = findings.Say("Goroutines wait for one another in %s: %s in all", g.in, total)
		x.Title = findings.Say("Goroutines of %s were blocked %s in %s until another went on there%s%s", who, times, g.in, of, meanwhile)
		if calls != "" && elsewhere != "" {
			x.Headline = findings.Say("Goroutines wait in %s for one in system calls in %s: %s in all", g.in, elsewhere, total)
			return
		}
		x.AdviseOnly("See whether those that wait in %s have to: what is done in order, or together, goes at the pace of the slowest.", g.in)
		return
	}
	if len(far) == 0 && reason == reference.ReasonNetwork && part >= 0.5 && findings.OfLibrary(by) {
		x.Headline = findings.Say("%s waits for the network (%s): %s in all", g.in, by, total)
		x.Title = findings.Say("Goroutines of %s were blocked %s in %s until something came over the network (%s)%s", who, times, g.in, by, of)
		x.AdviseOnly("See whether the other end can answer sooner. If not, have %s ask for less, or for several things at once, or keep the answers.", g.in)
		return
	}
	if last == byAnswerer && len(far) == 1 && findings.OfLibrary(by) {
		x.Headline = findings.Say("%s waits for %s over the network: %s in all", g.in, far[0], total)
		x.Title = findings.Say("Goroutines of %s were blocked %s in %s until an answer came over the network%s; it seems to come from %s, which %s before", who, times, g.in, of, far[0], did)
		return
	}
	some := ""
	if float64(g.topNs) < 0.9*float64(g.ns) {
		some = " and others"
	}
	x.Headline = findings.Say("%s waits for %s%s: %s in all", g.in, by, some, total)
	if at := x.Actors[0].AtInnermost(); at.Short() != g.in && reason == reference.ReasonNetwork && busy+queued < 0.5 && at.Module() != "" && at.Module() == cause.Module() { // who of a library ends that says less than where it is
		x.Headline = findings.Say("%s waits in %s: %s in all", g.in, at.Short(), total)
		x.AdviseOnly("See what keeps %s waiting: a limit of that library, as of connections, or of requests on one connection, which a setting or another connection may raise, or answers that are slow.", at.Short())
	}
	if len(far) > 0 && busy < 0.5 {
		room, inTheEnd := headlineLen, ""
		if last == byAnswerer {
			room += 20
		}
		if len(far) > 1 {
			inTheEnd = " in the end"
		}
		end := far[len(far)-1]
		if long := findings.Say("%s waits for %s, and that%s for %s: %s in all", g.in, by, inTheEnd, end, total); long.Len() <= room {
			x.Headline = long
		}
		if w := ended[last]; w != "" && where != "" && where != g.in && where != end {
			x.Headline = findings.Say("%s waits %s, and %s for it: %s in all", where, w, g.in, total)
		}
	}
	if elsewhere != "" {
		whom, doing := findings.Say("%s", by), "waiting"
		if busy >= 0.5 {
			doing = "in system calls"
		}
		if strings.HasPrefix(string(by), string(g.in)+".func") {
			whom = findings.Say("what it starts")
		}
		if calls == "" && reason == reference.ReasonNetwork && handsOver {
			x.Headline = findings.Say("%s waits for the network, and %s for it: %s in all", elsewhere, g.in, total)
		} else if long := findings.Say("%s waits for %s, %s in %s: %s", g.in, whom, doing, elsewhere, total); long.Len() <= headlineLen+20 {
			x.Headline = long
		}
	}
	until := findings.Called(by, cause.CalledBy())
	if g.topNs < g.ns {
		until = findings.Say("%s (for %s of that time) or others", by, quantity.Part(g.topNs, g.ns))
	}
	x.Title = findings.Say("Goroutines of %s were blocked %s in %s until %s went on%s%s", who, times, g.in, until, of, meanwhile)
}

// ended reports what one waited for in whose place nobody of the program ended that.
var ended = map[int32]string{byTimer: "for a timer", byPeer: "for the network"}
