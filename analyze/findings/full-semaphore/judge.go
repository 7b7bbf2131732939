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
	homeOf := func(stack int32) string {
		function, _ := f.Own(stack)
		return home(function)
	}
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
		m.add(s, waited, s.reason == reference.ReasonChanSend && homeOf(s.leave) == function)
	}
	slices.SortStableFunc(all, func(x, y *semaphore) int {
		return cmp.Or(cmp.Compare(y.waits.Total.Ns, x.waits.Total.Ns), cmp.Compare(x.function, y.function))
	})
	for _, m := range all {
		if x, ok := w.judge(f, m); ok {
			return []findings.Finding{x}
		}
	}
	return nil
}

// semaphore is what a function takes places of.
type semaphore struct {
	function string
	stack    int32 // of a wait
	waits    findings.Tally
	passed   int64 // waits that one ended who had had a place
	held     int64 // for how long those had it who had waited for it, ns
	blocked  [maxReasons]int64
	in       map[holding]int64
	lined    int64 // ns in which somebody waited
	lines    []*line
}

// holding is where one that had a place was blocked, and where it had waited for the place.
type holding struct{ blocked, got int32 }

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
		m.in[holding{x.stack, s.got}] += x.ns
	}
}

// keeps returns the function that keeps a place while it waits, and the one in which it does:
// what the stacks of the two waits have in common innermost, and the innermost of the second.
// They are "" where the one for the place is no other, or less than half is known to be there.
func (m *semaphore) keeps(f *findings.Facts) (keeper, in string) {
	type pair struct{ keeper, in string }
	ns := map[pair]int64{}
	var best pair
	for _, h := range slices.SortedFunc(maps.Keys(m.in), func(x, y holding) int {
		return cmp.Or(cmp.Compare(x.blocked, y.blocked), cmp.Compare(x.got, y.got))
	}) {
		blocked := f.Frames(h.blocked)
		p := pair{keeper: home(common(blocked, f.Frames(h.got)))}
		p.in, _ = f.Own(h.blocked)
		if p.keeper == "" || p.keeper == m.function {
			continue
		}
		if ns[p] += m.in[h]; ns[p] > ns[best] {
			best = p
		}
	}
	if 2*ns[best] < m.held {
		return "", ""
	}
	return best.keeper, best.in
}

// common is the innermost function of the program that two stacks of a goroutine share, from
// the start function on; "" if there is none.
func common(x, y []string) (function string) {
	for i := 1; i <= min(len(x), len(y)); i++ {
		name, _, _ := strings.Cut(x[len(x)-i], " ")
		other, _, _ := strings.Cut(y[len(y)-i], " ")
		if name != other {
			break
		}
		if pkg, _ := std.Split(name); !std.Has(pkg) {
			function = findings.Short(name)
		}
	}
	return function
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

func (w *watcher) judge(f *findings.Facts, m *semaphore) (findings.Finding, bool) {
	total := m.waits.Total
	s, ok := w.t.Grade.Severity(total.Ns, f.RecordedNs())
	if !ok || total.N < w.t.Count || total.Ns < w.t.MeanNs*total.N || m.line() < w.t.Line || f.Share(m.lined) < w.t.Share {
		return findings.Finding{}, false
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
		ID: ID, Severity: s, CostNs: total.Ns, FromNs: total.From, ToNs: total.To, Basis: findings.Inferred,
		Actors: m.waits.Actors(f, findings.Victim, 2),
	}
	cause := f.Class(findings.Cause, m.waits.Top(1)[0].Class)
	cause.Stack = f.Frames(m.stack)
	x.Actors = append(x.Actors, cause)
	w.phrase(f, &x, m)
	return x, true
}
