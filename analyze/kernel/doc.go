// Package kernel answers: did the threads that ran goroutines have a CPU, and who had it
// otherwise? A Go trace does not tell: a thread that the operating system takes off its
// CPU looks as if it ran. The records of the Linux scheduler do: sched_switch,
// sched_waking and sched_wakeup, as text from ftrace or perf script. The package is
// beside step 5 of [github.com/gmpscope/gmpscope/analyze]:
//
//   - [Reader] reads such text, line by line, and gives the records in the order of time.
//   - [Clock] finds out by which shift the times of both sides agree: the thread of an
//     event must have been on a CPU.
//   - [Accumulator] goes through the records in step with the decisions, and splits the running
//     time of each goroutine into that on a CPU and that off it, exactly; and what waits owe
//     to idle Ps into the runtime's part and the kernel's.
//
// Of the records only a window of some thousand is held at a time, and while the clocks
// are compared a quarter of a million of them.
//
// What a result holds is stable, the rest serves this module: see package gmpscope.
package kernel
