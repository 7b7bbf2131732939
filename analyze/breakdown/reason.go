package breakdown

import "github.com/gmpscope/gmpscope/reference"

// Reason is what a blocked goroutine waited for.
type Reason uint8

// The reasons. But for the first and ReasonCoroutine they are those that the runtime
// gives when a goroutine blocks (traceBlockReasonStrings in traceruntime.go).
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
	switch reason {
	case reference.ReasonNetwork:
		return ReasonNetwork
	case reference.ReasonSelect:
		return ReasonSelect
	case reference.ReasonChanReceive:
		return ReasonChanReceive
	case reference.ReasonChanSend:
		return ReasonChanSend
	case reference.ReasonSync:
		return ReasonSync
	case reference.ReasonCond:
		return ReasonCond
	case reference.ReasonSleep:
		return ReasonSleep
	case reference.ReasonAssist:
		return ReasonAssist
	case reference.ReasonGCEnds:
		return ReasonGCEnds
	case reference.ReasonPreempted:
		return ReasonSuspended
	case reference.ReasonForever:
		return ReasonForever
	case reference.ReasonSynctest:
		return ReasonSynctest
	case reference.ReasonSystem:
		return ReasonSystem
	}
	return ReasonOther
}
