// Package fullsemaphore is the detector full-semaphore: do goroutines stand in line
// because a function lets only a few through at a time? doc.md explains it.
package fullsemaphore

import (
	"cmp"
	"fmt"
	"maps"
	"math"
	"slices"
	"strings"

	"github.com/gmpscope/gmpscope/analyze/findings"
	"github.com/gmpscope/gmpscope/internal/quantity"
	"github.com/gmpscope/gmpscope/internal/std"
	"github.com/gmpscope/gmpscope/reference"
)

// ID names the detector in findings, in configuration files and for "gmpscope explain".
const ID = "full-semaphore"

// Thresholds decide when the detector reports functions that let only a few goroutines through
// at a time while others wait. Fields whose names end in Ns are in nanoseconds; shares are
// fractions from 0 to 1.
type Thresholds struct {
	// Count is how many goroutines at least must have waited for a place.
	Count int64 `json:"count"`
	// MeanNs is for how long they must have waited on average.
	MeanNs int64 `json:"mean_ns"`
	// Line is how many must have waited at a time, on average while one did.
	Line float64 `json:"line"`
	// Share is the share of the duration in which one must have waited.
	Share float64 `json:"share"`
	// Blocked is the share of the time for which places were held in which those who had
	// them must have been blocked: a limit for work that computes is as it should be.
	Blocked float64 `json:"blocked"`
	// Passed is the share of the waits that must have been ended by one who had got a
	// place there before, and gave it up.
	Passed float64        `json:"passed"`
	Grade  findings.Grade `json:"grade"` // severities, by the waiting for a place; at most a warning: the limit may be meant
}

// Default returns the thresholds that apply unless a configuration sets others. All are our
// own.
func Default() Thresholds {
	return Thresholds{Count: 20, MeanNs: 1_000_000, Line: 2, Share: 0.3, Blocked: 0.5, Passed: 0.6, Grade: findings.DefaultGrade()}
}

// New returns the detector that reports functions that let only a few goroutines through at a
// time while others wait, with thresholds t.
func New(t Thresholds) findings.Detector {
	return findings.Detector{
		ID: ID, AnyLength: true, Kind: findings.KindCause, CostOf: findings.OfBlocked, MaybeMeant: true,
		Remedy: findings.Remedy{Why: "what a semaphore guards is not in the trace: nor is whether more at once would be as fast"},
		New: func(view *findings.View) findings.Watcher {
			w := &watcher{t: t, view: view}
			w.lines = findings.NewTable(findings.MaxKept, func(int32) line { return line{} })
			w.sites.Table = findings.NewTable(findings.MaxKept, func(at stacks) site { return site{stacks: at, line: w.lines.At(at.wait)} })
			view.Decisions(findings.DecisionFilter{
				Kinds: []reference.Kind{reference.KindReady}, Whys: []reference.Why{reference.WhyUnblock, reference.WhyTimer, reference.WhyNetwork},
			}, w.goesOn)
			view.Decisions(findings.DecisionFilter{
				Kinds:   []reference.Kind{reference.KindReady},
				Reasons: []reference.Reason{reference.ReasonChanSend, reference.ReasonChanReceive, reference.ReasonSelect, reference.ReasonCond},
			}, w.ready)
			return w
		},
	}
}

type watcher struct {
	t     Thresholds
	view  *findings.View
	sites findings.CachedTable[stacks, site]
	lines findings.Table[int32, line] // by the stack of the waits
	// Who was let through last and still has a place.
	through findings.Recent[entry]
}

// maxStacks is how many stacks of a site are told apart.
const maxStacks = 16

// stacks are where a goroutine waited for a place, where another gave up its own, and
// where that one had waited for it; 0 if it is not known to have had one.
type stacks struct{ wait, leave, got int32 }

// entry is a goroutine whose waits others ended: each of them may have been for a place.
type entry [4]got // the last ones; the newest first

// drop forgets a wait.
func (e *entry) drop(i int) {
	for ; i+1 < len(e); i++ {
		e[i].set(&e[i+1])
	}
	e[i].set(&got{})
}

// got is the end of a wait: where it was, and when it ended; and where the goroutine was
// blocked longest since, and for how long there.
type got struct {
	at   int64
	wait int32

	blocked int64 // ns
	in      int32 // stack
	class   int32 // of the goroutine
	reason  reference.Reason
}

// set makes x equal to y. OPT: word by word, as a part of y may just have been written.
func (x *got) set(y *got) {
	x.at, x.wait, x.blocked, x.in, x.class, x.reason = y.at, y.wait, y.blocked, y.in, y.class, y.reason
}

// line is those who waited at one stack.
type line struct {
	lined int64 // ns in which a goroutine waited
	last  int64 // when the last one got a place
}

// site is what happened between some stacks.
type site struct {
	stacks
	line   *line
	reason reference.Reason // of the waits
	waits  findings.Tally
	// If those that ended the waits had waited for the place which they gave up:
	passed  int64 // so many waits
	held    int64 // for how long they had it, ns
	blocked findings.Reasons[int64]
	in      findings.Few[place, int64] // of that, by where they were
}

// place is a stack of goroutines of a class.
type place struct{ stack, class int32 }

// add adds what one did that had a place until now, since it had got it.
func (s *site) add(x *got, now int64) {
	s.passed++
	s.held += now - x.at
	if x.blocked == 0 {
		return
	}
	s.blocked.Add(x.reason, x.blocked)
	if i := s.in.Find(place{x.in, x.class}, maxStacks); i >= 0 {
		s.in.Values[i] += x.blocked
	}
}

// goesOn is for one that was blocked, perhaps with a place.
func (w *watcher) goesOn(d *reference.Decision) {
	e := w.through.Find(d.G)
	if e == nil {
		return
	}
	g := w.view.Goroutine()
	for i := range e {
		x := &e[i]
		switch {
		case x.at == 0 || g.BlockedAt < x.at:
		case x.in == g.Stack && x.blocked > 0: // again and again, as for each of several things
			x.blocked += g.BlockedNs
		case g.BlockedNs > x.blocked:
			x.blocked, x.in, x.class, x.reason = g.BlockedNs, g.Stack, g.Class, g.Reason
		}
	}
}

// ready is for one that waited and goes on: another has made room.
func (w *watcher) ready(d *reference.Decision) {
	g := w.view.Goroutine()
	if d.By < 0 || d.By == d.G || g.BlockedNs < 0 || g.Stack == 0 || d.Stack == 0 {
		return
	}
	// Which of its waits was for what it gives up now, if any was, their functions tell in
	// the end.
	at := stacks{wait: g.Stack, leave: d.Stack}
	var s *site
	if e := w.through.Find(d.By); e != nil {
		at.got = e[0].wait
		for i := range e {
			x := &e[i]
			if x.at == 0 {
				break
			}
			by := w.site(stacks{at.wait, at.leave, x.wait}, g.Reason)
			if i == 0 {
				s = by
			}
			if by == nil {
				continue
			}
			by.add(x, d.Time)
			if x.wait == g.Stack {
				e.drop(i) // it has given up its place
				break
			}
		}
	}
	if s == nil {
		s = w.site(at, g.Reason)
	}
	if s != nil {
		s.waits.Add(&findings.Cell{Class: g.Class, Ns: g.BlockedNs, From: g.BlockedAt, To: d.Time, G: g.ID, P: reference.NoP, Stack: g.Stack})
		s.line.lined += d.Time - max(s.line.last, g.BlockedAt)
		s.line.last = d.Time
	}
	mine := w.through.Make(d.G)
	// A wait there before is over: it waited again, and so had no place any more.
	last := len(mine) - 1
	for i := range mine[:last] {
		if mine[i].wait == g.Stack {
			last = i
			break
		}
	}
	for i := last; i > 0; i-- {
		mine[i].set(&mine[i-1])
	}
	mine[0].set(&got{at: d.Time, wait: g.Stack})
}

func (w *watcher) site(at stacks, reason reference.Reason) *site {
	s := w.sites.AtHash(at, uint32(at.wait+7*at.leave+31*at.got))
	if s != nil && s.reason == reference.ReasonNone {
		s.reason = reason
	}
	return s
}

func (w *watcher) Finish(f *findings.Facts) []findings.Finding {
	all := findings.NewTable(findings.MaxKept, func(function findings.Name) semaphore { return semaphore{function: function, in: map[holding]int64{}} })
	homeOf := func(stack int32) findings.Name { return guard(f.Frames(stack)) }
	for _, s := range w.sites.List {
		function := homeOf(s.wait)
		if function == "" {
			continue
		}
		m := all.At(function)
		// Whoever makes room in a channel in the same function had a place, whether it
		// had to wait for it or not.
		waited := s.got != 0 && homeOf(s.got) == function
		m.sends = m.sends || s.reason == reference.ReasonChanSend
		m.receives = m.receives || s.reason == reference.ReasonChanReceive
		m.add(s, waited, s.reason == reference.ReasonChanSend && homeOf(s.leave) == function)
	}
	slices.SortStableFunc(all.List, func(x, y *semaphore) int {
		return cmp.Or(cmp.Compare(y.waits.Total.Ns, x.waits.Total.Ns), cmp.Compare(x.function, y.function))
	})
	out := findings.Each(f, all.List, w.assess)
	return out[:min(1, len(out))]
}

// semaphore is what a function takes places of.
type semaphore struct {
	function findings.Name
	sends    bool // goroutines wait to send
	receives bool // or to receive
	waits    findings.Tally
	passed   int64 // waits that one ended who had had a place
	held     int64 // for how long those had it who had waited for it, ns
	blocked  findings.Reasons[int64]
	in       map[holding]int64
	lined    int64 // ns in which a goroutine waited
	lines    []*line
}

// holding is where one of a class that had a place was blocked, and where it had waited for the
// place.
type holding struct {
	place
	got int32
}

// add adds a site. Those that end its waits had waited for a place, or had one anyway.
func (m *semaphore) add(s *site, waited, had bool) {
	m.waits.Merge(&s.waits)
	if !slices.Contains(m.lines, s.line) {
		m.lines = append(m.lines, s.line)
		m.lined += s.line.lined
	}
	switch {
	case had:
		m.passed += s.waits.Total.N
	case waited:
		m.passed += s.passed
	default:
		return
	}
	m.held += s.held
	m.blocked.Merge(&s.blocked)
	for i, at := range s.in.Keys {
		m.in[holding{at, s.got}] += s.in.Values[i]
	}
}

// keeper is those that keep a place while they are blocked: the function in which they are, and
// the one that has the place: what the stacks of the wait for it and of this one have in common
// innermost.
type keeper struct {
	in, has findings.Name
	class   int32
	stack   int32 // where they are blocked
	ns      int64
}

// keeps returns who keeps places longest, nil where less than half is known to be there.
func (m *semaphore) keeps(f *findings.Facts) *keeper {
	type at struct{ in, has findings.Name }
	all := findings.NewTable(len(m.in), func(p at) keeper { return keeper{in: p.in, has: p.has} })
	var best *keeper
	for _, h := range slices.SortedFunc(maps.Keys(m.in), func(x, y holding) int {
		return cmp.Or(cmp.Compare(x.stack, y.stack), cmp.Compare(x.class, y.class), cmp.Compare(x.got, y.got))
	}) {
		blocked := (&findings.Actor{Class: string(f.Name(h.class)), Stack: f.Frames(h.stack)}).AtInnermost()
		p := at{home(blocked.Short()), home(findings.Common(blocked.Stack, f.Frames(h.got)))}
		if p.has == "" || p.in == "" {
			continue
		}
		k := all.At(p)
		if k.ns == 0 {
			k.class, k.stack = h.class, h.stack
		}
		if k.ns += m.in[h]; best == nil || k.ns > best.ns {
			best = k
		}
	}
	if best == nil || 2*best.ns < m.held {
		return nil
	}
	return best
}

// guard is the function that gives places to those that wait at a stack: the innermost one
// outside of the packages that make goroutines wait, be it of a library.
func guard(frames []string) findings.Name {
	for _, fr := range frames {
		function, _, _ := strings.Cut(fr, " ")
		switch pkg, _ := std.Split(function); {
		case pkg == "testing":
			return "" // the places of t.Parallel
		case pkg == "runtime", pkg == "sync", strings.HasPrefix(pkg, "internal/"), strings.HasPrefix(pkg, "golang.org/x/sync/"):
		default:
			return home(findings.Name(function))
		}
	}
	return ""
}

// home is the function in which a literal stands.
func home(function findings.Name) findings.Name {
	for {
		i := strings.LastIndex(string(function), ".")
		if i < 0 {
			return function
		}
		last := string(function[i+1:])
		if rest := strings.TrimPrefix(strings.TrimPrefix(last, "deferwrap"), "func"); rest == last || strings.Trim(rest, "0123456789") != "" {
			return function
		}
		function = function[:i]
	}
}

// slots is some number of places: how long they were held, while a goroutine waited.
func (m *semaphore) slots() float64 { return float64(m.held) / float64(max(1, m.lined)) }

// line is how many waited, on average while one did.
func (m *semaphore) line() float64 { return float64(m.waits.Total.Ns) / float64(max(1, m.lined)) }

func (w *watcher) assess(f *findings.Facts, m *semaphore) []findings.Finding {
	total := m.waits.Total
	s, ok := w.t.Grade.Severity(total.Ns, f.RecordedNs())
	if !ok || total.N < w.t.Count || total.Ns < w.t.MeanNs*total.N || m.line() < w.t.Line || f.Share(m.lined) < w.t.Share {
		return nil
	}
	if m.sends && m.receives {
		return nil // they hand something over: a place in a channel is taken or given without a wait
	}
	if float64(m.passed) < w.t.Passed*float64(total.N) {
		return nil // who ends the waits is not one who had a place
	}
	reason, doing := m.blocked.Most()
	if float64(doing) < w.t.Blocked*float64(m.held) || m.held == 0 {
		return nil
	}
	if s == findings.Critical {
		s = findings.Warning
	}
	x := findings.Finding{
		Severity: s, CostNs: total.Ns, FromNs: total.From, ToNs: total.To, Basis: findings.Inferred,
		Actors: m.waits.Actors(f, findings.Victim, 2),
	}
	k := m.keeps(f)
	if k != nil {
		x.Actors = append(x.Actors, f.Actor(findings.Cause, k.class, 0, k.stack))
	}
	few := "few"
	if n := math.Round(m.slots()); n >= 1 {
		few = quantity.Count(int64(n))
	}
	what := findings.BlockedFor(reason)
	const hold = "make shorter what is done with a place: hold it for the slow call only."
	waited := fmt.Sprintf("others waited for a place there %s, %s in all, up to %s", quantity.Plural(total.N, "time", "times"), quantity.Duration(total.Ns), quantity.Duration(total.Worst))
	guards := findings.Say("%s", m.function)
	if by := x.Actors[0].Short(); findings.OfLibrary(m.function) && !findings.OfLibrary(by) {
		guards = findings.Say("%s, called by %s,", m.function, by)
	}
	x.Headline = findings.Say("%s lets %s through at a time; others wait for it: %s in all", guards, few, quantity.Duration(total.Ns))
	x.Title = findings.Say("%s lets %s through at a time: %s; who is through spends %s of the time blocked %s", m.function, few, waited, quantity.Part(doing, m.held), what)
	x.Advise("Give %s more places if what it guards can take more at a time, or %s", m.function, hold)
	if k != nil && (k.in != m.function || k.has != m.function) {
		keeps, who, while := k.in, findings.Say("%s", k.in), "while it waits"
		switch {
		case k.in == m.function:
			keeps, who, while = k.has, findings.Say("%s", k.has), "while it waits for another"
		case k.has != k.in && k.has != m.function:
			who = findings.Say("%s, within %s,", k.in, k.has)
		}
		x.Headline = findings.Say("%s keeps places of %s; others wait for one: %s in all", keeps, m.function, quantity.Duration(total.Ns))
		x.Title = findings.Say("%s keeps places of %s, which lets %s through at a time, %s: %s; who is through spends %s of the time blocked %s",
			who, m.function, few, while, waited, quantity.Part(doing, m.held), what)
		if k.has != m.function {
			x.AdviseOnly("See whether %s needs its place while it waits in %s: if not, let it give the place up before, and take one again afterwards. If so, give %s more places if what it guards can take more at a time, or %s", k.has, k.in, m.function, hold)
		}
	}
	x.Measured("waits for a place", findings.Count(total.N), findings.Count(w.t.Count))
	x.Measured("their mean", findings.Time(total.Ns/max(1, total.N)), findings.Time(w.t.MeanNs))
	x.Measured("ended by one that had a place before", findings.PartOf(m.passed, total.N), findings.Share(w.t.Passed))
	x.Measured("in line, on average", findings.Number(m.line()), findings.Number(w.t.Line))
	x.Measured("time with such a line", findings.Share(f.Share(m.lined)).With(" of the duration").Of(m.lined), findings.Share(w.t.Share))
	x.Measured("places held by those that had waited, on average", findings.Number(m.slots()).Of(m.held))
	x.Measured("of that, blocked "+what, findings.PartOf(doing, m.held).Of(doing), findings.Share(w.t.Blocked))
	x.Advise("Where the limit is meant, admit or refuse work before it waits here, so that its callers know; more Ps do not help.")
	return []findings.Finding{x}
}
