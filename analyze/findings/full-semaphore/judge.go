package fullsemaphore

import (
	"cmp"
	"slices"
	"strings"

	"github.com/gmpscope/gmpscope/analyze/findings"
)

func (w *watcher) Finish(f *findings.Facts) []findings.Finding {
	var all []*semaphore
	at := map[string]*semaphore{}
	for _, s := range w.sites {
		wait, place := findings.Own(f.Frames(s.wait))
		leave, _ := findings.Own(f.Frames(s.leave))
		if wait == "" || home(wait) != home(leave) {
			continue // who makes room is not one who had a place
		}
		m := at[home(wait)]
		if m == nil {
			m = &semaphore{function: home(wait), place: place}
			at[m.function] = m
			all = append(all, m)
		}
		m.add(s)
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

// semaphore is what a function takes places of, and gives them up again.
type semaphore struct {
	function, place string
	site
	stack int32 // of a wait
}

func (m *semaphore) add(s *site) {
	m.waits.Merge(&s.waits)
	m.lined += s.lined
	m.held += s.held
	for i, ns := range s.blocked {
		m.blocked[i] += ns
	}
	if m.stack == 0 {
		m.stack = s.wait
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
