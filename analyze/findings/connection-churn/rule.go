// Package connectionchurn is the detector connection-churn: does a client open a connection for
// each request, in place of keeping some? doc.md explains it.
package connectionchurn

import (
	"strings"

	"github.com/gmpscope/gmpscope/analyze/findings"
	"github.com/gmpscope/gmpscope/internal/quantity"
	"github.com/gmpscope/gmpscope/reference"
)

// ID names the detector in findings, in configuration files and for "gmpscope explain".
const ID = "connection-churn"

// Thresholds decide when the detector reports that connections are opened at a high rate, and few
// are kept. Shares are fractions from 0 to 1.
type Thresholds struct {
	Count      int64          `json:"count"`       // least number of connections that were opened
	Rate       float64        `json:"rate"`        // least number of them in a second
	EndedShare float64        `json:"ended_share"` // share of the connections that are not kept to the end
	Grade      findings.Grade `json:"grade"`       // severities, by the time that goroutines were blocked to open them
}

// Default returns the thresholds that apply unless a configuration sets others. They are guesses,
// checked on traces: a pool that fills opens some connections, and keeps them.
func Default() Thresholds {
	return Thresholds{Count: 50, Rate: 20, EndedShare: 0.5, Grade: findings.DefaultGrade()}
}

// New returns the detector that reports who opens connections that are not kept, with thresholds t.
func New(t Thresholds) findings.Detector {
	return findings.Detector{
		ID: ID, Kind: findings.KindCause, CostOf: findings.OfBlocked, Counted: true,
		Remedy: findings.Remedy{Why: "what a request costs over a connection that is there is not known"},
		New: func(view *findings.View) findings.Watcher {
			w := &watcher{t: t, view: view, made: findings.NewTable(maxPlaces, func(p place) created { return created{place: p} })}
			w.blocks.Table = findings.NewTable(maxPlaces, func(stack int32) block { return block{stack: stack} })
			view.Decisions(findings.DecisionFilter{Kinds: []reference.Kind{reference.KindReady}, Whys: []reference.Why{reference.WhyNetwork}}, w.answered)
			view.Decisions(findings.DecisionFilter{Kinds: []reference.Kind{reference.KindReady}, Whys: []reference.Why{reference.WhyCreate}}, w.created)
			return w
		},
	}
}

type watcher struct {
	t      Thresholds
	view   *findings.View
	made   findings.Table[place, created]
	blocks findings.CachedTable[int32, block] // by stack
}

// maxPlaces bounds memory; what comes later from other places is not counted.
const maxPlaces = 4096

// place is who creates goroutines of a class, and where.
type place struct{ class, by, stack int32 }

type created struct {
	place
	n, first int64 // how many, and a goroutine that did
	from, to int64 // the first and the last time
}

// block is for how long goroutines waited for the network at a stack.
type block struct {
	stack int32
	ns    int64
}

func (w *watcher) answered(*reference.Decision) {
	if g := w.view.Goroutine(); g != nil && !g.System && g.BlockedNs > 0 && g.Stack != 0 {
		if b := w.blocks.AtHash(g.Stack, uint32(g.Stack)); b != nil {
			b.ns += g.BlockedNs
		}
	}
}

func (w *watcher) created(d *reference.Decision) {
	g, by := w.view.Goroutine(), w.view.Waker()
	if g == nil || by == nil || g.System || d.Stack == 0 {
		return
	}
	if c := w.made.At(place{g.Class, by.Class, d.Stack}); c != nil {
		if c.n++; c.n == 1 {
			c.first, c.from = by.ID, d.Time
		}
		c.to = d.Time
	}
}

// The goroutines of a client's connections (net/http, transport.go): one that opens it, until Go 1.22
// in dialConnFor, and one that reads until it is closed, for HTTP/2 of another type.
const (
	dials = "net/http.(*Transport).dialConnFor"
	opens = "net/http.(*Transport).startDialConnFor"
	reads = "net/http.(*persistConn).readLoop"
	http2 = "ClientConn).readLoop"
)

func (w *watcher) Finish(f *findings.Facts) []findings.Finding {
	return append(w.ofHTTP(f), w.ofClients(f)...)
}

// churn is connections, and how many of them were not kept.
type churn struct {
	n, closed, openNs int64
	by                findings.Caller // who opens most of them, and when the first and the last
}

// ofHTTP is for the connections of net/http.
func (w *watcher) ofHTTP(f *findings.Facts) []findings.Finding {
	var c churn
	kept := int64(0)
	counted := map[int32]bool{}
	for _, m := range w.made.List {
		stat, name := w.view.ClassStat(m.class), string(f.Name(m.class))
		switch {
		case strings.HasPrefix(name, dials), strings.HasPrefix(name, opens):
			if c.n += m.n; m.n > c.by.N {
				c.by = m.caller()
			}
			if !counted[m.class] {
				c.openNs += stat.RunNs + stat.BlockedNs + stat.WaitedNs
			}
		case strings.HasPrefix(name, reads), strings.Contains(name, http2):
			if kept += m.n; !counted[m.class] {
				kept -= stat.Ended
			}
		}
		counted[m.class] = true
	}
	c.closed = c.n - min(c.n, max(0, kept))
	s, ok := w.t.Grade.Severity(c.openNs, f.RecordedNs())
	if !ok || !w.many(f, &c) {
		return nil
	}
	x, who := w.finding(f, s, &c)
	x.Title = findings.Say("%s opened connections for requests of net/http: %s, %s a second, of which %s were not kept; opening them took %s in all",
		who.Doer(), quantity.Count(c.n), quantity.Number(rate(f, c.n)), quantity.Count(c.closed), quantity.Duration(c.openNs))
	x.Advise("Let requests share connections: in %s, read each answer's body to its end and close it, keep one http.Client, and set Transport.MaxIdleConnsPerHost to as many requests as are under way at once (it is 2 unless set).", who.Short())
	return []findings.Finding{x}
}

// caller is who created them.
func (c *created) caller() findings.Caller {
	return findings.Caller{Stack: c.stack, Class: c.by, G: c.first, N: c.n, From: c.from, To: c.to}
}

// rate is how many n are in a second.
func rate(f *findings.Facts, n int64) float64 {
	return float64(n) * 1e9 / float64(max(1, f.RecordedNs()))
}

// many reports whether many connections are opened, and few kept.
func (w *watcher) many(f *findings.Facts, c *churn) bool {
	return c.n >= w.t.Count && rate(f, c.n) >= w.t.Rate && float64(c.closed) >= w.t.EndedShare*float64(c.n)
}

// finding is what findings about all clients have in common, and who opens connections.
func (w *watcher) finding(f *findings.Facts, s findings.Severity, c *churn) (x findings.Finding, who *findings.Actor) {
	x = findings.Finding{
		Severity: s, CostNs: min(c.openNs, f.BlockedNs), FromNs: c.by.From, ToNs: c.by.To, Basis: findings.Certain,
		Actors: []findings.Actor{f.Actor(findings.Cause, c.by.Class, c.by.G, c.by.Stack)},
	}
	who = x.Actors[0].AtInnermost()
	by := findings.Say("%s", who.Short())
	if who.CalledBy() != "" {
		by = who.Doer()
	}
	x.Headline = findings.Say("%s opens %s connections a second, and keeps few of them", by, quantity.Number(rate(f, c.n)))
	x.Measured("connections opened", findings.Count(c.n), findings.Count(w.t.Count))
	x.Measured("of them, in a second", findings.Number(rate(f, c.n)), findings.Number(w.t.Rate))
	x.Measured("of them, not kept", findings.PartOf(c.closed, c.n), findings.Share(w.t.EndedShare))
	x.Measured("their opening, summed", findings.Time(c.openNs))
	return x, who
}
