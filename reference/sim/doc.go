// Package sim answers: what would the Go scheduler do with this work?
//
// It is a deterministic discrete-event simulator of the scheduler of Go 1.22 to
// 1.27, with every mechanism replaceable, and of the designs before and beside
// it ([PolicyNames]). The run queues and their numbers are those of package
// reference ([reference.Queues], [reference.Rules]); this package adds who puts
// and dequeues when. Its output is that of an observed run, a stream of
// [reference.Decision], so both are analysed by the same code.
//
// # A run
//
//  1. The workload: [Arrivals] from outside (goroutines, network, stop-the-worlds,
//     cycles of the garbage collector), asked for one at a time; and a [Script]
//     for each goroutine, asked for one step at a time ([Op]). Goroutines wait
//     for each other through a [Chan]. None of it depends on the scheduler, but a
//     Script may look at the clock.
//  2. [Options]: a [Policy], its [Costs], GOMAXPROCS, a seed.
//  3. [Simulate] returns a [Result], with an account for each class of goroutines.
//
// Memory follows the goroutines that are alive and the events that are pending.
//
// # How it works
//
// A thread (M) is a small state machine that has at most one event pending: the
// end of a piece of computing or of a system call, the end of a search among
// other Ps, its wake-up. sysmon is a thread, too. What happens at an event
// happens at one instant, and events of one instant happen in the order in which
// they were made. So the only chance is the order in which thieves visit their
// victims, and which of the measured costs is drawn, and that comes from the seed.
//
// The scheduler is a set of functions that are named as the runtime's, in
// runtime/proc.go of Go 1.22 to 1.27 unless a comment names another file. Each gets
// the state of the run, with the thread, P or goroutine that it is about:
//
//   - goroutine.go: what a goroutine does while it runs, and how it stops
//     (newproc, gopark, goschedImpl, preemptone).
//   - runq.go: into which queue it is put (ready, runqput, runqputslow, injectglist).
//   - findrunnable.go, steal.go: how a thread finds the next one (schedule,
//     findRunnable, execute; stealWork, runqsteal).
//   - thread.go: which thread is woken, and which parks (wakep, startm, stopm,
//     handoffp, stoplockedm, startlockedm).
//   - syscall.go: system calls (entersyscall, exitsyscall).
//
// Parts with state of their own are types:
//
//   - netpoll.go: netpoller, and timers (netpoll, timers.check, wakeNetPoller).
//   - sysmon.go: sysmon (sysmon, retake).
//   - gc.go: gcController, the mark workers as load from outside (gcController).
//   - world.go: world, a stop-the-world (stopTheWorldWithSema, procresize).
//   - workload.go: workload, the clock, the goroutines and the account.
//   - fluid.go: fluid, ideal fair sharing of a workload without any of the above.
//
// What the model leaves out is said in lab/docs/textbook.md, at the end.
package sim
