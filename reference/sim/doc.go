// Package sim answers: what would the Go scheduler do with this work?
//
// It is a deterministic discrete-event simulator of the scheduler of Go 1.22 to
// 1.27, with every mechanism replaceable, and of the designs before and beside
// it ([PolicyNames]). The run queues and their numbers are those of package
// reference ([reference.Queues], [reference.Rules]); this package adds who puts
// and takes when. It tells what it does in the words of an observed run, as a
// stream of [reference.Decision], so that whatever judges the one judges the
// other.
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
// The files follow the runtime's functions, which their comments name; those are
// in runtime/proc.go of Go 1.22 to 1.27 unless said otherwise:
//
//   - run.go: what a goroutine does while it runs, and how it stops
//     (newproc, gopark, goschedImpl, preemptone).
//   - put.go: into which queue it is put (ready, runqput, runqputslow, injectglist).
//   - find.go, steal.go: how a thread finds the next one (schedule, findRunnable,
//     stealWork, runqgrab, execute).
//   - thread.go: who is woken, and who parks (wakep, startm, stopm, handoffp,
//     resetspinning, stoplockedm, startlockedm).
//   - syscall.go: system calls (reentersyscall, exitsyscall).
//   - sysmon.go: sysmon, retake.
//   - poll.go: network poller and timers (netpoll, timers.check, wakeNetPoller).
//   - world.go, gc.go: stop-the-worlds and mark workers, as load from outside
//     (stopTheWorldWithSema, procresize, gcController).
//   - fluid.go: ideal fair sharing, which needs none of this but the load.
//
// What the model leaves out is said in lab/docs/textbook.md, at the end.
package sim
