// Package reconstruct is step 3 of the pipeline: from what the trace shows to
// what the scheduler did.
//
// The [Reconstructor] has a linker, which enters events at the head of the window and links them to
// the others of their thread, P and goroutine, and a stepper, which handles those at its tail. A
// stepper is made of parts, and each part holds those that it calls (newStepper):
//
//	part         knows                                                calls
//	processors   which Ps run, and which are idle                     nothing
//	lookahead    the events: what starts this goroutine, and what     processors
//	             does its thread do before that?
//	model        what the queues hold, how sure that is, and what     lookahead, processors
//	             the look-ahead shows of it
//	requests     what may have requested a goroutine to stop          lookahead, processors
//	targets      into which queue a goroutine was put                 requests
//	output       the decisions, in order, some of them held back      model
//	corrections  moves against the rules                              output
//	resizer      GOMAXPROCS                                           output
//	beginning    the state before the first event                     output, resizer
//	ticks        when the 61st tick of a P comes                      output
//	engine       which choice of a hypothesis forks believe           whole steppers
//	steals       which steals no start has shown yet                  model
//	workers      when mark workers drain their queues                 output, engine
//	sizes        how many goroutines were dequeued globally           ticks, engine
//	enqueuer     enqueues that are deferred, or overflow              dequeuer and those above
//	dequeuer     how a goroutine left its queue                       enqueuer and those above
//	waking       which threads steal as soon as they have a P         dequeuer
//	locks        which goroutines are locked to their threads         ticks, dequeuer
//	stepper      what an event did: a table by kind and states        all
//
// There are two cycles: enqueuer and dequeuer call each other, since an enqueue to a full ring may
// show a steal, and a dequeue may show that an enqueue is late; and the engine, which others call,
// forks the whole stepper. What changes with an event is one struct, state, which a fork copies.
//
// An enqueue follows from the event that makes a goroutine runnable (enqueue_target.go); a
// dequeue shows itself when the goroutine starts (start.go). In between the thread may lose its
// CPU, so others seem to pass over what has already left. What may have happened in between are
// the hypotheses: rows of a table (hypotheses.go), each with a file that looks for it. Most decide
// by evidence of the look-ahead. Those that cannot propose choices, and forks of the state go on
// with each (forks.go).
//
// A steal, for example: goroutine 10 stands in P 0's ring, behind 9, and starts on P 1
// (stepper.start). The model has it in another P's ring, so dequeuer.dequeue calls steal: P 1
// has nothing of its own, no other thief is on the way with what stands in front (firstStolen),
// nor with what stands behind (stolenBehind), and 2 are the half of a ring of 3 or 4
// (runqgrab). So 2 were stolen, which needs no hypothesis, and is called inferred:queue.
// Had 40 stood there, 2 would be no half: unseen-steal looks for a thief that stole more before and
// has not started what it stole. Its steal is settled now, long before its start, which then
// only emits what is known (wait.dequeued), and is called inferred:passed.
//
// A hypothesis comes in at one of four places: before an enqueue (displace, overflows); at a
// dequeue (dequeueGlobal, steal); where a start contradicts the model (passOver); or when
// something deferred is due (settleDue). What it has to remember is a field of state.
//
// A constant stands with what it is for and says where it is from: a function of the runtime,
// or recordings with truth (package truth). "Half or twice: nothing" is said where half the value
// and twice that were tried on all recordings in lab/truth/testdata, of 259,000 starts, and of
// no workload a rate changed by 0.02 points: sources, steals, lengths, causes of preemptions, and how
// many starts are uncertain or certain and wrong.
//
// To read it, begin with stepper.go, then ready.go and start.go, which end in dequeuer.go,
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
