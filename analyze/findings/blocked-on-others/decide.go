package blockedonothers

import (
	"slices"
	"strings"

	"github.com/gmpscope/gmpscope/analyze/findings"
	"github.com/gmpscope/gmpscope/reference"
)

// group is the waits of one class in one function of the program, and who ended most of
// them.
type group struct {
	sums
	class   int32
	in      findings.Name // the function
	n, ns   int64
	stopped int64 // ns of the waits in which goroutines waited to be told to stop
	outside int32 // what ends these waits, where that is no goroutine of the program: bySystem or the like; else 0
	longest *cell
	byWaker map[int32]int64 // ns of the waits, by the class that ended them
	top     *cell           // of those with the waker that ended most
	topNs   int64
	links   []*links // of its cells
}

func (w *watcher) Finish(f *findings.Facts) []findings.Finding {
	recorded := f.RecordedNs()
	if recorded <= 0 {
		return nil
	}
	w.inCalls()
	var best, outside *group
	all := w.groups(f)
	for _, g := range all {
		line := float64(g.ns) / float64(recorded)
		if line < w.t.Line || g.ns < w.t.MinNs || g.ns < w.t.MeanNs*g.n {
			continue
		}
		if g.outside != 0 {
			if w.fits(f, g, line) && (outside == nil || outside.before(g)) {
				outside = g
			}
			continue
		}
		if g.idle() || 2*g.longest.waits.Worst > g.ns && !g.forChildren() { // one wait is not what they do
			continue
		}
		if !w.waits(f, g) && (line < w.t.IdleLine || !g.works()) {
			continue
		}
		if best == nil || g.ns > best.ns {
			best = g
		}
	}
	if best == nil {
		best = outside
	}
	least := int64(0)
	if best != nil {
		least = best.ns / 2
	}
	if x, ok := w.flow(f, least); ok {
		return []findings.Finding{x}
	}
	if best == nil {
		return nil
	}
	return []findings.Finding{w.finding(f, best, all)}
}

// minCollections is how many waits for the end of a collection are more than a start that begins
// with a clean heap.
const minCollections = 5

// groups are the waits in functions of the program. Waits for locks are those of lock-convoy.
func (w *watcher) groups(f *findings.Facts) []*group {
	type where struct {
		class   int32
		in      findings.Name
		outside int32 // what else ends the waits; 0: goroutines, or the collector
	}
	all := findings.NewTable(maxCells, func(k where) group {
		return group{class: k.class, in: k.in, outside: k.outside, byWaker: map[int32]int64{}}
	})
	for _, c := range w.cells.List {
		frames := f.Frames(c.stack)
		if findings.IsLock(frames) && !findings.IsOnce(frames) {
			continue
		}
		if c.by == byPeer && findings.Through(frames, "net.(*netFD).connect") {
			w.dials[c.class] = true
		}
		in := f.ProgramsOwn(c.stack)
		if in == "" || in == "main.main" { // main waits for all the others
			continue
		}
		g := all.At(where{c.class, in, c.from(f, frames)})
		if g.longest == nil {
			g.longest, g.top = c, c
		}
		g.ns += c.waits.Ns
		g.n += c.waits.N
		g.sums.add(&c.sums)
		for i, stop := range c.stops.Values {
			end := c.stops.Keys[i]
			switch {
			case closed(f.Frames(end.stack)) && (end.notified == 0 || ends(f.Frames(end.notified))):
				g.stopped += stop.ns
			case starts(frames, in): // a loop that takes one thing after another
				g.stopped += stop.again
			}
		}
		if c.waits.Worst > g.longest.waits.Worst {
			g.longest = c
		}
		if g.byWaker[c.by] += c.waits.Ns; g.byWaker[c.by] > g.topNs {
			if c.by != g.top.by || c.waits.Worst > g.top.waits.Worst {
				g.top = c
			}
			g.topNs = g.byWaker[c.by]
		}
		g.links = append(g.links, &c.links)
	}
	return all.List
}

// before reports whether h is to be shown rather than g: answers last, for they are what was
// asked for, and of the others the longest.
func (g *group) before(h *group) bool {
	if answers := g.outside == byAnswer; answers != (h.outside == byAnswer) {
		return answers
	}
	return h.ns > g.ns
}

// from is what outside of the program ended the waits of a cell, 0 if that was nothing
// outside.
func (c *cell) from(f *findings.Facts, frames []string) int32 {
	switch {
	case c.by == byPeer && !isWrite(frames):
		return byAnswer
	case c.by < byCollector:
		return c.by
	case c.by >= 0 && strings.HasPrefix(string(f.Name(c.by)), "context.WithDeadline"):
		return byDeadline
	}
	return 0
}

// waits reports whether those of a group wait for something that they want, and are not
// without work: they are there for one thing, wait to hand something over, for all of
// several, or for a turn, or have asked those that end their waits for something. Who
// waits for goroutines that it has started, in its own start function, waits for the end.
func (w *watcher) waits(f *findings.Facts, g *group) bool {
	if g.forChildren() {
		start := findings.Short(f.Name(g.class))
		return g.in != start && g.n > 1
	}
	switch g.longest.reason {
	case reference.ReasonChanSend, reference.ReasonSync, reference.ReasonGCEnds:
		return true
	}
	ended := w.view.ClassStat(g.class).Ended
	once := ended >= fewEnded && g.n <= ended
	return once || ended >= w.t.Ended && g.n <= w.t.Times*ended || float64(g.requests) >= w.t.Asked*float64(g.n)
}

// fewEnded is how many goroutines that ended and waited once each are there for one thing.
const fewEnded = 8

// starts reports whether a stack is of a goroutine that has the program's function in for its
// start function, or what the library runs there.
func starts(frames []string, in findings.Name) bool {
	for i := len(frames) - 1; i >= 0; i-- {
		name := findings.FunctionOf(frames[i])
		if !findings.OfLibrary(name) {
			return name == string(in)
		}
	}
	return false
}

// forChildren reports whether those of a group wait for goroutines that they have created. At a
// sync.Cond those only pass it on that there is nothing more to do.
func (g *group) forChildren() bool {
	return 2*g.children > g.n && g.longest.reason != reference.ReasonCond
}

// idle reports whether those of a group waited to be told to stop: they did no more then.
func (g *group) idle() bool { return 2*g.stopped > g.ns && !g.forChildren() }

// closed reports whether who wakes one that receives, at a stack, closes the channel, or
// cancels a context: the runtime's functions that send are in the stack, closechan is not
// (the skip of its goready; all versions).
func closed(frames []string) bool {
	return len(frames) > 0 && (!strings.HasPrefix(frames[0], "runtime.") || strings.HasPrefix(frames[0], "runtime.closechan "))
}

// ends reports whether who wakes others at a stack tells them no more than that it has come to
// its end: it closes a channel or is done with a wait group.
func ends(frames []string) bool {
	return closed(frames) && !strings.HasPrefix(frames[0], "sync.") || findings.Through(frames, "sync.(*WaitGroup).Done")
}

// works reports whether those that end the waits of a group were busy for most of them, or
// waited for the network, not for one another or for a time. Who waits at a sync.Cond again and again
// until another class comes, as the writer of a connection does, has nothing to do.
func (g *group) works() bool {
	return (g.longest.reason != reference.ReasonCond || g.top.by == g.class) && g.ran+g.blocked[reference.ReasonNetwork] > float64(g.ns)/2
}

// maxChain bounds how far it is followed who waits for whom.
const maxChain = 4

// chain follows for whom those waited that ended the waits of g, each time for half of
// the waits or more: functions of the program, from the nearest on. What the last of them
// waited for outside of it is byTimer, byPeer, or 0 if that is not known, and where it did so, and
// called by whom; or the last is byAnswerer, and did says what it did.
func (w *watcher) chain(f *findings.Facts, all []*group, g *group) (functions []findings.Name, last int32, where, user findings.Name, did findings.Text) {
	seen := []int32{g.class, g.top.by}
	for len(functions) < maxChain {
		by, name, user, _ := mostOf(f, float64(g.ns)/2, g.links...)
		if by == byPeer {
			if a := w.answererOf(f, seen[len(seen)-1]); a != nil {
				return append(functions, a.name(f)), byAnswerer, "", "", a.does(f)
			}
		}
		if n := len(functions); by < 0 && n > 1 && findings.OfLibrary(functions[n-1]) {
			return functions[:n-1], by, g.in, "", nil // who asked the library for that
		}
		if by < 0 {
			return functions, by, name, user, nil
		}
		if name == "" || slices.Contains(seen, by) {
			return functions, 0, "", "", nil
		}
		functions, seen = append(functions, name), append(seen, by)
		var next *group
		for _, x := range all {
			if x.class == seen[len(seen)-2] && x.top.by == by && x.outside == 0 && (next == nil || x.ns > next.ns) {
				next = x
			}
		}
		if next == nil {
			return functions, 0, "", "", nil
		}
		g = next
	}
	return functions, 0, "", "", nil
}

// mostOf is who ended the most of what links tell, if it is at least so much, where that
// one was, or those that waited if no goroutine of the program ended it, called by user, and how
// much; else empty.
func mostOf(f *findings.Facts, least float64, lists ...*links) (by int32, name, user findings.Name, most float64) {
	type end struct {
		by int32
		at findings.Name
	}
	ns := map[end]float64{}
	for _, list := range lists {
		for i, l := range list.Keys {
			a := (&findings.Actor{Stack: f.Frames(l.stack)}).AtInnermost()
			at, from := a.Brief(), a.CalledBy()
			if l.by >= 0 {
				a.Class = string(f.Name(l.by))
				at = a.Short()
			}
			k := end{l.by, at}
			if ns[k] += list.Values[i]; ns[k] > most {
				by, name, user, most = l.by, at, from, ns[k]
			}
		}
	}
	if most < least {
		return 0, "", "", 0
	}
	return by, name, user, most
}

func (w *watcher) finding(f *findings.Facts, g *group, all []*group) findings.Finding {
	x := findings.Finding{
		Severity: findings.Note, CostNs: min(g.ns, f.BlockedNs), FromNs: g.longest.waits.From, ToNs: g.longest.waits.To, Basis: findings.Certain,
		Actors: []findings.Actor{f.Actor(findings.Victim, g.class, g.longest.waits.G, g.longest.stack)},
	}
	if g.top.by == byCollector && g.n >= minCollections {
		x.Severity = findings.Warning // nobody wants to wait for that again and again
	}
	if g.top.by >= 0 && g.outside == 0 {
		x.Actors = append(x.Actors, f.Actor(findings.Cause, g.top.by, g.top.waker, g.top.wakerAt))
	}
	if g.outside != 0 {
		w.phraseOutside(f, &x, g)
	} else {
		w.phrase(f, &x, g, all)
	}
	return x
}
