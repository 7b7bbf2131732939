package fullsemaphore

import (
	"cmp"
	"maps"
	"slices"
	"strings"

	"github.com/gmpscope/gmpscope/analyze/findings"
	"github.com/gmpscope/gmpscope/internal/std"
	"github.com/gmpscope/gmpscope/reference"
)

func (w *watcher) Finish(f *findings.Facts) []findings.Finding {
	var all []*semaphore
	at := map[string]*semaphore{}
	homeOf := func(stack int32) string { return guard(f.Frames(stack)) }
	for _, s := range w.sites {
		function := homeOf(s.wait)
		if function == "" {
			continue
		}
		m := at[function]
		if m == nil {
			m = &semaphore{function: function, stack: s.wait}
			at[function] = m
			all = append(all, m)
		}
		// Whoever makes room in a channel in the same function had a place, whether it
		// had to wait for it or not.
		waited := s.got != 0 && homeOf(s.got) == function
		m.reasons[min(s.reason, maxReasons-1)] = true
		m.add(s, waited, s.reason == reference.ReasonChanSend && homeOf(s.leave) == function)
	}
	slices.SortStableFunc(all, func(x, y *semaphore) int {
		return cmp.Or(cmp.Compare(y.waits.Total.Ns, x.waits.Total.Ns), cmp.Compare(x.function, y.function))
	})
	for _, m := range all {
		if x, ok := w.assess(f, m); ok {
			return []findings.Finding{x}
		}
	}
	return nil
}

// semaphore is what a function takes places of.
type semaphore struct {
	function string
	stack    int32            // of a wait
	reasons  [maxReasons]bool // for which goroutines wait
	waits    findings.Tally
	passed   int64 // waits that one ended who had had a place
	held     int64 // for how long those had it who had waited for it, ns
	blocked  [maxReasons]int64
	in       map[holding]int64
	lined    int64 // ns in which somebody waited
	lines    []*line
}

// holding is where one of a class that had a place was blocked, and where it had waited for the
// place.
type holding struct{ blocked, class, got int32 }

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
	for i, ns := range s.blocked {
		m.blocked[i] += ns
	}
	for _, x := range s.in {
		if m.in == nil {
			m.in = map[holding]int64{}
		}
		m.in[holding{x.stack, x.class, s.got}] += x.ns
	}
}

// keeper is those that keep a place while they are blocked: the function in which they are, and
// the one that has the place: what the stacks of the wait for it and of this one have in common
// innermost.
type keeper struct {
	in, has string
	class   int32
	stack   int32 // where they are blocked
	ns      int64
}

// keeps returns who keeps places longest, nil where less than half is known to be there.
func (m *semaphore) keeps(f *findings.Facts) *keeper {
	type at struct{ in, has string }
	all := map[at]*keeper{}
	var best *keeper
	for _, h := range slices.SortedFunc(maps.Keys(m.in), func(x, y holding) int {
		return cmp.Or(cmp.Compare(x.blocked, y.blocked), cmp.Compare(x.class, y.class), cmp.Compare(x.got, y.got))
	}) {
		blocked := (&findings.Actor{Class: f.Name(h.class), Stack: f.Frames(h.blocked)}).AtInnermost()
		p := at{home(blocked.Short()), home(findings.Common(blocked.Stack, f.Frames(h.got)))}
		if p.has == "" || p.in == "" {
			continue
		}
		k := all[p]
		if k == nil {
			k = &keeper{p.in, p.has, h.class, h.blocked, 0}
			all[p] = k
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
func guard(frames []string) string {
	for _, fr := range frames {
		function, _, _ := strings.Cut(fr, " ")
		switch pkg, _ := std.Split(function); {
		case pkg == "testing":
			return "" // the places of t.Parallel
		case pkg == "runtime", pkg == "sync", strings.HasPrefix(pkg, "internal/"), strings.HasPrefix(pkg, "golang.org/x/sync/"):
		default:
			return home(function)
		}
	}
	return ""
}

// home is the function in which a literal stands.
func home(function string) string {
	for {
		i := strings.LastIndex(function, ".")
		if i < 0 {
			return function
		}
		last := function[i+1:]
		if rest := strings.TrimPrefix(strings.TrimPrefix(last, "deferwrap"), "func"); rest == last || strings.Trim(rest, "0123456789") != "" {
			return function
		}
		function = function[:i]
	}
}

// slots is some number of places: how long they were held, while somebody waited.
func (m *semaphore) slots() float64 { return float64(m.held) / float64(max(1, m.lined)) }

// line is how many waited, on average while one did.
func (m *semaphore) line() float64 { return float64(m.waits.Total.Ns) / float64(max(1, m.lined)) }

func (w *watcher) assess(f *findings.Facts, m *semaphore) (findings.Finding, bool) {
	total := m.waits.Total
	s, ok := w.t.Grade.Severity(total.Ns, f.RecordedNs())
	if !ok || total.N < w.t.Count || total.Ns < w.t.MeanNs*total.N || m.line() < w.t.Line || f.Share(m.lined) < w.t.Share {
		return findings.Finding{}, false
	}
	if m.reasons[reference.ReasonChanSend] && m.reasons[reference.ReasonChanReceive] {
		return findings.Finding{}, false // they hand something over: a place in a channel is taken or given without a wait
	}
	if float64(m.passed) < w.t.Passed*float64(total.N) {
		return findings.Finding{}, false // who ends the waits is not one who had a place
	}
	if doing, _ := m.most(); float64(doing) < w.t.Blocked*float64(m.held) || m.held == 0 {
		return findings.Finding{}, false
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
		cause := f.Class(findings.Cause, k.class)
		cause.Stack = f.Frames(k.stack)
		x.Actors = append(x.Actors, cause)
	}
	w.phrase(f, &x, m, k)
	return x, true
}
