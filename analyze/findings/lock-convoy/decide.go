package lockconvoy

import (
	"cmp"
	"math"
	"slices"
	"strings"

	"github.com/gmpscope/gmpscope/analyze/findings"
	"github.com/gmpscope/gmpscope/internal/std"
)

func (w *watcher) Finish(f *findings.Facts) []findings.Finding {
	for _, s := range slices.Clone(w.unsettled) {
		w.settle(s)
	}
	w.releases = findings.NewTable(math.MaxInt, func(stack int32) release {
		r := release{frames: holding(f, stack)}
		r.function, r.place = findings.InnermostFunction(r.frames, f.Tested)
		return r
	})
	locks := findings.NewTable(maxSites, func(findings.Name) lock { return lock{} })
	var short []*site // without long waits
	for _, s := range w.sites.List {
		w.endRow(s, s.last)
		if s.rows == 0 {
			short = append(short, s)
			continue
		}
		name, ok := lockedIn(f, s.stack, s.handoffs >= w.t.Row)
		if !ok {
			continue
		}
		by := w.heldIn(f, s)
		l := locks.At(cmp.Or(by, name))
		if len(l.sites) == 0 {
			l.name, l.by = name, by
		}
		l.sites = append(l.sites, s)
		l.cost += s.victims.Total.Ns
		l.waited += s.waited
		l.lined += s.lined
		l.longest = max(l.longest, s.lined)
	}
	for _, s := range short {
		if name, ok := lockedIn(f, s.stack, false); ok {
			if l := locks.Find(name); l != nil {
				l.waited += s.waited
			}
		}
	}
	slices.SortStableFunc(locks.List, func(x, y *lock) int {
		return cmp.Or(cmp.Compare(y.cost, x.cost), cmp.Compare(x.by, y.by), cmp.Compare(x.name, y.name))
	})
	return findings.Each(f, locks.List[:min(maxLocks, len(locks.List))], w.finding)
}

// maxLocks is how many locks are reported, the costliest ones.
const maxLocks = 2

// lock is the sites that had to wait for the same function most: probably one lock.
type lock struct {
	name        findings.Name // of the function that waits at the first site
	by          findings.Name // of the one that held the lock longest meanwhile, "" if unknown
	sites       []*site
	cost, lined int64
	waited      int64 // as cost, shorter waits included
	longest     int64 // lined of one site: those of several may be at one time
}

// heldIn is the function that held the lock for most of the time for which goroutines
// waited at s, "" if it is unknown.
func (w *watcher) heldIn(f *findings.Facts, s *site) (most findings.Name) {
	held := map[findings.Name]int64{}
	for _, h := range s.holders {
		name := w.releases.At(h.stack).function
		if marks(f, h) {
			name = "" // who held it is not known
		}
		if held[name] += h.held; held[name] > held[most] || most == "" {
			most = name
		}
	}
	return most
}

// release is what is known of a stack at which a lock was given up: what holding and
// InnermostFunction return.
type release struct {
	frames   []string
	function findings.Name
	place    string
}

// marks reports whether a holder is a mark worker of the garbage collector: those hold no lock.
func marks(f *findings.Facts, h *holder) bool {
	return strings.HasPrefix(string(f.Name(h.class)), "runtime.gcBgMarkWorker")
}

// holding is the stack of one that holds the lock which it gives up at a stack: without the
// library's functions, and others, that do no more than unlock.
func holding(f *findings.Facts, stack int32) []string {
	frames := f.Frames(stack)
	for i, fr := range frames {
		function := findings.FunctionOf(fr)
		if !findings.OfLibrary(function) && !strings.HasSuffix(strings.ToLower(function), "unlock") {
			return frames[i:]
		}
	}
	return frames
}

// which reports which lock goroutines wait for at a stack: the runtime does not show it, but a
// function of the standard library that locks has its own. It is empty for those of package testing,
// which are nobody's fault.
func which(frames []string) findings.Text {
	for _, fr := range frames {
		function := findings.FunctionOf(fr)
		switch pkg, _ := std.Split(function); {
		case pkg == "sync" || pkg == "internal/sync" || pkg == "runtime":
		case pkg == "testing":
			return nil
		case pkg == "internal/poll":
			return findings.Say("the lock of a file or connection")
		case pkg == "syscall" && findings.Through(frames, "syscall.forkExec"):
			return findings.Say("syscall.ForkLock")
		case std.Has(pkg):
			return findings.Say("the lock in %s", findings.Name(function))
		default:
			return findings.Say("a lock")
		}
	}
	return findings.Say("a lock")
}

// lockedIn returns the function that waits for a lock in a stack; not ok if the
// stack shows no lock, or one that others speak of: sync.Once is meant to be
// waited for, and Cond.Wait takes its lock again after a Broadcast. handed says
// that a stack with no names is known to be of a lock.
func lockedIn(f *findings.Facts, stack int32, handed bool) (name findings.Name, ok bool) {
	frames := f.Frames(stack)
	if findings.IsOnce(frames) || slices.ContainsFunc(frames, func(fr string) bool { return strings.HasPrefix(fr, "sync.(*Cond)") }) {
		return "", false
	}
	name, _ = f.ProgramsFunction(stack)
	return name, findings.IsLock(frames) && which(frames) != nil || len(frames) == 0 && handed
}

// evidence is what a finding about one lock says: sums over its sites.
type evidence struct {
	*lock
	did
	waits, handoffs int64
	worst           *site
	share           float64 // of the duration, with a line
	line            float64 // goroutines in it, on average
	chief           chief
	what            findings.Text   // which lock
	slowIn          findings.Name   // where the chief was held up, if that is another function
	slowOurs        bool            // and that is the program's own
	keeper          *findings.Actor // whose run kept the timer of a holder longest, if holders slept for such timers most of the time
	waiters         []findings.Name // functions in which they wait
}

// chief is the function that held the lock longest while others waited.
type chief struct {
	function findings.Name
	place    string
	findings.Actor
	did
}

// finding is about one lock.
func (w *watcher) finding(f *findings.Facts, l *lock) []findings.Finding {
	s, ok := w.t.Grade.Severity(l.cost, f.RecordedNs())
	if !ok {
		return nil
	}
	n := evidence{lock: l, worst: l.sites[0], share: f.Share(l.longest), line: float64(l.cost) / float64(max(1, l.lined))}
	if s == findings.Critical && n.share < w.t.CriticalShare {
		s = findings.Warning
	}
	var victims []findings.Actor
	for _, t := range l.sites {
		n.add(w, f, t)
		victims = append(victims, t.victims.Actors(f, findings.Victim, 2)...)
	}
	if n.name == "" {
		n.name = findings.Name(victims[0].Class)
	}
	if n.chief.function == "" {
		n.chief.function = findings.Name(n.chief.Class)
	}
	x := findings.Finding{
		Severity: s, CostNs: l.cost, FromNs: n.worst.longFrom, ToNs: n.worst.end, Basis: findings.Inferred, Feigned: findings.ByStall,
		Actors: append(victims[:min(3, len(victims))], l.holders(f)...),
	}
	if 2*n.late > n.held {
		n.keeper = new(n.kept.Actor(f, findings.Cause))
		if doing := w.view.Doing(f, n.kept.Class); doing != nil {
			n.keeper.Stack = doing
		}
		x.Actors = append(x.Actors, *n.keeper)
	}
	w.phrase(f, &x, &n)
	return []findings.Finding{x}
}

func (n *evidence) add(w *watcher, f *findings.Facts, t *site) {
	n.waits += t.victims.Total.N
	n.handoffs += t.handoffs
	if name, _ := f.ProgramsFunction(t.stack); name != "" && !slices.Contains(n.waiters, name) {
		n.waiters = append(n.waiters, name)
	}
	for _, h := range t.holders {
		n.did.add(&h.did)
		at := w.releases.At(h.stack)
		if at.function != n.by || marks(f, h) {
			continue
		}
		c := &n.chief
		if h.longest.Ns > c.longest.Ns {
			c.place = at.place
			a := f.Class(findings.Cause, h.class)
			a.Stack = at.frames
			c.Actor = *a.AtInnermost()
		}
		c.function = at.function
		c.did.add(&h.did)
	}
	if t.longest > n.worst.longest {
		n.worst = t
	}
}

func (d *did) add(x *did) {
	d.held += x.held
	d.ran += x.ran
	d.calls += x.calls
	d.queued += x.queued
	d.yielded += x.yielded
	d.late += x.late
	d.blocked += x.blocked
	d.reasons.Merge(&x.reasons)
	d.longest.KeepLonger(&x.longest)
	d.slow.KeepLonger(&x.slow)
	d.kept.KeepLonger(&x.kept)
}

// mostHolders is how many holders of a lock are reported.
const mostHolders = 2

// holders are who held the lock longest while others waited, after what held them up
// longest.
func (l *lock) holders(f *findings.Facts) (out []findings.Actor) {
	var most []*holder
	for _, s := range l.sites {
		most = append(most, s.holders...)
	}
	most = slices.DeleteFunc(most, func(h *holder) bool { return marks(f, h) })
	slices.SortStableFunc(most, func(x, y *holder) int {
		return cmp.Or(cmp.Compare(y.held, x.held), cmp.Compare(x.stack, y.stack), cmp.Compare(x.class, y.class))
	})
	most = most[:min(mostHolders, len(most))]
	var slow findings.Cell
	for _, h := range most {
		slow.KeepLonger(&h.slow)
	}
	if slow.Ns > 0 {
		out = append(out, slow.Actor(f, findings.Cause))
	}
	for _, h := range most {
		out = append(out, h.longest.Actor(f, findings.Cause))
	}
	return out
}
