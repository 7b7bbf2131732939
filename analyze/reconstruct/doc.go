// Package reconstruct is step 3 of the pipeline: from what the trace shows to
// what the scheduler did.
//
// An event goes through these layers, each a type that knows those above it only:
//
//	[Reconstructor]  enters it at the head of the window and links it to what belongs
//	                 to it on its thread and P, and to the start of its goroutine (enter.go)
//	lookahead        answers what the events say, up to the head: who starts this goroutine,
//	                 and what does its thread do before that? (window.go, lookahead.go,
//	                 processors.go, idle.go)
//	requests         who may have asked a goroutine to stop: forEachP, enlistWorker, sysmon
//	                 (foreachp.go, mark_workers.go, preempt.go)
//	model            what the queues hold, how sure that is, and what the look-ahead says of it:
//	                 queues of package reference (model.go, taint.go, outlook.go); it tells nothing,
//	                 and a copy of it goes on alone
//	output           the decisions, in order, though some are told only later (output.go)
//	corrections      moves against the rules, where an event shows that the model is wrong
//	                 (corrections.go)
//	explainer        how a goroutine came from one queue to the next: the plain rules in
//	                 explainer.go, dequeue_global.go and steal.go; where they leave it open, hypotheses
//	judge            what the event did: a table by kind and states in judge.go, and a
//	                 function for each in dequeue.go, enqueue.go, procs.go, stop.go …
//
// A put follows from the event that makes a goroutine runnable (enqueue_target.go); a
// take shows itself when the goroutine starts (dequeue.go). Between the take and its start
// the thread may lose its CPU, so others seem to pass over what has already left. What may
// have happened in between are the hypotheses: rows of a table (hypotheses.go), each with
// a file that looks for it. Most decide by evidence of the look-ahead. Those that cannot
// propose choices, and copies of the judge go on with each (forks.go).
//
// A steal, for example: goroutine 10 stands in P 0's ring, behind 9, and starts on P 1
// (judge.start). The model has it in another P's ring, so explainer.dequeue calls steal: P 1
// has nothing of its own, nobody else is on the way with what stands in front (firstStolen),
// nor with what stands behind (stolenBehind), and 2 are the half of a ring of 3 or 4
// (runqgrab). So 2 were stolen, which needs no hypothesis, and is called inferred:queue.
// Had 40 stood there, 2 would be no half: unseen-steal looks for a thief that took more before and
// has not started what it took. Its steal is settled now, long before its start, which then
// only tells what is known (wait.dequeued), and is called inferred:passed.
//
// A hypothesis comes in at one of four places: before an enqueue (displace, overflows); at a
// dequeue (dequeueGlobal, steal); where a start contradicts the model (passOver); or when
// what was put off is due (settleDue). One with state has it in a field of explainer, which
// link and copyFrom know.
//
// Every decision says how it is known.
//
// A constant stands with what it is for and says where it is from: a function of the runtime,
// or recordings with truth (package truth). "Half or twice: nothing" is said where half the value
// and twice that were tried on all recordings in lab/truth/testdata, of 259,000 starts, and of
// no workload a rate changed by 0.02 points: sources, steals, lengths, causes of preemptions, and how
// many starts are uncertain or certain and wrong.
//
// To read it, begin with judge.go, then enqueue.go and dequeue.go, which end in explainer.go,
// dequeue_global.go and steal.go; then one hypothesis, such as overflow_order.go, with forks.go.
//
// Names are the runtime's: g is the index of a goroutine, p of a P and m of a thread, and gp,
// pp and mp are what is known of them. rec is an event in the window, i the running number
// of one, and other another of what the function is about. nobody is no index, none no
// event, and reference.None no goroutine of a queue.
//
// To add a Go version or a hypothesis, see CONTRIBUTING.md; lab/docs/hypotheses.md says what
// each is worth.
//
// It serves this module and is not stable: see package gmpscope.
package reconstruct
