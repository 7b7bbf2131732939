package blockedonothers

import (
	"math"
	"slices"
	"strings"

	"github.com/gmpscope/gmpscope/analyze/findings"
	"github.com/gmpscope/gmpscope/internal/std"
)

// Both ends of a connection may be goroutines of the program: then what comes over the
// network was written a moment before, and what the one that wrote it did since it was
// asked is why it took so long. The trace does not tell who is connected with whom, so it
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
	class, stack int32
	n            [len(within)]int64 // times that it was so short before
	all          int64
	served       int64   // of these, by one that had been asked
	ns           float64 // from there to the call
	links        []link  // what it was blocked for in between
}

// server is a goroutine that waits for the network and may be asked there for something,
// or that one of these has created for what it was asked.
type server struct {
	g    int64
	from int64 // since when it may do what it was asked for
	ns   int64 // the longest block since
	link link  // and who ended that
	once bool  // it has not waited for the network itself
}

// asked notes that something came to g over the network.
func (w *watcher) asked(g *findings.Goroutine, at int64) {
	*w.servers.Make(g.Slot()) = server{g: g.ID, from: at}
}

// spawned notes that by has created g.
func (w *watcher) spawned(g, by *findings.Goroutine, at int64) {
	if s := w.servers.Find(by.Slot()); s != nil && s.g == by.ID && !s.once {
		*w.servers.Make(g.Slot()) = server{g: g.ID, from: at, once: true}
	}
}

// paused notes that a block of g is over.
func (w *watcher) paused(g *findings.Goroutine) {
	s := w.servers.Find(g.Slot())
	if s != nil && s.g == g.ID && g.BlockedAt >= s.from && g.BlockedNs > s.ns {
		s.ns, s.link = g.BlockedNs, w.ender(g)
	}
}

// answered counts who may have sent what ended a wait of g for the network: of each class
// and stack the latest that has not been taken for an answer yet. What one that has
// answered does from then on is for the next.
func (w *watcher) answered(c *cell, g *findings.Goroutine, now int64) {
	after := max(g.BlockedAt, now-within[len(within)-1])
	var counted [maxAnswers]*findings.LastCall
	n := 0
	for i := uint(0); n < len(counted); i++ {
		x := w.world.LastCall(i)
		if x == nil || x.At < after {
			break
		}
		if x.Class == g.Class || x.Stack == 0 || x.Used || slices.ContainsFunc(counted[:n], x.Like) {
			continue
		}
		if a := c.answer(x); a != nil {
			a.count(x, w.servers.Find(x.Slot), now)
			counted[n] = x
			n++
		}
	}
	for _, x := range counted[:n] {
		x.Used = true
		if s := w.servers.Find(x.Slot); s != nil && s.g == x.G && s.from < x.At {
			from := x.At
			if s.once {
				from = math.MaxInt64
			}
			*s = server{g: s.g, from: from, once: s.once}
		}
	}
}

// count counts a system call of s.
func (a *answer) count(x *findings.LastCall, s *server, now int64) {
	a.all++
	for i, ns := range within {
		if x.At >= now-ns {
			a.n[i]++
		}
	}
	if s != nil && s.g == x.G && s.from < x.At {
		a.served++
		a.ns += float64(x.At - s.from)
		a.links = addLink(a.links, s.link, float64(s.ns))
	}
}

func (c *cell) answer(x *findings.LastCall) *answer {
	i := slices.IndexFunc(c.answers, func(a answer) bool { return a.class == x.Class && a.stack == x.Stack })
	if i < 0 {
		if len(c.answers) == maxAnswers {
			return nil
		}
		i, c.answers = len(c.answers), append(c.answers, answer{class: x.Class, stack: x.Stack})
	}
	return &c.answers[i]
}

// isSend says that a stack is of one that writes to a connection, as far as it does not
// wait until it can.
func isSend(frames []string) bool {
	return slices.ContainsFunc(frames, func(fr string) bool {
		name, _, _ := strings.Cut(fr, " ")
		return strings.HasPrefix(name, "net.(*") && strings.Contains(name, ").Write")
	})
}

// answerer is who sent what ended the waits of a cell, nil if that is not clear: it wrote
// to a connection just before three quarters of them ended, after it had itself been asked
// over the network, and does not write so often that half of them may be chance.
func (w *watcher) answerer(f *findings.Facts, c *cell) (best *answer) {
	if c == nil {
		return nil
	}
	for i := range c.answers {
		a := &c.answers[i]
		if a.all < minAnswered || 2*a.served < a.all || !isSend(f.Frames(a.stack)) {
			continue
		}
		calls, _ := w.world.CallsFrom(a.stack)
		for j, ns := range within {
			clear := 4*a.n[j] >= 3*c.waits.N && 3*calls*ns <= 2*f.RecordedNs()
			if clear && (best == nil || a.all > best.all) {
				best = a
			}
		}
	}
	return best
}

// answererOf is the answerer of those of a class, where they wait for the network longest.
func (w *watcher) answererOf(f *findings.Facts, class int32) *answer {
	var most *cell
	for _, c := range w.cells {
		if c.class == class && c.by == byPeer && (most == nil || c.waits.Ns > most.waits.Ns) {
			most = c
		}
	}
	return w.answerer(f, most)
}

// name is the function that answers: the start function of its goroutines, or where that is a
// library's, the program's function in which they write, or are blocked before.
func (a *answer) name(f *findings.Facts) string {
	if name := findings.Short(f.Name(a.class)); !ofLibrary(name) {
		return name
	}
	writes := findings.Actor{Stack: f.Frames(a.stack)}
	if name := writes.Short(); name != "" {
		return name
	}
	_, name := mostOf(f, a.links, 0)
	return name
}

func ofLibrary(function string) bool {
	pkg, _ := std.Split(function)
	return std.Has(pkg)
}

// does says what those did that answered, from when they were asked on.
func (a *answer) does(f *findings.Facts) string {
	l, where := mostOf(f, a.links, a.ns/2)
	in := ""
	if where != "" && where != a.name(f) {
		in = " in " + where
	}
	switch {
	case l.by < 0:
		return "waited " + ended[l.by] + in
	case l.ns > 0 && in != "":
		return "waited for" + strings.TrimPrefix(in, " in")
	case l.ns > 0:
		return "waited for others"
	}
	return "ran, or waited for a P,"
}
