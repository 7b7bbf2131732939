// Package ledger answers: whose decision is it, and what did it change? It is step 4
// of [github.com/gmpscope/gmpscope/analyze]: it follows each goroutine, each P and the
// lengths of the run queues once, and writes for the accumulators, which keep their own
// sums only, a [Note] beside each decision, and into its [Block] the intervals that end
// with it.
//
// # Goroutines
//
// A goroutine has a slot from the first decision about it (a ready, a start, a stop,
// or a system call's begin or end) to its end. Slots are small numbers from 1 on; a
// slot that is free goes to the next goroutine, so a table indexed by slot is as long
// as the most goroutines that were alive at one time. Its record holds what is known of
// the goroutine: its activity and since when, its class, and whether it belongs to the
// program. The latter two may become known late; [Learned] marks the decision that
// tells them. [Turned] marks the end of an activity: who adds up what goroutines do
// needs nothing but these notes.
//
// # Ps
//
// [States] has the rules. A [PInterval] ends with each change of a P's state; those that
// are open at the end of the stream come with [Ledger.Close]. A note has how many Ps are
// usable and idle after its decision.
//
// # Brief system calls
//
// A row of system calls of one running goroutine that kept its P, and while which
// nothing else happened ([reference.BriefCalls]), is marked at its first note; who
// wants to takes them all at once.
package ledger
