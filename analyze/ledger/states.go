package ledger

import "github.com/gmpscope/gmpscope/reference"

// MaxPs is the number of Ps with an account of their own. A damaged trace can name any P
// up to 2^31; those at or above MaxPs are left out of the account and counted, so that
// memory stays bounded.
const MaxPs = 4096

// State is the state of a P.
type State uint8

// The states of a P. At each instant a known P is in exactly one.
const (
	Idle        State = iota // no thread
	User                     // runs a goroutine of the program
	System                   // runs a goroutine of the runtime
	GC                       // runs a mark worker
	Tracer                   // runs a goroutine of the tracer
	Syscall                  // its goroutine is in a system call, and it was not retaken
	Sched                    // has a thread but runs no goroutine
	Stopped                  // stopped for a stop-the-world
	Unused                   // at or above GOMAXPROCS
	NotRecorded              // a gap in the trace, and until the P is seen after it

	NumStates = iota // number of states
)

var stateNames = [NumStates]string{
	"idle", "user", "system", "gc", "tracer", "syscall", "sched", "stopped", "unused", "not recorded",
}

// String returns a word for the state, such as "idle"; "invalid" if s is none.
func (s State) String() string {
	if s >= NumStates {
		return "invalid"
	}
	return stateNames[s]
}

// Running reports whether a P in this state runs a goroutine.
func (s State) Running() bool { return s >= User && s <= Tracer }

// Change is a change of a P's state. [States.Changes] returns them. From equals To where one
// goroutine directly followed another of its kind, and where a P became known as unused.
type Change struct {
	P        int32 // number of the P
	From, To State // states before and after the decision
}

// States tracks the states of the Ps along a stream of decisions. The zero value is ready
// to use.
//
// The rules:
//   - A P below GOMAXPROCS exists, idle, from the decision that set GOMAXPROCS
//     so high, though the trace may name it only later.
//   - A P counts as stopped only from a PStop for a stop-the-world, until it is
//     started or the world is. A P that was idle when the world stopped stays
//     idle in the account: it has no event, and had no work either.
//   - What a decision says about a P at or above GOMAXPROCS is believed while it
//     has a thread; without one it is unused.
//   - From a gap in the trace on, nothing is known of a P below GOMAXPROCS until a
//     decision says what it does.
type States struct {
	ps      []pstate      // by P; known only where pstate says so
	one     [1]Change     // of the last decision, if changed
	many    []Change      // its changes, if there can be more; reused
	said    said          // which of the two
	counts  [1 << 8]int32 // by State: as many as it can say, so that no bound is checked
	procs   int32         // GOMAXPROCS as the stream says
	tracked int32         // the same, at most MaxPs
	busy    int32         // Ps that mark, are stopped or not known
	usable  int64         // Usable

	maxProcs int32
	omitted  int64
}

// said is what the last decision meant for the states of the Ps.
type said uint8

const (
	same    said = iota
	changed      // of one
	changes      // of any number
)

// pstate has no pointers.
type pstate struct {
	state  State
	resume State // state to go back to at the end of a system call
	known  bool
}

// Apply updates the states of the Ps with the next decision of the stream.
func (t *States) Apply(d *reference.Decision) {
	switch d.Kind {
	case reference.KindStart:
		t.set(d.P, runState(d.Flags))
	case reference.KindStop:
		t.set(d.P, Sched)
	case reference.KindSyscall:
		t.enter(d)
	case reference.KindSyscallExit:
		t.leave(d)
	default:
		t.rare(d)
	}
}

// enter follows a KindSyscall, leave a KindSyscallExit.
func (t *States) enter(d *reference.Decision) {
	p := t.set(d.P, Syscall)
	if p == nil {
		return
	}
	p.resume = runState(d.Flags)
	if from := t.one[0].From; t.said == changed && from.Running() {
		p.resume = from
	}
}

func (t *States) leave(d *reference.Decision) {
	to := runState(d.Flags)
	if uint(d.P) < uint(len(t.ps)) && t.ps[uint(d.P)].state == Syscall {
		to = t.ps[uint(d.P)].resume
	}
	t.set(d.P, to)
}

// rare follows a decision of the other kinds.
func (t *States) rare(d *reference.Decision) {
	switch d.Kind {
	case reference.KindPStart:
		t.set(d.P, Sched)
	case reference.KindPStop:
		if d.Why == reference.WhySTW {
			t.set(d.P, Stopped)
		} else {
			t.set(d.P, t.without(d.P))
		}
	case reference.KindRetake:
		t.set(d.P, t.without(d.P))
	case reference.KindSTWEnd:
		t.restart()
	case reference.KindProcs:
		t.resize(d.Batch)
	case reference.KindLost:
		t.lose()
	default:
		t.said = same
	}
}

// without is the state of a P without a thread.
func (t *States) without(p int32) State {
	if p >= t.tracked {
		return Unused
	}
	return Idle
}

// calls follows system calls on a P, as [reference.BriefCalls] finds them. In the end
// the P runs the same goroutine. It reports false, and does nothing, if that did not
// run before: then each decision is to be applied.
func (t *States) calls(p int32) bool {
	if uint(p) >= uint(len(t.ps)) || t.ps[p].state != User {
		return false
	}
	t.ps[p].resume = User
	t.said = same
	return true
}

// Changes returns the changes of state by the last decision, in order of P. The slice is
// valid until the next one.
func (t *States) Changes() []Change {
	switch t.said {
	case changed:
		return t.one[:]
	case changes:
		return t.many
	}
	return nil
}

// Procs returns the current GOMAXPROCS; 0 before the stream has it.
func (t *States) Procs() int32 { return t.procs }

// Known returns one more than the highest number of a P known so far.
func (t *States) Known() int { return len(t.ps) }

// Count returns the number of known Ps in a state.
func (t *States) Count(s State) int64 { return int64(t.counts[s]) }

// Usable returns the number of Ps that could run goroutines of the program: those below
// GOMAXPROCS that are known, not stopped, and run no mark worker.
func (t *States) Usable() int64 { return t.usable }

// count follows a change of told or of counts.
func (t *States) count() {
	t.busy = t.counts[GC] + t.counts[Stopped] + t.counts[NotRecorded]
	t.usable = max(0, int64(t.tracked)-int64(t.busy))
}

// Omitted returns the number of Ps below the largest GOMAXPROCS without an account
// because they are at or above [MaxPs], and the number of times that the stream named
// such a P.
func (t *States) Omitted() (ps int32, mentions int64) {
	return max(0, t.maxProcs-MaxPs), t.omitted
}

func runState(f reference.Flags) State {
	switch {
	case f.OfProgram():
		return User
	case f&reference.FlagGC != 0:
		return GC
	case f&reference.FlagTracer != 0:
		return Tracer
	}
	return System
}

// at returns P's entry, and nil if there is none to be had.
func (t *States) at(p int32) *pstate {
	if uint(p) < uint(len(t.ps)) {
		return &t.ps[uint(p)]
	}
	return t.learn(p)
}

// learn returns the entry of a P that has none yet, and nil if there is none to be
// had.
func (t *States) learn(p int32) *pstate {
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

// set puts a P into a state, and returns its entry. It leaves the change in one.
func (t *States) set(id int32, s State) *pstate {
	t.said = same
	p := t.at(id)
	if p == nil {
		return nil
	}
	from := p.state
	if from != s || !p.known {
		if p.known {
			t.counts[from]--
		}
		t.counts[s]++
		p.known, p.state = true, s
		if t.counts[GC]+t.counts[Stopped]+t.counts[NotRecorded] != t.busy {
			t.count()
		}
	} else if !s.Running() {
		return p
	}
	c := &t.one[0]
	c.P, c.From, c.To = id, from, s
	t.said = changed
	return p
}

// setMany is set where others may follow.
func (t *States) setMany(id int32, s State) {
	if t.set(id, s); t.said == changed {
		t.many = append(t.many, t.one[0])
	}
	t.said = changes
}

// lose is for a gap in the trace: what the Ps do from now on is not known.
func (t *States) lose() {
	t.many, t.said = t.many[:0], changes
	for p := range t.ps {
		switch id := int32(p); {
		case t.ps[p].state == Unused:
		case id >= t.tracked:
			t.setMany(id, Unused)
		default:
			t.setMany(id, NotRecorded)
		}
	}
}

// restart makes the Ps idle that the start of the world left without a thread.
func (t *States) restart() {
	t.many, t.said = t.many[:0], changes
	for p := range t.ps {
		if t.counts[Stopped] == 0 {
			return
		}
		if t.ps[p].state == Stopped {
			t.setMany(int32(p), t.without(int32(p)))
		}
	}
}

// resize touches only the Ps between the old GOMAXPROCS and the new one.
func (t *States) resize(procs int32) {
	procs = max(0, procs)
	t.procs = procs
	t.many, t.said = t.many[:0], changes
	t.maxProcs = max(t.maxProcs, procs)
	old := t.tracked
	t.tracked = min(procs, MaxPs)
	for id := old; id < t.tracked; id++ {
		if p := t.at(id); p.state == Unused {
			t.setMany(id, Idle)
		}
	}
	for id := t.tracked; id < old; id++ {
		if s := t.ps[id].state; s == Idle || s == Stopped || s == NotRecorded {
			t.setMany(id, Unused)
		}
	}
	t.count()
}
