package replay

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/gmpscope/gmpscope/internal/quantity"
	"github.com/gmpscope/gmpscope/reference"
)

// holds finds out what goroutines do while they hold a mutex. A lock that is
// taken without waiting leaves no event, so most of it is not in a trace. What
// shows is who was off its P, preempted or blocked, while it held one: that one
// wakes up who waits for the mutex, and nobody else did since.
type holds struct {
	frames func(stack int32) []string
	names  map[int32]string // by stack: who locks the mutex; "" if it is none
	gs     map[int64]*holder
	locks  map[string]*held
	// blocked is for how long goroutines were blocked, by stack, in ns.
	blocked map[int32]int64
}

// holder is a goroutine.
type holder struct {
	off     absence // the last one
	away    bool    // it lasts
	since   int64   // it runs
	run     int64
	lock    string // that it waits for
	blocked int64  // since when
	sliced  int64
}

// absence is a time in which a goroutine was not running, nor waiting for a
// mutex.
type absence struct {
	why      reference.Why
	stack    int32
	from, to int64 // until it was runnable again or, where it always was, ran
	held     bool  // it is known to have held a mutex
}

// held is what is known of the mutexes that a function locks.
type held struct {
	name   string
	woke   int64 // when somebody was woken last who waited for it
	users  map[int64]bool
	sliced int64           // preemptions of one that held it
	at     map[int32]int64 // by stack at which one blocked that held it: how often
}

// A mutex is told of where one that held it was preempted so many times, or
// blocked so many times at one place.
const (
	fewSlices = 3
	fewBlocks = 2
)

// maxHolders bounds the memory for goroutines, and maxStacks that for places.
const (
	maxHolders = 1 << 20
	maxStacks  = 1 << 16
)

func newHolds(frames func(int32) []string) *holds {
	return &holds{frames: frames, names: map[int32]string{}, gs: map[int64]*holder{}, locks: map[string]*held{}, blocked: map[int32]int64{}}
}

// mutex returns the name of the mutex at which a stack waits; "" if it is none.
func (h *holds) mutex(stack int32) string {
	s, ok := h.names[stack]
	if !ok && len(h.names) < maxStacks {
		s = locker(h.frames(stack))
		h.names[stack] = s
	}
	return s
}

func (h *holds) lock(name string) *held {
	l := h.locks[name]
	if l == nil {
		l = &held{name: name, users: map[int64]bool{}, at: map[int32]int64{}}
		h.locks[name] = l
	}
	return l
}

func (h *holds) add(d *reference.Decision) {
	if d.G < 0 || !d.Flags.OfProgram() {
		return
	}
	x := h.gs[d.G]
	if x == nil {
		if len(h.gs) == maxHolders {
			return
		}
		x = &holder{since: -1}
		h.gs[d.G] = x
	}
	switch d.Kind {
	case reference.KindStart:
		if x.away && x.off.why == reference.WhySlice {
			x.off.to = d.Time
		}
		x.since, x.away, x.lock = d.Time, false, ""
	case reference.KindStop:
		if x.since >= 0 {
			x.run += d.Time - x.since
		}
		x.since, x.lock = -1, ""
		switch {
		case d.Why == reference.WhyBlock && d.Reason == reference.ReasonSync && h.mutex(d.Stack) != "":
			x.lock, x.blocked = h.mutex(d.Stack), d.Time
			h.lock(x.lock).users[d.G] = true
		case d.Why == reference.WhyBlock || d.Why == reference.WhySlice:
			x.off, x.away = absence{why: d.Why, stack: d.Stack, from: d.Time, to: d.Time}, true
			if d.Why == reference.WhySlice {
				x.sliced++
			}
		}
	case reference.KindReady:
		switch {
		case x.lock != "":
			h.woken(x, d)
		case x.away && x.off.why == reference.WhyBlock:
			x.off.to = d.Time
			if _, ok := h.blocked[x.off.stack]; ok || len(h.blocked) < maxStacks {
				h.blocked[x.off.stack] += x.off.to - x.off.from
			}
		}
	}
}

// woken looks at who wakes up x, which waited for a mutex.
func (h *holds) woken(x *holder, d *reference.Decision) {
	l := h.lock(x.lock)
	by := h.gs[d.By]
	before := l.woke
	l.woke = d.Time
	if by == nil || by.away || by.off.held {
		return
	}
	// From then on x waited, so that a release would have shown.
	since := max(x.blocked, by.off.from)
	if by.off.to == by.off.from || since > by.off.to || before > since {
		return
	}
	by.off.held = true
	l.users[d.By] = true
	if by.off.why == reference.WhySlice {
		l.sliced++
	} else if len(l.at) < maxStacks {
		l.at[by.off.stack]++
	}
}

// serial is what must be done one after the other, for all that is known, because
// of the mutexes of one function.
type serial struct {
	name     string
	ns       int64  // computing and blocking
	held, of int64  // preemptions of one that held it, of its users
	blocked  string // where one was blocked that held it, for the most part
}

// serials estimates how long all mutexes of each function were held, longest
// first. Preemptions at the end of a time slice come at any time, whatever the goroutine holds: the
// part of them that hit one with the mutex is the part of the computing that is
// done under it. Who held it while it was blocked at a place is taken to hold it
// always there. Mutexes of one function count as one.
func (h *holds) serials() []serial {
	var out []serial
	for _, l := range h.locks {
		s := serial{name: l.name, held: l.sliced}
		run := int64(0)
		for g := range l.users {
			if x := h.gs[g]; x != nil {
				s.of += x.sliced
				run += x.run
			}
		}
		if l.sliced >= fewSlices {
			s.ns = int64(float64(run) * float64(l.sliced) / float64(s.of))
		}
		most := int64(0)
		for stack, n := range l.at {
			if n < fewBlocks {
				continue
			}
			s.ns += h.blocked[stack]
			if f := h.frames(stack); h.blocked[stack] > most && len(f) > 0 {
				most = h.blocked[stack]
				s.blocked, _, _ = strings.Cut(f[0], " ")
			}
		}
		if s.ns > 0 {
			out = append(out, s)
		}
	}
	slices.SortFunc(out, func(a, b serial) int { return cmp.Or(cmp.Compare(b.ns, a.ns), strings.Compare(a.name, b.name)) })
	return out
}

// notes reports what the mutexes do to a what-if with more Ps, and returns the
// least makespan that they allow, as far as is known, in ns: no more than the one
// observed.
func (h *holds) notes(makespan int64) (least int64, notes []string) {
	if h == nil {
		return 0, nil
	}
	all := h.serials()
	for _, s := range all[:min(len(all), 3)] {
		s.ns = min(s.ns, makespan)
		least = max(least, s.ns)
		var why []string
		if s.held >= fewSlices {
			why = append(why, fmt.Sprintf("%d of %d preemptions of its users hit one that held it", s.held, s.of))
		}
		if s.blocked != "" {
			why = append(why, "goroutines were blocked in "+s.blocked+" that held it")
		}
		notes = append(notes, fmt.Sprintf("the mutex that %s locks was held for about %s (inferred: %s): what is done under it is done one after the other, and with more Ps the whole takes at least that long, if it is one mutex", s.name, quantity.Duration(s.ns), strings.Join(why, ", and ")))
	}
	return least, notes
}
