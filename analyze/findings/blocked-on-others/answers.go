package blockedonothers

import (
	"math"
	"slices"
	"strings"

	"github.com/gmpscope/gmpscope/analyze/findings"
)

// Both ends of a connection may be goroutines of the program: then what comes over the
// network was written a moment before, and what the one that wrote it did since it was
// asked is why it took so long. The trace does not show who is connected with whom, so it
// is inferred from what comes after what, again and again.

const (
	// minAnswered is how many waits must have ended so.
	minAnswered = 10
	maxAnswers  = 8 // that are told apart in a cell
)

// within is how long before the wait ends an answer is written, at most, ns: a P that polls
// the network sees it at once, and if many answers come together, or all Ps are busy, it takes
// longer. The longer, the more often something else has been written by chance.
var within = [...]int64{100_000, 1_000_000}

// answer is system calls of a class at a stack just before waits of a cell ended.
type answer struct {
	place
	n      [len(within)]int64 // times that it was so short before; the last is of all
	served int64              // of these, by one that had been asked
	ns     float64            // from there to the call
	links  links              // what it was blocked for in between
}

// place is a stack of goroutines of a class.
type place struct{ class, stack int32 }

// server is a goroutine that waits for the network and may be asked there for something,
// or that one of these has created for what it was asked.
type server struct {
	from int64 // since when it may do what it was asked for
	ns   int64 // the longest block since
	by   int32 // and who ended that, as in link
	at   int32
	once bool // it has not waited for the network itself
}

// received notes that something came to g over the network.
func (w *watcher) received(g *findings.Goroutine, at int64) {
	*w.servers.Make(g) = server{from: at}
}

// spawned notes that by has created g.
func (w *watcher) spawned(g, by *findings.Goroutine, at int64) {
	if s := w.servers.Find(by); s != nil && !s.once {
		*w.servers.Make(g) = server{from: at, once: true}
	}
}

// paused notes that a block of g is over.
func (w *watcher) paused(g *findings.Goroutine) {
	s := w.servers.Find(g)
	if s != nil && g.BlockedAt >= s.from && g.BlockedNs > s.ns {
		by := w.ender(g)
		s.ns, s.by, s.at = g.BlockedNs, by.by, by.stack
	}
}

// answered counts who may have sent what ended a wait of g for the network: of each class
// and stack the latest that has not been taken for an answer yet. What one that has
// answered does from then on is for the next.
func (w *watcher) answered(c *cell, g *findings.Goroutine, now int64) {
	after := max(g.BlockedAt, now-within[len(within)-1])
	soon := now - within[0]
	var served [maxAnswers]struct {
		s  *server
		at int64
	}
	n := 0
	for i, seen := uint(0), uint(0); seen != 1<<maxAnswers-1; i++ {
		x := w.view.LastCall(i)
		if x == nil || x.At < after {
			break
		}
		if x.Class == g.Class || x.Stack == 0 || x.Used {
			continue
		}
		at := place{x.Class, x.Stack}
		k := c.answers.Find(at, maxAnswers)
		if k < 0 || seen>>k&1 != 0 {
			continue
		}
		seen |= 1 << k
		x.Used = true
		a := &c.answers.Values[k]
		a.place = at
		a.n[1]++
		if x.At >= soon {
			a.n[0]++
		}
		if s := w.servers.FindSlot(x.Slot, x.G); s != nil && s.from < x.At {
			a.served++
			a.ns += float64(x.At - s.from)
			addLink(&a.links, link{by: s.by, stack: s.at}, float64(s.ns))
			served[n].s, served[n].at = s, x.At
			n++
		}
	}
	for _, x := range served[:n] {
		if s := x.s; s.from < x.at {
			s.from, s.ns, s.by, s.at = x.at, 0, 0, 0
			if s.once {
				s.from = math.MaxInt64
			}
		}
	}
}

// isSend reports whether a stack is of one that writes to a connection, as far as it does not
// wait until it can.
func isSend(frames []string) bool {
	return slices.ContainsFunc(frames, func(fr string) bool {
		name := findings.FunctionOf(fr)
		return strings.HasPrefix(name, "net.(*") && strings.Contains(name, ").Write")
	})
}

// answerer is who sent what ended the waits of a cell, nil if that is not clear: it wrote
// to a connection just before three quarters of them ended, after it had itself been asked
// over the network, and does not write so often that half of them may be chance. A library's
// function, where no function of the program is known, is not clear either.
func (w *watcher) answerer(f *findings.Facts, c *cell) (best *answer) {
	if c == nil {
		return nil
	}
	for i := range c.answers.Values {
		a := &c.answers.Values[i]
		if a.n[1] < minAnswered || 2*a.served < a.n[1] || !isSend(f.Frames(a.stack)) || findings.OfLibrary(a.name(f)) {
			continue
		}
		calls, _ := w.view.CallsFrom(a.stack)
		for j, ns := range within {
			clear := 4*a.n[j] >= 3*c.waits.N && 3*calls*ns <= 2*f.RecordedNs()
			if clear && (best == nil || a.n[1] > best.n[1]) {
				best = a
			}
		}
	}
	return best
}

// answererOf is the answerer of those of a class, where they wait for the network longest.
func (w *watcher) answererOf(f *findings.Facts, class int32) *answer {
	var most *cell
	for _, c := range w.cells.List {
		if c.class == class && c.by == byPeer && (most == nil || c.waits.Ns > most.waits.Ns) {
			most = c
		}
	}
	return w.answerer(f, most)
}

// name is the function that answers: the start function of its goroutines, or where that is a
// library's, the program's function in which they write, or are blocked before.
func (a *answer) name(f *findings.Facts) findings.Name {
	if name := findings.Short(f.Name(a.class)); !findings.OfLibrary(name) {
		return name
	}
	writes := findings.Actor{Stack: f.Frames(a.stack)}
	if name := writes.Short(); name != "" {
		return name
	}
	_, name, _, _ := mostOf(f, 0, &a.links)
	return name
}

// does reports what those did that answered, from when they were asked on.
func (a *answer) does(f *findings.Facts) findings.Text {
	by, where, _, ns := mostOf(f, a.ns/2, &a.links)
	elsewhere := where != "" && where != a.name(f)
	switch {
	case by < 0 && elsewhere:
		return findings.Say("waited %s in %s", ended[by], where)
	case by < 0:
		return findings.Say("waited %s", ended[by])
	case ns > 0 && elsewhere:
		return findings.Say("waited for %s", where)
	case ns > 0:
		return findings.Say("waited for others")
	}
	return findings.Say("ran, or waited for a P,")
}
