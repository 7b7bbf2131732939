// Package ledger answers: whose decision is it, and what did it change? It is step 4
// of [github.com/gmpscope/gmpscope/analyze]: it follows each goroutine, each P and the
// lengths of the run queues once, and writes for the accumulators, which keep their own
// sums only, a [Note] beside each decision, and into its [Block] the intervals that end
// with it.
//
// A goroutine has a slot from the first decision about it (a ready, a start, a stop,
// or a system call's begin or end) to its end. Slots are small numbers from 1 on; a
// slot that is free goes to the next goroutine, so a table indexed by slot is as long
// as the most goroutines that were alive at one time. [States] has the rules of the Ps.
package ledger
