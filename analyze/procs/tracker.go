package procs

import "github.com/gmpscope/gmpscope/reference"

// MaxPs is the number of Ps that are told apart. A damaged trace can name any
// P up to 2^31; those at or above MaxPs are left out of the account and
// counted, so that memory stays bounded.
const MaxPs = 4096

// State is what a P does.
type State uint8

// The states of a P. At each instant a known P is in exactly one.
const (
	Idle    State = iota // no thread
	User                 // runs a goroutine of the program
	System               // runs a goroutine of the runtime
	GC                   // runs a mark worker
	Tracer               // runs a goroutine of the tracer
	Syscall              // its goroutine is in a system call, and it was not retaken
	Sched                // has a thread but runs no goroutine
	Stopped              // stopped for a stop-the-world
	Unused               // at or above GOMAXPROCS
	numStates
)

var stateNames = [numStates]string{
	"idle", "user", "system", "gc", "tracer", "syscall", "sched", "stopped", "unused",
}

func (s State) String() string {
	if s >= numStates {
		return "invalid"
	}
	return stateNames[s]
}

// Running reports whether a P in this state runs a goroutine.
func (s State) Running() bool { return s >= User && s <= Tracer }

// Change says that a P went from one state to another. From equals To where
// one goroutine directly followed another of its kind, and where a P became
// known as unused.
type Change struct {
	P        int32
	From, To State
}

// Tracker follows the states of the Ps and the lengths of the queues along a
// stream of decisions, so that the rules are written once. Several accumulators
// may read one Tracker: somebody then applies each decision to it just before
// they get it. The zero value is not ready: use [NewTracker].
//
// The rules:
//   - A P below GOMAXPROCS exists, idle, from the decision that set GOMAXPROCS
//     so high, though the trace may name it only later.
//   - A P counts as stopped only from a PStop for a stop-the-world, until it is
//     started or the world is. A P that was idle when the world stopped stays
//     idle in the account: it has no event, and had no work either.
//   - What a decision says about a P at or above GOMAXPROCS is believed while it
//     has a thread; without one it is unused.
type Tracker struct {
	ps       []pstate // by P; known only where pstate says so
	changes  []Change // of the last decision; reused
	counts   [numStates]int32
	procs    int32 // GOMAXPROCS as the stream says
	n        int32 // the same, at most MaxPs
	usable   int64 // Usable
	global   int32
	queued   int64 // sum of all queue lengths
	runnable int64

	maxProcs int32
	omitted  int64
}

// pstate is 12 bytes, without pointers.
type pstate struct {
	local  int32
	state  State
	resume State // state to go back to at the end of a system call
	known  bool
}

// NewTracker returns a Tracker that knows no P.
func NewTracker() *Tracker { return &Tracker{changes: make([]Change, 0, 64)} }

// Apply follows one decision and returns the changes of state that it means,
// in order of P. The slice is valid until the next call.
func (t *Tracker) Apply(d *reference.Decision) []Change {
	t.changes = t.changes[:0]
	var to State
	switch d.Kind {
	case reference.KindReady:
		t.runnable++
		t.lengths(d)
		return nil
	case reference.KindMove:
		t.lengths(d)
		return nil
	case reference.KindStart:
		// A goroutine that the trace shows running first was never counted.
		if d.Flags&reference.FlagFirst == 0 && t.runnable > 0 {
			t.runnable--
		}
		t.lengths(d)
		to = runState(d.Flags)
	case reference.KindStop, reference.KindPStart:
		to = Sched
	case reference.KindSyscall:
		to = Syscall
	case reference.KindSyscallExit:
		to = runState(d.Flags)
	case reference.KindPStop:
		to = Idle
		if d.Why == reference.WhySTW {
			to = Stopped
		}
	case reference.KindRetake:
		to = Idle
	case reference.KindSTWEnd:
		t.restart()
		return t.changes
	case reference.KindProcs:
		t.resize(d.Batch)
		return t.changes
	case reference.KindLost:
		t.forget()
		return nil
	default:
		return nil
	}
	p := t.at(d.P)
	if p == nil {
		return nil
	}
	switch {
	case to == Syscall:
		p.resume = p.state
		if !p.state.Running() {
			p.resume = runState(d.Flags)
		}
	case p.state == Syscall && d.Kind == reference.KindSyscallExit:
		to = p.resume
	}
	t.set(p, d.P, to)
	return t.changes
}

// Calls follows system calls on a P, as [reference.BriefCalls] finds them. In the end
// the P runs the same goroutine. It reports false, and does nothing, if that did not
// run before: then each decision is to be applied.
func (t *Tracker) Calls(p int32) bool {
	if uint32(p) >= uint32(len(t.ps)) || t.ps[p].state != User {
		return false
	}
	t.ps[p].resume = User
	t.changes = t.changes[:0]
	return true
}

// Changes returns once more what the last Apply returned.
func (t *Tracker) Changes() []Change { return t.changes }

// Procs returns GOMAXPROCS as the stream gave it last, and 0 before that.
func (t *Tracker) Procs() int32 { return t.procs }

// Known returns the number of Ps from 0 to the highest known one.
func (t *Tracker) Known() int { return len(t.ps) }

// Count returns how many known Ps are in a state.
func (t *Tracker) Count(s State) int64 { return int64(t.counts[s]) }

// Usable returns how many Ps could run goroutines of the program: those below
// GOMAXPROCS, without those that run a mark worker or are stopped.
func (t *Tracker) Usable() int64 { return t.usable }

// count follows a change of n or of counts.
func (t *Tracker) count() {
	t.usable = max(0, int64(t.n)-int64(t.counts[GC])-int64(t.counts[Stopped]))
}

// Global returns the length of the global run queue.
func (t *Tracker) Global() int32 { return t.global }

// Local returns the length of a P's local run queue, ring plus runnext.
func (t *Tracker) Local(p int32) int32 {
	if uint32(p) >= uint32(len(t.ps)) {
		return 0
	}
	return t.ps[p].local
}

// Queued returns the sum of the lengths of all queues.
func (t *Tracker) Queued() int64 { return t.queued }

// Runnable returns the number of runnable goroutines, in a queue or in none.
func (t *Tracker) Runnable() int64 { return t.runnable }

// Omitted returns how many Ps below the largest GOMAXPROCS are not told apart
// because they are at or above [MaxPs], and how many times the stream named
// such a P, below GOMAXPROCS or not.
func (t *Tracker) Omitted() (ps int32, mentions int64) {
	return max(0, t.maxProcs-MaxPs), t.omitted
}

func runState(f reference.Flags) State {
	switch {
	case f&reference.FlagGC != 0:
		return GC
	case f&reference.FlagTracer != 0:
		return Tracer
	case f&reference.FlagSystem != 0:
		return System
	}
	return User
}

// at returns P's entry, and nil if there is none to be had.
func (t *Tracker) at(p int32) *pstate {
	if uint32(p) < uint32(len(t.ps)) {
		return &t.ps[p]
	}
	return t.learn(p)
}

// learn returns the entry of a P that has none yet, and nil if there is none to be
// had.
func (t *Tracker) learn(p int32) *pstate {
	if p < 0 {
		return nil
	}
	if p >= MaxPs {
		t.omitted++
		return nil
	}
	for int(p) >= len(t.ps) {
		t.ps = append(t.ps, pstate{state: Unused})
	}
	return &t.ps[p]
}

// set puts P id, whose entry is p, into a state.
func (t *Tracker) set(p *pstate, id int32, s State) {
	if s == Idle && id >= t.n {
		s = Unused
	}
	from := p.state
	if p.known {
		if from == s && !s.Running() {
			return
		}
		t.counts[from]--
	}
	p.known = true
	p.state = s
	t.counts[s]++
	t.count()
	t.changes = append(t.changes, Change{P: id, From: from, To: s})
}

// lengths takes the lengths that the decision gives, and infers the one that
// it does not: the queue that the goroutine left is shorter by one.
func (t *Tracker) lengths(d *reference.Decision) {
	t.queued += int64(max(0, d.Global)) - int64(t.global)
	t.global = max(0, d.Global)
	if p := t.at(d.P); p != nil {
		t.setLocal(p, d.Local)
	}
	if d.Victim >= 0 && d.Victim != d.P && takenFromVictim(d) {
		if p := t.at(d.Victim); p != nil {
			t.setLocal(p, p.local-1)
		}
	}
	// Those in queues are runnable: heals the count where the stream starts
	// goroutines that it had not shown as ready.
	t.runnable = max(t.runnable, t.queued)
}

func takenFromVictim(d *reference.Decision) bool {
	switch d.Kind {
	case reference.KindMove:
		return true
	case reference.KindStart:
		return d.Src == reference.SrcSteal || d.Src == reference.SrcStealRunnext
	}
	return false
}

func (t *Tracker) setLocal(p *pstate, n int32) {
	n = max(0, n)
	t.queued += int64(n) - int64(p.local)
	p.local = n
}

// forget empties the queues: who was in them is not known any more.
func (t *Tracker) forget() {
	t.runnable, t.queued, t.global = 0, 0, 0
	for i := range t.ps {
		t.ps[i].local = 0
	}
}

// restart makes the Ps idle that the start of the world left without a thread.
func (t *Tracker) restart() {
	for p := range t.ps {
		if t.counts[Stopped] == 0 {
			return
		}
		if t.ps[p].state == Stopped {
			t.set(&t.ps[p], int32(p), Idle)
		}
	}
}

// resize touches only the Ps between the old GOMAXPROCS and the new one.
func (t *Tracker) resize(procs int32) {
	procs = max(0, procs)
	t.procs = procs
	t.maxProcs = max(t.maxProcs, procs)
	old := t.n
	t.n = min(procs, MaxPs)
	for id := old; id < t.n; id++ {
		if p := t.at(id); p.state == Unused {
			t.set(p, id, Idle)
		}
	}
	for id := t.n; id < old; id++ {
		if p := &t.ps[id]; p.state == Idle || p.state == Stopped {
			t.set(p, id, Unused)
		}
	}
	t.count()
}
