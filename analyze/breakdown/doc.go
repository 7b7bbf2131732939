// Package breakdown answers: what did the goroutines of a class do with their life? It
// is one of the accumulators of step 5 of [github.com/gmpscope/gmpscope/analyze].
//
// A goroutine's life is the time in which it existed while the trace was recorded. Each
// ns of it is in exactly one part of a [TimeByState]: running on a P, runnable, blocked for a
// [Reason], in a system call, or not known.
//
// # What counts where
//
//   - A system call counts as such until the goroutine is back, whether it kept its P or
//     not.
//   - A goroutine that the trace does not show being created existed from the beginning
//     of the trace. If its first event wakes it, it was blocked since then, for
//     a reason that is not recorded, for it blocked before: tracing would have shown any
//     event between. If its first event ends a system call, it was in that call. In all
//     other cases what it did before its first event is not known.
//   - A coroutine (iter.Pull) that was not yet switched to is in no Split: no decision
//     tells when it was created.
//   - The goroutine that a C thread is lent to call into Go begins and ends in a system
//     call, and no decision tells either: it counts as if it had been in system calls
//     from the beginning of the trace, and to its end.
//   - A gap in the trace ends the life of those that ran, were runnable or in a system
//     call: what became of them is not known, and so they begin anew if they are seen
//     again. What the others did from the beginning of the gap to its end is not known;
//     from its end on the rule of the beginning holds.
//   - A goroutine of which the trace shows nothing but that it is there, blocked all the
//     while, is in no Split.
//
// A life belongs to the class that the goroutine is known to have in the end.
package breakdown
