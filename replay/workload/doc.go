// Package workload answers: what did the program want to do, whatever the
// scheduler made of it?
//
// An [Extractor] turns a stream of decisions, observed or simulated, into a
// [Workload]: what each goroutine does from its first step to its last, and what
// comes from outside at which time. A Workload is read-only and can be simulated
// any number of times ([Workload.Load]), under other rules.
//
// # What is work, and what is the scheduler's
//
//   - A goroutine computes as long as it runs. Where it was preempted, it
//     computes in one piece.
//   - It blocks, and somebody's wake-up lets it go on. A wake-up by a goroutine
//     is a step of that one: a send on an unlimited channel that only the woken
//     one receives from. It is not lost if it comes early; then nobody blocks.
//   - A wake-up by a timer ends a sleep, which is as long as it was, counted from
//     where it began (time.Sleep). What the network, or the runtime by itself,
//     wakes comes from outside at the time of the trace. Of a program that talks to itself
//     through the network, it comes not before the system call is done with which another
//     goroutine seems to have sent it; and with another GOMAXPROCS, then.
//   - A send on an unbuffered channel is a meeting: the first to come waits. Which channels
//     are such ones is inferred (unbuffered.go).
//   - A system call takes as long as it took, Gosched and the yield of a
//     semaphore's owner stay what they are (runtime/proc.go: goschedImpl,
//     goyield; sync.runtime_Semrelease).
//   - A goroutine that was there before the first decision comes from outside
//     when it is first seen to do something; one that is first seen when it is
//     woken, is created by who wakes it.
//   - Mark workers are no goroutines here: what they ran between the beginning
//     and the end of a cycle is the marking of that cycle. Suspensions for a
//     stack scan are part of the work.
//   - A stop-the-world comes from outside. What the goroutine that asked for it
//     runs meanwhile is not its work ([Workload.StopperNs]).
//   - Locking to a thread leaves no event. It shows when the locked goroutine
//     is handed a P, and is taken to have happened just before its last stop.
//
// # What is lost
//
// Which of several goroutines a lock or a buffered channel serves first, and whether a
// goroutine blocks there at all, depends on the schedule; in a Workload it is as it
// was. Changes of GOMAXPROCS come from outside, with a stop-the-world.
//
// It serves this module and is not stable: see package gmpscope.
package workload
