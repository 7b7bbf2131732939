package breakdown

import "github.com/gmpscope/gmpscope/reference"

// Reason is what a blocked goroutine waited for.
type Reason uint8

// The reasons for which goroutines are blocked. But for the first and ReasonCoroutine they are
// those that the runtime gives when a goroutine blocks (traceBlockReasonStrings in
// traceruntime.go).
const (
	ReasonUnrecorded  Reason = iota // it blocked before the trace began, or in a gap of it
	ReasonNetwork                   // the network poller
	ReasonSelect                    // select
	ReasonChanReceive               // a channel to have a value
	ReasonChanSend                  // a channel's buffer to have room, or a receiver
	ReasonSync                      // a semaphore: Mutex, RWMutex, WaitGroup and their like
	ReasonCond                      // sync.Cond.Wait
	ReasonSleep                     // time.Sleep
	ReasonAssist                    // mark assist without work to steal
	ReasonGCEnds                    // the end of the garbage collection
	ReasonSuspended                 // suspended by the runtime, such as for a scan of its stack
	ReasonCoroutine                 // the other side of a coroutine (iter.Pull)
	ReasonForever                   // select without cases, nil channel
	ReasonSynctest                  // a testing/synctest bubble
	ReasonSystem                    // the runtime's own goroutines: their work
	ReasonOther                     // any other

	Reasons = int(iota) // how many there are
)

var reasonNames = [Reasons]string{
	"not recorded", "network", "select", "chan receive", "chan send", "sync", "cond", "sleep", "gc assist",
	"gc end", "suspended", "coroutine", "forever", "synctest", "system", "other",
}

// String returns the name of the reason, as in the JSON.
func (r Reason) String() string {
	if int(r) >= Reasons {
		return "invalid"
	}
	return reasonNames[r]
}

// ReasonOf returns the Reason for a stop with the cause why and the runtime's reason.
func ReasonOf(why reference.Why, reason reference.Reason) Reason {
	switch why {
	case reference.WhyCoroutine:
		return ReasonCoroutine
	case reference.WhySuspend:
		return ReasonSuspended
	}
	if r := blockReasons[reason]; r != ReasonUnrecorded {
		return r
	}
	return ReasonOther
}

// blockReasons are the reasons for those of the runtime.
var blockReasons = [1 << 8]Reason{
	reference.ReasonNetwork: ReasonNetwork, reference.ReasonSelect: ReasonSelect,
	reference.ReasonChanReceive: ReasonChanReceive, reference.ReasonChanSend: ReasonChanSend,
	reference.ReasonSync: ReasonSync, reference.ReasonCond: ReasonCond, reference.ReasonSleep: ReasonSleep,
	reference.ReasonAssist: ReasonAssist, reference.ReasonGCEnds: ReasonGCEnds, reference.ReasonPreempted: ReasonSuspended,
	reference.ReasonForever: ReasonForever, reference.ReasonSynctest: ReasonSynctest, reference.ReasonSystem: ReasonSystem,
}
