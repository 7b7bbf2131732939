// Package stacks answers: where in the program had goroutines stopped that then waited,
// and where were they made runnable again? It is one of the accumulators of step 5 of
// [github.com/gmpscope/gmpscope/analyze].
//
// A wait belongs to one [Place] and stack, with all its time by cause:
//
//   - [Stopped]: where its goroutine had stopped before it became runnable. It blocked
//     there, yielded, was preempted, or called the operating system.
//   - [Created]: the go statement that created it, if it has not run yet.
//   - [NotRecorded]: the trace does not say. It was blocked when the trace began, or its
//     stack is lost.
//
// So the waiting of the rows of a class sums to that of the class in package waits,
// exactly: in total, by cause, and in number.
//
// Blocked time is that from a stop to the decision that makes the goroutine runnable, or
// to the end of the stream. Time in system calls is none.
//
// # Bounds
//
// Pairs of class and stack have an account each, up to [Options.Pairs]; the waiting at
// further ones goes to the [Others] of their class. The [Result] has as many stacks as
// cover 99 % of the waiting, and of the blocked time, within bounds; all else is in the
// rows of Others, so that sums stay exact.
//
// What a result holds is stable, the rest serves this module: see package gmpscope.
package stacks
