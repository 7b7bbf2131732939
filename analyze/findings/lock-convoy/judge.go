package lockconvoy

import (
	"cmp"
	"slices"
	"strings"

	"github.com/gmpscope/gmpscope/analyze/findings"
)

func (w *watcher) Finish(f *findings.Facts) []findings.Finding {
	var locks []*lock
	byName := map[string]*lock{}
	for _, s := range w.sites {
		w.endRow(s, s.last)
		if s.rows == 0 {
			continue
		}
		name, ok := lockedIn(f.Frames(s.stack), s.handoffs >= w.t.Row)
		if !ok {
			continue
		}
		l := byName[name]
		if l == nil {
			l = &lock{name: name}
			byName[name] = l
			locks = append(locks, l)
		}
		l.sites = append(l.sites, s)
		l.cost += s.victims.Total.Ns
		l.held += s.holders.Total.Ns
		l.lined += s.lined
		l.longest = max(l.longest, s.lined)
	}
	slices.SortStableFunc(locks, func(x, y *lock) int {
		return cmp.Or(cmp.Compare(y.cost, x.cost), cmp.Compare(x.name, y.name))
	})
	var out []findings.Finding
	for _, l := range locks[:min(maxLocks, len(locks))] {
		if x, ok := w.finding(f, l); ok {
			out = append(out, x)
		}
	}
	return out
}

// maxLocks is how many locks are reported, the costliest ones.
const maxLocks = 2

// lock is the sites with the same function that locks: probably one lock.
type lock struct {
	name              string
	sites             []*site
	cost, held, lined int64
	longest           int64 // lined of one site: those of several may be at one time
}

// lockedIn returns the function that waits for a lock in a stack; not ok if the
// stack shows no lock, or one that others speak of: sync.Once is meant to be
// waited for, and Cond.Wait takes its lock again after a Broadcast. handed says
// that a stack with no names is known to be of a lock.
func lockedIn(frames []string, handed bool) (name string, ok bool) {
	lock := false
	for _, fr := range frames {
		fn, _, _ := strings.Cut(fr, " ")
		if strings.HasPrefix(fn, "sync.(*Once)") || strings.HasPrefix(fn, "sync.(*Cond)") {
			return "", false
		}
		if internal(fn) {
			lock = lock || findings.IsLock(fr)
			continue
		}
		if name == "" {
			name = fn
		}
	}
	return name, lock || len(frames) == 0 && handed
}

// internal says that a function is one of the packages that locks are made of.
func internal(fn string) bool {
	for _, p := range [...]string{"sync.", "internal/sync.", "internal/poll.", "runtime."} {
		if strings.HasPrefix(fn, p) {
			return true
		}
	}
	return false
}

// numbers are what a finding about one lock says: sums over its sites.
type numbers struct {
	*lock
	waits, handoffs          int64
	ran, slow, calls, queued int64             // ns of the holders, while the lock was held
	reasons                  [maxReasons]int64 // of slow, but for system calls
	worst                    *site
	share                    float64 // of the duration, with a line
	line                     float64 // goroutines in it, on average
	function                 string  // that locks
}

// finding is about one lock.
func (w *watcher) finding(f *findings.Facts, l *lock) (findings.Finding, bool) {
	s, ok := w.t.Grade.Severity(l.cost, f.RecordedNs())
	if !ok {
		return findings.Finding{}, false
	}
	n := numbers{lock: l, worst: l.sites[0], share: f.Share(l.longest), line: float64(l.cost) / float64(max(1, l.lined)), function: l.name}
	if s == findings.Critical && n.share < w.t.CriticalShare {
		s = findings.Warning
	}
	// The sites are few; the costliest of each kind stand for all.
	var victims, holders, slows []findings.Actor
	for _, t := range l.sites {
		n.add(t)
		victims = append(victims, t.victims.Actors(f, findings.Victim, 2)...)
		holders = append(holders, t.holders.Actors(f, findings.Cause, 2)...)
		slows = append(slows, t.slow.Actors(f, findings.Cause, 1)...)
	}
	if n.function == "" {
		n.function = victims[0].Class
	}
	x := findings.Finding{
		ID: ID, Severity: s, CostNs: l.cost, FromNs: n.worst.longFrom, ToNs: n.worst.end, Basis: findings.Inferred,
		Actors: slices.Concat(victims[:min(3, len(victims))], slows[:min(1, len(slows))], holders[:min(2, len(holders))]),
	}
	w.phrase(&x, &n)
	f.Doubt(&x)
	return x, true
}

func (n *numbers) add(t *site) {
	n.waits += t.victims.Total.N
	n.handoffs += t.handoffs
	n.ran += t.ran
	n.calls += t.calls
	n.queued += t.queued
	for r, ns := range t.reasons {
		n.reasons[r] += ns
		n.slow += ns
	}
	if t.longest > n.worst.longest {
		n.worst = t
	}
}
