package ledger

import "github.com/gmpscope/gmpscope/reference"

// Activity is what a goroutine does, as far as the scheduler is concerned.
type Activity uint8

// What a goroutine can do.
const (
	Unseen    Activity = iota // nothing is known of it
	Waiting                   // it is blocked, or has come back from a system call without a P
	Runnable                  // it waits for a P
	Running                   // it runs on a P
	InSyscall                 // in a system call
)

// Changed is a set of bits that tell what a decision changed, in a [Note].
type Changed uint8

// What a decision can change.
const (
	Learned  Changed = 1 << iota // the class of a goroutine that was seen before, or that it is the runtime's
	Counts                       // the counts of Ps: Block.Ps has the new ones
	Turned                       // activity of the decision's goroutine, from Was to Now
	Returned                     // the activity as in Turned, by the return from a system call
	Gap                          // a gap in the trace begins: the state is unknown from here on
)

// Note is the [Ledger]'s annotation of a decision: whose decision it is, and what it changed. It has
// no pointers, and two of them fit into a line of the CPU's cache.
type Note struct {
	// Since is the time, in ns, at which the goroutine entered Was, its activity before the
	// decision; 0 if that is Unseen. With Turned, that interval ends here. Since, Was, Class and
	// Flags mean nothing without G, and in the note of a KindMove.
	Since    int64
	G        int32           // slot of the decision's goroutine, a small number that only this live one has; 0 is none
	Class    int32           // index in Block.Classes of the goroutine's class, as far as known by now
	Runnable int32           // number of goroutines that are runnable after the decision, in a queue or in none
	link     int32           // KindReady: slot of the waker; KindStart: stack of the wait; KindSyscall: calls that begin here
	more     int32           // KindReady: P on which the waker runs; KindStart: the Place of link
	Changed  Changed         // what the decision changed
	Was      Activity        // activity of the goroutine before the decision
	Now      Activity        // with Turned: its activity after it; Unseen if it has ended
	Flags    reference.Flags // FlagSystem, FlagTracer and FlagGC, as known so far
}

// OfProgram reports whether the decision's goroutine belongs to the program.
func (n *Note) OfProgram() bool { return n.Flags == 0 }

// Ps are numbers of Ps after a decision.
type Ps struct {
	Usable    int32 // those that could run goroutines of the program, as States.Usable counts them
	Idle      int32 // those that are idle
	Unclaimed int32 // idle ones for which a goroutine stands in some queue: at most as many as are queued
	Recorded  int32 // GOMAXPROCS less those of which nothing is recorded
}

// Block is a sequence of decisions with their notes, and the intervals that end with these. A
// [Ledger] makes one after the other, which accumulators read.
type Block struct {
	Decisions []reference.Decision
	Notes     []Note // Notes[i] belongs to Decisions[i]
	Ps        []Ps   // one for each note with Counts, in their order
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
	// Classes are the handles of all classes seen so far: the Class of a reference.Decision. The
	// Class of a Note, a Run, a Blocked or a Live is an index of it.
	Classes []int32
	// Known, Omitted and Mentions are the results of [States.Known] and [States.Omitted] after
	// the block.
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
	From, To int64 // ns since the first event of the trace
	P        int32 // number of the P, below MaxPs
	At       int32 // index in the block of the decision that ended it; len(Decisions) at the end of the stream
	State    State // of the first of a P, which has no length, Unused
	Next     State // State where one goroutine directly followed another of its kind, and at the end of the stream
}

// Run is an interval [From, To), ns, in which a goroutine ran on a P. A system call ends one; when
// the goroutine goes on, another begins.
type Run struct {
	From, To int64            // ns since the first event of the trace
	G        int64            // ID of the goroutine
	M        int64            // ID of the thread; reference.NoM if unknown
	Wait     int64            // how long G had waited for a P before, ns; -1 if unknown
	P        int32            // number of the P on which it ran
	At       int32            // index in the block of the decision that ended it; len(Decisions) at the end of the stream
	Slot     int32            // slot of the goroutine, as in Note.G
	Class    int32            // index in Block.Classes, as known at the end
	Started  bool             // it began with a start: not with the return from a system call
	Src      reference.Source // with Started: where the P took the goroutine from
	Why      reference.Why    // why it ended; reference.WhyUnknown also at the end of the stream
	Flags    reference.Flags  // of the goroutine, as those of a Note
}

// Blocked is an interval [From, To), ns, in which a goroutine was blocked. A system call is none.
type Blocked struct {
	From, To   int64            // ns since the first event of the trace
	G          int64            // ID of the goroutine
	At         int32            // index in the block of the decision that made it runnable
	Class      int32            // index in Block.Classes
	Stack      int32            // handle of the stack at which it blocked; 0 if that is not known
	WakerClass int32            // class of the goroutine that woke it, an index in Block.Classes, if Block.Waker of At is not 0
	Why        reference.Why    // why it stopped: WhyBlock, WhySuspend or WhyCoroutine
	Reason     reference.Reason // what it waited for
}

// Place specifies what the stack of [Block.Stack] shows of the goroutine that a decision of KindStart
// starts: where it had stopped, or the go statement that created it.
type Place uint8

// The values of a Place, for the goroutine that a KindStart starts.
const (
	NoPlace   Place = iota // not known: the trace has no stack
	StoppedAt              // the stack at which it stopped, or made a system call
	Created                // the stack of the go statement that created it: it has not run yet
)

// Length is a change of a run queue's length, or of the number of runnable goroutines.
type Length struct {
	Time int64 // ns since the first event of the trace
	At   int32 // index in the block of the decision that changed it
	Of   int32 // P of the local run queue, below MaxPs; or GlobalQueue or AllRunnable
	N    int32 // number of goroutines after it
}

// Values of Length.Of other than Ps.
const (
	GlobalQueue int32 = -1 - iota // N is the length of the global run queue
	AllRunnable                   // N is the number of runnable goroutines, in a queue or in none
)

// OffCPU is a run interval whose thread was on no CPU for a part of it, by the kernel's records.
type OffCPU struct {
	P            int32 // number of the P on which the goroutine ran
	From, To, Ns int64 // the run interval is [From, To), ns since the first event of the trace; its thread had no CPU for Ns, in ns
}

// Waker returns the slot of the goroutine that made another runnable with decision i of the block; 0 if
// no live goroutine did, or the decision is of another kind than KindReady.
func (b *Block) Waker(i int) int32 {
	if b.Decisions[i].Kind != reference.KindReady {
		return 0
	}
	return b.Notes[i].link
}

// WakerP returns the P on which the goroutine of [Block.Waker] runs at decision i; reference.NoP if it
// runs on none, or there is no such goroutine.
func (b *Block) WakerP(i int) int32 {
	if b.Waker(i) == 0 {
		return reference.NoP
	}
	return b.Notes[i].more
}

// Stack returns the handle of the stack at which the goroutine that decision i of the block starts had
// stopped, or was created, and which of the two; 0 and NoPlace if that is not known, or the decision is
// of another kind than KindStart.
func (b *Block) Stack(i int) (int32, Place) {
	if b.Decisions[i].Kind != reference.KindStart {
		return 0, NoPlace
	}
	return b.Notes[i].link, Place(b.Notes[i].more)
}

// Calls returns the number of decisions from index i of the block on that are brief system calls of one
// running goroutine of the program: KindSyscall and KindSyscallExit in turns. A reader may take them
// all at once. It is mostly 0.
func (b *Block) Calls(i int) int {
	if b.Decisions[i].Kind != reference.KindSyscall {
		return 0
	}
	return int(b.Notes[i].link)
}
