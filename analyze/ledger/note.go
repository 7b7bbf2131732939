package ledger

import "github.com/gmpscope/gmpscope/reference"

// Activity is what a goroutine does.
type Activity uint8

// The activities.
const (
	Unseen    Activity = iota // nothing is known of it
	Waiting                   // neither of the following: it is blocked, or came back from a system call without a P
	Runnable                  // it waits for a P
	Running                   // it runs on a P
	InSyscall                 // in a system call
)

// Changed specifies what is another after a decision than before.
type Changed uint16

// What can change.
const (
	Learned     Changed = 1 << iota // the class of a goroutine that was seen before, or that it is the runtime's
	OneP                            // the state of the decision's P, from From to To
	ManyPs                          // the states of any number of Ps: [Block.Changes]
	Counts                          // Note.Ps
	LocalLen                        // the length of the queue of the decision's P, now Decision.Local
	VictimLen                       // that of the victim's, which has lost one
	GlobalLen                       // that of the global queue, now Decision.Global
	RunnableNum                     // Note.Runnable
)

// Note is what the [Ledger] knows about a decision. It has no pointers, and two of them
// fit into a line of the CPU's cache.
type Note struct {
	// Since is when the goroutine came into the activity Was, which it had before the
	// decision, ns; 0 if it was Unseen. These two, Class and Flags mean nothing without
	// G, and in the notes of a KindMove and of annotations.
	Since    int64
	G        int32 // slot of the decision's goroutine; 0 is none
	Class    int32 // index in Block.Classes of the goroutine's class, as far as known by now
	Runnable int32 // goroutines that are runnable after the decision, in a queue or in none
	link     int32 // KindReady: slot of the waker; KindSyscall: calls that begin here; with ManyPs: the first in Block.changes
	many     uint16
	Changed  Changed
	Was      Activity
	From, To State           // of the P, with OneP
	Flags    reference.Flags // FlagSystem, FlagTracer and FlagGC, as far as they were told by now
}

// OfProgram reports whether the decision's goroutine belongs to the program.
func (n *Note) OfProgram() bool { return n.Flags == 0 }

// Ps are the numbers of Ps after a decision.
type Ps struct {
	Usable    int32 // could run goroutines of the program: [States.Usable]
	Idle      int32
	Unclaimed int32 // idle ones for which a goroutine stands in some queue
	Recorded  int32 // GOMAXPROCS, without those of which nothing is recorded
}

// Block is a row of decisions with their notes.
type Block struct {
	Decisions []reference.Decision
	Notes     []Note // of each decision
	Ps        []Ps   // for each note with Counts
	// Synthetic is how many of the decisions, at the beginning, only describe what there is when
	// a window of the stream begins.
	Synthetic int
	// Slots is more than any slot in the notes.
	Slots int32
	// Classes are the handles of all classes seen so far.
	Classes []int32
	// Known, Omitted and Mentions are [States.Known] and [States.Omitted] after the
	// block.
	Known    int
	Omitted  int32
	Mentions int64
	// OffCPU are run intervals that end in the block and lacked a CPU for a part of their
	// time, if that is known, in the order of their ends.
	OffCPU []OffCPU
	// CPUs is what the kernel's records tell of the time up to the end of the block.
	CPUs CPUs

	changes []Change
}

// OffCPU is how long the thread of a run interval [From, To) on P was on no CPU: Ns. Times
// are ns.
type OffCPU struct {
	P            int32
	From, To, Ns int64
}

// Waker returns the slot of the goroutine that made that of decision number i runnable;
// 0 is none.
func (b *Block) Waker(i int) int32 {
	if b.Decisions[i].Kind != reference.KindReady {
		return 0
	}
	return b.Notes[i].link
}

// Calls returns how many decisions from number i on are brief system calls of one
// goroutine of the program, which ran before and runs after them: one KindSyscall and
// one KindSyscallExit in turns. Mostly it is 0.
func (b *Block) Calls(i int) int {
	if b.Decisions[i].Kind != reference.KindSyscall {
		return 0
	}
	return int(b.Notes[i].link)
}

// Changes returns the changes that decision number i meant for any number of Ps, in
// the order of the Ps.
func (b *Block) Changes(i int) []Change {
	n := &b.Notes[i]
	if n.Changed&ManyPs == 0 {
		return nil
	}
	return b.changes[n.link : n.link+int32(n.many)]
}
