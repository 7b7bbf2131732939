// Package connectionchurn is the detector connection-churn: does a client of net/http open a
// connection for each request, in place of keeping some? doc.md explains it.
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

// New returns the detector that reports who opens connections of net/http that are not kept, with
// thresholds t.
func New(t Thresholds) findings.Detector {
	return findings.Detector{
		ID: ID, Kind: findings.KindCause, CostOf: findings.OfBlocked, Counted: true,
		Remedy: findings.Remedy{Why: "what a request costs over a connection that is there is not known"},
		New: func(view *findings.View) findings.Watcher {
			w := &watcher{t: t, view: view, made: findings.NewTable(maxPlaces, func(p place) created { return created{place: p} })}
			view.Decisions(findings.DecisionFilter{Kinds: []reference.Kind{reference.KindReady}, Whys: []reference.Why{reference.WhyCreate}}, w.created)
			return w
		},
	}
}

type watcher struct {
	t    Thresholds
	view *findings.View
	made findings.Table[place, created]
}

// maxPlaces bounds memory; goroutines that come later from other places are not counted.
const maxPlaces = 4096

// place is who creates goroutines of a class, and where.
type place struct{ class, by, stack int32 }

type created struct {
	place
	n, first int64 // how many, and a goroutine that did
	from, to int64 // the first and the last time
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
	var most *created // of those that open connections
	n, openNs, kept := int64(0), int64(0), int64(0)
	counted := map[int32]bool{}
	for _, c := range w.made.List {
		stat, name := w.view.ClassStat(c.class), string(f.Name(c.class))
		switch {
		case strings.HasPrefix(name, dials), strings.HasPrefix(name, opens):
			if n += c.n; most == nil || c.n > most.n {
				most = c
			}
			if !counted[c.class] {
				openNs += stat.RunNs + stat.BlockedNs + stat.WaitedNs
			}
		case strings.HasPrefix(name, reads), strings.Contains(name, http2):
			if kept += c.n; !counted[c.class] {
				kept -= stat.Ended
			}
		}
		counted[c.class] = true
	}
	closed := n - min(n, max(0, kept))
	rate := float64(n) * 1e9 / float64(max(1, f.RecordedNs()))
	if most == nil || n < w.t.Count || rate < w.t.Rate || float64(closed) < w.t.EndedShare*float64(n) {
		return nil
	}
	s, ok := w.t.Grade.Severity(openNs, f.RecordedNs())
	if !ok {
		return nil
	}
	x := findings.Finding{
		Severity: s, CostNs: min(openNs, f.BlockedNs), FromNs: most.from, ToNs: most.to, Basis: findings.Certain,
		Actors: []findings.Actor{f.Actor(findings.Cause, most.by, most.first, most.stack)},
	}
	who := x.Actors[0].AtInnermost()
	opened, second := quantity.Count(n), quantity.Number(rate)
	by := findings.Say("%s", who.Short())
	if who.CalledBy() != "" {
		by = who.Doer()
	}
	x.Headline = findings.Say("%s opens %s connections a second, and keeps few of them", by, second)
	x.Title = findings.Say("%s opened connections for requests of net/http: %s, %s a second, of which %s were not kept; opening them took %s in all",
		who.Doer(), opened, second, quantity.Count(closed), quantity.Duration(openNs))
	x.Measured("connections opened", findings.Count(n), findings.Count(w.t.Count))
	x.Measured("of them, in a second", findings.Number(rate), findings.Number(w.t.Rate))
	x.Measured("of them, not kept", findings.PartOf(closed, n), findings.Share(w.t.EndedShare))
	x.Measured("their opening, summed", findings.Time(openNs))
	x.Advise("Let requests share connections: in %s, read each answer's body to its end and close it, keep one http.Client, and set Transport.MaxIdleConnsPerHost to as many requests as are under way at once (it is 2 unless set).", who.Short())
	return []findings.Finding{x}
}
