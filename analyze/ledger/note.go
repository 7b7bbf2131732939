package ledger

import "github.com/gmpscope/gmpscope/reference"

// Activity is the state of a goroutine.
type Activity uint8

// The activities.
const (
	Unseen    Activity = iota // nothing is known of it
	Waiting                   // neither of the following: it is blocked, or came back from a system call without a P
	Runnable                  // it waits for a P
	Running                   // it runs on a P
	InSyscall                 // in a system call
)

// Changed is a set of what a decision changed.
type Changed uint8

// What can change.
const (
	Learned  Changed = 1 << iota // the class of a goroutine that was seen before, or that it is the runtime's
	Counts                       // Block.Ps
	Turned                       // activity of the decision's goroutine, from Was to Now
	Returned                     // likewise, as it came back from a system call
	Gap                          // a gap in the trace begins: the state is unknown from here on
)

// Note is the [Ledger]'s annotation of a decision. It has no pointers, and two of them
// fit into a line of the CPU's cache.
type Note struct {
	// Since is the time, in ns, at which the goroutine entered Was, its activity before the
	// decision; 0 if Unseen. With Turned, that interval ends here. These two, Class and Flags
	// mean nothing without G, and in the note of a KindMove.
	Since    int64
	G        int32 // slot of the decision's goroutine; 0 is none
	Class    int32 // index in Block.Classes of the goroutine's class, as far as known by now
	Runnable int32 // goroutines that are runnable after the decision, in a queue or in none
	link     int32 // KindReady: slot of the waker; KindStart: stack of the wait; KindSyscall: calls that begin here
	more     int32 // KindReady: P on which the waker runs; KindStart: the Place of link
	Changed  Changed
	Was      Activity
	Now      Activity        // with Turned; Unseen if it has ended
	Flags    reference.Flags // FlagSystem, FlagTracer and FlagGC, as known so far
}

// OfProgram reports whether the decision's goroutine belongs to the program.
func (n *Note) OfProgram() bool { return n.Flags == 0 }

// Ps are counts of Ps after a decision.
type Ps struct {
	Usable    int32 // could run goroutines of the program: [States.Usable]
	Idle      int32
	Unclaimed int32 // idle ones for which a goroutine stands in some queue
	Recorded  int32 // GOMAXPROCS, without those of which nothing is recorded
}

// Block is a sequence of decisions with their notes.
type Block struct {
	Decisions []reference.Decision
	Notes     []Note // of each decision
	Ps        []Ps   // for each note with Counts
	// PIntervals are the intervals of Ps that end in the block, in the order of their ends.
	PIntervals []PInterval
	// Runs are the run intervals that end in the block, in the order of their ends; none without
	// Ledger.Runs.
	Runs []Run
	// Blocked are the blocked intervals of the goroutines that became runnable in the block, in that
	// order.
	Blocked []Blocked
	// Lengths are the changes of queue lengths, in the order of the decisions.
	Lengths []Length
	// Rare are the indices of the decisions that change no goroutine's activity and no queue's
	// length, without annotations.
	Rare []int32
	// Synthetic is the number of decisions, at the beginning, that only describe the state at
	// the beginning of a window.
	Synthetic int
	// End is the time of the last decision, ns, or the end of the stream if that ends with the block.
	End int64
	// Slots is an upper bound, exclusive, of the slots in the notes.
	Slots int32
	// Classes are the handles of all classes seen so far.
	Classes []int32
	// Known, Omitted and Mentions are [States.Known] and [States.Omitted] after the
	// block.
	Known    int
	Omitted  int32
	Mentions int64
	// OffCPU are the run intervals that end in the block and lacked a CPU for a part of their
	// time, as far as known, in the order of their ends.
	OffCPU []OffCPU
	// CPUs is the use of the CPUs up to the end of the block, by the kernel's records.
	CPUs CPUs
}

// PInterval is an interval [From, To), ns, in which a P was in one state, and what it did next. Those
// of a P follow one another without a gap, from the first decision on that shows it.
type PInterval struct {
	From, To int64
	P        int32 // below MaxPs
	At       int32 // index in the block of the decision that ended it; len(Decisions) at the end of the stream
	State    State // of the first of a P, which has no length, Unused
	Next     State // State where one goroutine directly followed another of its kind, and at the end of the stream
}

// Run is an interval [From, To), ns, in which a goroutine ran on a P. A system call ends one; when
// the goroutine goes on, another begins.
type Run struct {
	From, To int64
	G        int64
	M        int64 // thread; reference.NoM if unknown
	Wait     int64 // before its start, ns; -1 if unknown
	P        int32
	At       int32            // index in the block of the decision that ended it; len(Decisions) at the end of the stream
	Slot     int32            // of the goroutine
	Class    int32            // index in Block.Classes, as known at the end
	Started  bool             // it began with a start: not with the return from a system call
	Src      reference.Source // of the start
	Why      reference.Why    // why it ended; reference.WhyUnknown at the end of the stream, too
	Flags    reference.Flags  // of the goroutine, as those of a Note
}

// Blocked is an interval [From, To), ns, in which a goroutine was blocked. A system call is none.
type Blocked struct {
	From, To   int64
	G          int64
	At         int32            // index in the block of the decision that made it runnable
	Class      int32            // index in Block.Classes
	Stack      int32            // where it blocked: a handle; 0 if that is not known
	WakerClass int32            // index in Block.Classes, if there is a Block.Waker
	Why        reference.Why    // it stopped: WhyBlock, WhySuspend or WhyCoroutine
	Reason     reference.Reason // what it waited for
}

// Place is the meaning of the stack of a goroutine that does not run.
type Place uint8

// The places.
const (
	NoPlace   Place = iota // there is no stack: the trace does not say
	StoppedAt              // where it stopped, or called the operating system
	Created                // the go statement: it has not run yet
)

// Length is a change of a queue's length to N goroutines at Time, in ns.
type Length struct {
	Time int64
	At   int32 // index in the block of the decision that made it so
	Of   int32 // P of the queue, below MaxPs; or one of the following
	N    int32
}

// Values of [Length].Of other than Ps.
const (
	GlobalQueue int32 = -1 - iota // length of the global run queue
	AllRunnable                   // number of runnable goroutines: Note.Runnable
)

// OffCPU is a run interval [From, To) on P whose thread was on no CPU for Ns. Times are
// ns.
type OffCPU struct {
	P            int32
	From, To, Ns int64
}

// Waker returns the slot of the goroutine that made the goroutine of decision i runnable;
// 0 is none.
func (b *Block) Waker(i int) int32 {
	if b.Decisions[i].Kind != reference.KindReady {
		return 0
	}
	return b.Notes[i].link
}

// WakerP returns the P on which the Waker of decision i runs, or reference.NoP.
func (b *Block) WakerP(i int) int32 {
	if b.Waker(i) == 0 {
		return reference.NoP
	}
	return b.Notes[i].more
}

// Stack returns the handle of the stack at which the goroutine that decision i starts had
// stopped, or was created; 0 is none.
func (b *Block) Stack(i int) (int32, Place) {
	if b.Decisions[i].Kind != reference.KindStart {
		return 0, NoPlace
	}
	return b.Notes[i].link, Place(b.Notes[i].more)
}

// Calls returns the number of decisions from index i on that are brief system calls of
// one running goroutine of the program: KindSyscall and KindSyscallExit in turns. It is
// mostly 0.
func (b *Block) Calls(i int) int {
	if b.Decisions[i].Kind != reference.KindSyscall {
		return 0
	}
	return int(b.Notes[i].link)
}
