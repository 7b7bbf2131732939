package fullsemaphore

import (
	"cmp"
	"slices"
	"strings"

	"github.com/gmpscope/gmpscope/analyze/findings"
	"github.com/gmpscope/gmpscope/reference"
)

func (w *watcher) Finish(f *findings.Facts) []findings.Finding {
	var all []*semaphore
	at := map[string]*semaphore{}
	homes := map[int32]string{}
	homeOf := func(stack int32) string {
		if stack == 0 {
			return ""
		}
		h, ok := homes[stack]
		if !ok {
			function, _ := findings.Own(f.Frames(stack))
			h = home(function)
			homes[stack] = h
		}
		return h
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
		passed := s.got != 0 && homeOf(s.got) == function || s.reason == reference.ReasonChanSend && homeOf(s.leave) == function
		m.add(s, passed)
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
	lined    int64 // ns in which somebody waited
	lines    []*line
}

func (m *semaphore) add(s *site, passed bool) {
	m.waits.Merge(&s.waits)
	if !slices.Contains(m.lines, s.line) {
		m.lines = append(m.lines, s.line)
		m.lined += s.line.lined
	}
	if !passed {
		return
	}
	m.passed += s.waits.Total.N
	m.held += s.held
	for i, ns := range s.blocked {
		m.blocked[i] += ns
	}
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
