// Package reference answers: what would the Go scheduler do?
//
// It holds the vocabulary of the scheduler, the rules of its run queues with
// the parameters of each Go version, and [Decision], the record in which both
// an observed trace and a simulated run are recorded. It imports nothing outside
// the standard library, so that both the analysis of traces and the replay of
// workloads can be driven by the same rules. The simulator in package sim below
// drives them with choices of its own.
//
// [RulesFor] has the rules of a version of Go. [Queues] steps run queues by them, for the
// packages of this module; package gmpscope says what is stable.
//
// # Words
//
// Every word is the runtime's own. Function names are those of
// GOROOT/src/runtime, Go 1.22 to 1.27, unless said otherwise.
//
//   - G, M, P: goroutine, operating-system thread, and the right to run Go code
//     (runtime2.go: g, m, p). GOMAXPROCS is the number of Ps.
//   - runnext: the slot of a P for one goroutine that runs before the P's queue
//     and inherits the running time slice (p.runnext, runqput with next=true).
//   - local run queue: a P's ring of 256 goroutines (p.runq). Its length here
//     counts the ring and runnext together.
//   - global run queue: the one list that all Ps share (sched.runq).
//   - overflow: a put on a full ring moves half of it and the newcomer, 129
//     goroutines, to the global queue (runqputslow).
//   - global batch: a P with an empty local queue takes
//     min(128, n, n/GOMAXPROCS+1) goroutines from the global queue, runs the
//     first and keeps the rest (globrunqget, globrunqgetbatch).
//   - 61st tick: every 61st time slice a P looks at the global queue first
//     (findRunnable, schedtick%61).
//   - steal: a P without work takes the older half of another P's ring, and
//     runs the newest of what it took (stealWork, runqsteal, runqgrab); its
//     runnext only if the ring is empty.
//   - retake: sysmon takes the P away from a thread that stays in a system call
//     (retake); handoff: that P is given to another thread (handoffp).
//   - preemption: a running goroutine is made to yield (preemptone), after a
//     time slice of 10 ms, for a stop-the-world, for the garbage collector or
//     for the tracer.
//   - wait: the time of one goroutine from Runnable to Running. Run interval:
//     from Running to the next other state.
package reference
