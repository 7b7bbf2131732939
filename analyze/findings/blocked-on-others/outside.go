package blockedonothers

import (
	"strings"

	"github.com/gmpscope/gmpscope/analyze/findings"
	"github.com/gmpscope/gmpscope/internal/quantity"
	"github.com/gmpscope/gmpscope/reference"
)

// In place of the class that ended a wait: what did that is no goroutine of the program's, or
// one that only tells the time.
const (
	byCollector = -1 - int32(iota) // the end of a garbage collection
	bySystem                       // a system call came back
	byPeer                         // the other end of a connection took what is written to it
	byDeadline                     // the deadline of a context
	byTimer                        // a timer of a select
	bySleep                        // time.Sleep
	byAnswer                       // something came from the other end of a connection
	byAnswerer                     // and it is known who of the program has sent it
)

// minDeadlines is how many deadlines must have passed, one after another: one ends a program,
// or a test.
const minDeadlines = 5

// minAnswers is how many answers from the network a goroutine must wait for one after another,
// on average: those could be asked for at once.
const minAnswers = 3

// answerNs is how long they must take on average: it is not worth much to ask at once for what
// comes sooner.
const answerNs = 1_000_000

// timed is the last wait of a goroutine that a timer ended.
type timed struct {
	stack int32 // 0: there was none
	run   int64 // how long the goroutine had run then
	stops int64 // how often it had stopped then
}

// tryNs is for how long a goroutine runs, at most, that only tries something between two sleeps.
const tryNs = 20_000

// round is what a goroutine does from its creation, or the last timer that it waited for, on.
type round struct {
	answers int64 // from the network
	timed   bool  // a timer began it
}

// created notes who creates goroutines.
func (w *watcher) created(d *reference.Decision) {
	if by := w.view.Waker(); by != nil && !by.System {
		*w.made.Make(by) = d.Time
		if g := w.view.Goroutine(); g != nil && !g.System {
			w.spawned(g, by, d.Time)
		}
	}
}

// lostP notes when a system call lost its P: until then it is in View.Callers.
func (w *watcher) lostP(c *findings.Syscall) {
	if g := w.view.ByID(c.G); g != nil && !c.System {
		*w.calls.Make(g) = c.To
	}
}

// returned counts what a system call took after it had lost its P.
func (w *watcher) returned(d *reference.Decision) {
	g := w.view.Goroutine()
	if g == nil || g.System || g.Stack == 0 {
		return
	}
	if at := w.calls.Find(g); at != nil && *at >= g.CallAt {
		w.outside(g, key{g.Class, g.Stack, bySystem}, *at, d.Time)
	}
}

// waited counts a wait that no goroutine has ended.
func (w *watcher) waited(d *reference.Decision) {
	g := w.view.Goroutine()
	if g == nil || g.System || g.BlockedNs <= 0 || g.Stack == 0 {
		return
	}
	if g.Reason != reference.ReasonNetwork {
		w.paused(g)
	}
	w.pause(g, d.Time)
	by := byTimer
	switch g.Reason {
	case reference.ReasonNetwork:
		if by = byPeer; d.Why == reference.WhyTimer {
			by = byDeadline // of the connection
		}
	case reference.ReasonSleep:
		by = bySleep
	case reference.ReasonSelect:
	case reference.ReasonChanReceive: // of a ticker, whose period is nobody's fault
		*w.rounds.Make(g) = round{timed: true}
		return
	default:
		return
	}
	c := w.outside(g, key{g.Class, g.Stack, by}, g.BlockedAt, d.Time)
	if at := w.made.Find(g); c != nil && by == bySleep && at != nil && *at >= g.RunAt && *at <= g.BlockedAt {
		c.requests++
	}
	r := w.rounds.Make(g)
	switch {
	case by == byTimer || by == bySleep:
		*r = round{timed: true}
		t := w.timers.Make(g)
		if c != nil && t.stack == g.Stack {
			c.again++
			if g.Stops == t.stops+1 && g.RunNs-t.run <= tryNs {
				c.vain++
			}
		}
		*t = timed{g.Stack, g.RunNs, g.Stops}
	case by == byPeer:
		if c != nil {
			w.answered(c, g, d.Time)
		}
		w.received(g, d.Time)
		if r.answers++; c != nil && r.answers > 1 {
			c.requests++
		}
		if c != nil && r.timed {
			c.timed++
		}
	}
}

// outside counts a wait of g from one time to another, and returns its cell.
func (w *watcher) outside(g *findings.Goroutine, k key, from, to int64) *cell {
	c := w.cell(k)
	if c == nil || to <= from {
		return nil
	}
	c.reason = g.Reason
	c.waits.Add(&findings.Cell{Ns: to - from, From: from, To: to, G: g.ID})
	if to > c.endAt {
		c.ends++ // those of one time are of one deadline
		c.endAt = to
	}
	return c
}

// inCalls adds the system calls that kept their P, and the others until they lost it.
func (w *watcher) inCalls() {
	for _, x := range w.view.Callers() {
		if c := w.cell(key{x.Class, x.Stack, bySystem}); c != nil && x.Stack != 0 {
			c.waits.N = max(c.waits.N, x.N) // those that lost it have been counted
			c.waits.Ns += x.Ns
			if c.waits.Worst == 0 {
				c.waits.G, c.waits.From, c.waits.To = x.G, x.From, x.To
			}
		}
	}
}

// calling returns in which function goroutines that end most waits of a group are in system calls for most of
// their time, and which of the program's own called that; empty if in none.
func (w *watcher) calling(f *findings.Facts, g *group) (function, caller findings.Name) {
	class := g.top.by
	stat := w.view.ClassStat(class)
	callers := map[findings.Name]findings.Name{}
	sums := map[findings.Name]int64{}
	whole := stat.RunNs + stat.BlockedNs
	if class == g.class {
		whole -= g.ns // of those that wait
	}
	for _, c := range w.cells.List {
		if c.class == class && c.by == bySystem {
			a := (&findings.Actor{Stack: f.Frames(c.stack), Tested: f.Tested}).AtInnermost()
			name := a.Short()
			sums[name] += c.waits.Ns
			callers[name] = a.CalledBy()
			whole += c.waits.Ns
		}
	}
	for name, ns := range sums {
		if 2*ns >= whole && name != "" {
			return name, callers[name]
		}
	}
	return "", ""
}

// isWrite reports whether a stack is of one that waits to write to a connection.
func isWrite(frames []string) bool {
	return findings.Through(frames, "internal/poll.(*FD).Write", "internal/poll.(*FD).Writev", "internal/poll.SendFile", "internal/poll.Splice")
}

// fits reports whether what a group, of which line wait on average, waits for outside is worth telling.
func (w *watcher) fits(f *findings.Facts, g *group, line float64) bool {
	class := w.view.ClassStat(g.class)
	most := 2*g.ns >= class.RunNs+class.BlockedNs
	// Those that come to their end soon are there for one thing.
	brief := class.Ended >= w.t.Ended && class.RunNs+class.BlockedNs < class.Ended*f.RecordedNs()/2
	switch g.outside {
	case bySystem:
		return line >= w.t.OutsideLine && most
	case bySleep:
		// Who sleeps again and again has a pace; but not after it has started something, if it
		// is there for one thing, or if it tries something in between.
		// One sleep is not what it does.
		return line >= w.t.OutsideLine && most && 2*g.longest.waits.Worst <= g.ns && (brief || 2*g.requests > g.n || g.tries()) && g.in != findings.Short(f.Name(g.class))
	case byTimer: // who goes on and on has a ticker, and so has the loop of a start function
		return g.ends >= minDeadlines && class.Ended >= w.t.Ended && 5*g.again <= 4*g.n && !starts(f.Frames(g.longest.stack), g.in)
	case byDeadline:
		return g.ends >= minDeadlines
	case byAnswer: // who goes on and on may serve, and wait for something to do; who dials does not
		wants := brief || 2*g.timed > g.n || w.dials[g.class]
		return line >= w.t.OutsideLine && most && wants && g.n >= minAnswers*(g.n-g.requests) && g.ns >= answerNs*g.n
	}
	return true
}

// tries reports whether those of a group try something between sleeps, now and then in vain: where
// nearly all sleeps follow one another, they have a pace.
func (g *group) tries() bool { return 20*g.vain >= g.n && 5*g.vain <= 4*g.n && g.vain >= minTries }

// minTries is how many tries in vain are more than chance.
const minTries = 10

// phraseOutside writes title, evidence and advice of a wait for something outside.
func (w *watcher) phraseOutside(f *findings.Facts, x *findings.Finding, g *group) {
	total := quantity.Duration(g.ns)
	class := w.view.ClassStat(g.class)
	whole := class.RunNs + class.BlockedNs
	if g.outside == bySystem {
		whole += g.ns
	}
	who, by := g.in, x.Actors[0].Caller()
	// It is itself what takes so long, be it in a library.
	if a := x.Actors[0].AtInnermost(); a.CalledBy() != "" {
		who, by = a.Short(), a.CalledBy()
	}
	in, does := findings.Called(who, by), ""
	var more findings.Text
	switch g.outside {
	case bySystem:
		does = "is in system calls"
		x.Advise("Make fewer of these calls or shorter ones in %s (put together what is written, sync once, read ahead), or have several under way at once: the scheduler has no part in it.", in)
	case byPeer:
		does = "waits until the other end reads"
		x.Advise("Whoever reads what %s writes is slow. If others have to wait until it has been written, give each receiver a queue and a goroutine of its own, and drop those that don't keep up.", in)
	case byDeadline, byTimer:
		does = "runs into its timeout"
		x.Advise("See who has what %s waits for in vain: one that waits there itself while it holds another, one that is slow, or nobody. A longer time only makes the waits longer.", in)
	case byAnswer:
		does = "waits for answers from the network, one by one,"
		x.Advise("If they do not depend on one another, let %s ask for them all, and then wait: %s come one after another, on average.", in, quantity.Number(float64(g.n)/float64(max(1, g.n-g.requests))))
		if a := w.answererOf(f, g.class); a != nil {
			name := a.name(f)
			x.Basis = findings.Inferred
			more = findings.Say("; %s seems to send them, and %s before", name, a.does(f))
			x.AdviseOnly("See whether %s can answer sooner, or have several of them answer at once. %s", name, x.Advice[0])
		}
	case bySleep:
		does = "sleeps"
		if g.tries() {
			does = "sleeps between its tries"
			more = findings.Say("; after %s of these sleeps it slept again at once", quantity.Part(g.vain, g.n))
			x.Advise("Have whoever holds or does what %s tries for wake it (a lock that blocks, a channel, a sync.Cond), or sleep for much less between tries: what it wants may be there long before the sleep is over.", in)
			break
		}
		x.Advise("If %s sleeps until something has happened, have whoever does that tell it (a channel, a sync.Cond), or look more often.", in)
	}
	x.MeasuredOf(findings.Say("waits in %s", g.in), findings.Count(g.n))
	x.Measured("their sum", findings.Time(g.ns), findings.Time(w.t.MinNs))
	x.Measured("their mean", findings.Time(g.ns/g.n), findings.Time(w.t.MeanNs))
	x.Measured("goroutines that wait there, on average", findings.Number(float64(g.ns)/float64(f.RecordedNs())), findings.Number(w.t.Line))
	x.Measured("of the time that these goroutines ran or waited for anything but a P", findings.PartOf(g.ns, whole))
	x.Measured("the longest", findings.Time(g.longest.waits.Worst))
	x.Headline = findings.Say("%s %s for %s of its time: %s", in, does, quantity.Part(g.ns, whole), total)
	if x.Headline.Len() > headlineLen {
		x.Headline = findings.Say("%s %s: %s in all", in, strings.TrimSuffix(does, ","), total)
	}
	if x.Headline.Len() > headlineLen+20 {
		x.Headline = findings.Say("%s %s: %s in all", who, strings.TrimSuffix(does, ","), total)
	}
	x.Title = findings.Say("Goroutines of %s waited %s in %s: it %s, %s in all%s", findings.Short(f.Name(g.class)), quantity.Plural(g.n, "time", "times"), in, strings.TrimSuffix(does, ","), total, more)
}
