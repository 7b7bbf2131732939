package sim

import (
	"math"

	"github.com/gmpscope/gmpscope/reference"
)

// Forever is the length of work that never ends, in ns.
const Forever = int64(math.MaxInt64 / 4)

// Script is what one goroutine does: Next returns its next step, now ns after
// the beginning of the run, when the one before it is done. The zero Op ends
// the goroutine, and Next is not called again. A Script belongs to one
// goroutine of one run.
type Script interface {
	Next(now int64) Op
}

// OpKind specifies what an [Op] does: compute, send, sleep and so on.
type OpKind uint8

// The steps of a goroutine: the values of Op.Kind. The fields that they name are those of [Op].
const (
	OpExit         OpKind = iota // ends the goroutine
	OpRun                        // computes for Ns
	OpGo                         // starts goroutine G of Class, which does Script
	OpSend                       // sends on Chan
	OpRecv                       // receives from Chan
	OpSleep                      // sleeps for Ns, by a timer of the P (time.Sleep)
	OpPoll                       // waits for the network, which answers after Ns
	OpSyscall                    // is in a system call for Ns
	OpSyscallBlock               // is in a system call for Ns, which gives the P up at once (entersyscallblock)
	OpGosched                    // yields to all others (runtime.Gosched)
	OpGoyield                    // yields to the P's own queue (goyield)
	OpPreempt                    // is preempted for Why, whatever its time slice (forEachP)
	OpLockThread                 // locks itself to its thread (runtime.LockOSThread)
	OpUnlockThread               // undoes that
	OpStop                       // stops the world, or begins a cycle of the garbage collector, as Stop says
)

// Op is one step of a goroutine. Kind decides which other fields are used.
type Op struct {
	Kind   OpKind
	Class  int32           // class of the new goroutine: its index in Result.Classes, small and not negative
	Ns     int64           // how long the step takes; of an OpSend on a channel of NewNetwork, how long the message is under way
	G      int64           // ID of the new goroutine; 0 has the simulator count from 1 on
	Why    reference.Why   // OpPreempt: WhyGC or WhyGeneration
	Flags  reference.Flags // of the new goroutine's decisions: FlagSystem, FlagTracer
	Chan   *Chan           // OpSend, OpRecv
	Script Script          // OpGo: what the new goroutine does
	Stop   *Arrival        // OpStop: an ArriveSTW or ArriveGC, whose At and G are ignored
	// Tail of an OpSend puts who is woken at the tail of the P's ring, not into runnext
	// (ready with next false, injectglist).
	Tail bool
	// Sysmon has sysmon do an OpSend in its next pass, or at once while it sleeps for want of
	// anything to watch (scavenger.ready, from sweepone).
	Sysmon bool
}

// reason is what a goroutine waits for that does a step on a channel.
func (o *Op) reason() reference.Reason {
	switch {
	case o.Chan.network:
		return reference.ReasonNetwork
	case o.Kind == OpSend:
		return reference.ReasonChanSend
	}
	return reference.ReasonChanReceive
}

// Run returns the step that computes for ns nanoseconds.
func Run(ns int64) Op { return Op{Kind: OpRun, Ns: ns} }

// Go returns the step that starts a goroutine that runs s. class is the index in Result.Classes under
// which it counts.
func Go(class int32, s Script) Op { return Op{Kind: OpGo, Class: class, Script: s} }

// Send returns the step that sends on c, and wakes who waits to receive.
func Send(c *Chan) Op { return Op{Kind: OpSend, Chan: c} }

// Recv returns the step that receives from c, and waits until something is sent.
func Recv(c *Chan) Op { return Op{Kind: OpRecv, Chan: c} }

// Sleep returns the step that sleeps for ns nanoseconds, by a timer.
func Sleep(ns int64) Op { return Op{Kind: OpSleep, Ns: ns} }

// Poll returns the step that waits for the network, which answers after ns nanoseconds.
func Poll(ns int64) Op { return Op{Kind: OpPoll, Ns: ns} }

// Syscall returns the step that is in a system call for ns nanoseconds.
func Syscall(ns int64) Op { return Op{Kind: OpSyscall, Ns: ns} }

// Gosched returns the step that yields to all others.
func Gosched() Op { return Op{Kind: OpGosched} }

// Func is a function that serves as a [Script].
type Func func(now int64) Op

// Next calls f with now, which is ns since the beginning of the run.
func (f Func) Next(now int64) Op { return f(now) }

// Program is a list of steps that many goroutines can do: each that is given one
// as its Script goes through it from the beginning, in Next of its own.
type Program struct {
	ops []Op
	n   int
	i   int
}

// Steps returns a [Script] that does ops, in order, once.
func Steps(ops ...Op) *Program { return Times(1, ops...) }

// Times returns a Script that does ops, in order, n times.
func Times(n int, ops ...Op) *Program { return &Program{ops: ops, n: n} }

// Next returns the next step. It makes a Program a [Script]; called directly, it serves one
// goroutine.
func (p *Program) Next(int64) Op {
	if p.i == len(p.ops) {
		p.i = 0
		p.n--
	}
	if p.n <= 0 || len(p.ops) == 0 {
		return Op{}
	}
	op := p.ops[p.i]
	p.i++
	return op
}

// Unlimited is the capacity of a channel on which no send blocks. It serves as
// a semaphore: a wake-up is a send, and is not lost if it comes early.
const Unlimited = -1

// Chan is the one way in which goroutines wait for each other. It obeys the
// rules of Go's channels (chan.go: send, recv): a send wakes the first that
// waits to receive, or takes a place in the buffer, or blocks. A Chan belongs
// to one run.
type Chan struct {
	cap     int
	n       int // sent and not received
	network bool
	recv    waitq
	send    waitq
}

// NewChan returns a channel for cap values; 0 is unbuffered.
func NewChan(cap int) *Chan { return &Chan{cap: cap} }

// NewNetwork returns an unlimited channel that is sent on from outside (see
// [ArriveSend]): those who receive from it wait in the network poller.
func NewNetwork() *Chan { return &Chan{cap: Unlimited, network: true} }
