package workload

import "github.com/gmpscope/gmpscope/reference"

// At an unbuffered channel whoever comes first waits for the other one, be it the sender or
// the receiver, and under another schedule another one comes first, and another sender is
// served first: a meeting.
//
// A trace does not tell what a channel is. But on a buffered one most sends neither block
// nor wake anybody, and are not to be seen. So a channel counts as unbuffered where the last
// that others notice of nearly all goroutines of a class is a send, at which some of them
// blocked until the receiver came, and others woke it. Nobody waits for what they do after that.
//
// A receiver that waits for nothing else takes what the others send to it as it comes, too:
// it is at a select, or at the end of one channel. Of another receiver, only last sends are
// meetings. So no goroutine waits for ever for one that waits for it, although it may
// meet another one than in the trace.

// Of how many goroutines of a class at least, and of what part of them, the last act must be
// such a send. Half or twice as many, and any part, make no difference to 44 recordings of
// real programs: where senders both blocked and woke a goroutine, all 101 to 1,371 did.
const (
	fewMeetings = 10
	mostMeet    = 0.95
)

// lastSend is the wake-up in which a goroutine sent something to another one, and after which
// nobody has noticed anything of it.
type lastSend struct {
	to      int32 // goroutine; none if there is no such wake-up
	step    int32 // of who was woken
	blocked bool  // it was the sender
}

// lastSends are those of goroutines of a class that have ended.
type lastSends struct {
	list    []lastSend
	ended   int
	blocked int // of list
}

// link has the steps of a wake-up at a channel, which are the last of both goroutines, know
// each other: g was blocked for a reason. In ns of each is the other step, from 1 on, in arg of g's the reason.
func (e *Extractor) link(by, g int32, reason reference.Reason) {
	if reason != reference.ReasonChanSend && !receives(reason) {
		return
	}
	b, i := e.gs[by].last, e.gs[g].last
	e.w.steps.at(b).ns = int64(i) + 1
	s := e.w.steps.at(i)
	s.ns, s.arg = int64(b)+1, int32(reason)
	if receives(reason) {
		e.gs[by].sent = lastSend{g, i, false}
	} else {
		e.gs[g].sent = lastSend{by, i, true}
	}
}

// receives reports whether who is blocked for a reason may receive from a channel.
func receives(r reference.Reason) bool {
	return r == reference.ReasonChanReceive || r == reference.ReasonSelect
}

// noticed reports whether others can notice a step.
func (k kind) noticed() bool {
	switch k {
	case kRun, kSyscall, kSyscallBlock, kGosched, kGoyield, kPreempt, kLock, kUnlock, kExit:
		return false
	}
	return true
}

// ends counts the end of a goroutine, and what it did last.
func (e *Extractor) ends(g int32) {
	class := e.w.gs[g].class
	l := e.sends[class]
	l.ended++
	if x := e.gs[g].sent; x.to != none {
		l.list = append(l.list, x)
		if x.blocked {
			l.blocked++
		}
	}
	e.sends[class] = l
}

// unbuffered makes meetings of the wake-ups that are some.
func (e *Extractor) unbuffered() {
	all := map[int32]bool{} // by receiver: whether all that it waits for are meetings
	for _, l := range e.sends {
		if l.blocked == 0 || l.blocked == len(l.list) || len(l.list) < fewMeetings || float64(len(l.list)) < mostMeet*float64(l.ended) {
			continue
		}
		for _, x := range l.list {
			if _, ok := all[x.to]; !ok {
				all[x.to] = e.onlyReceives(x.to)
			}
			if !all[x.to] {
				e.meet(x.to, x.step)
			}
		}
	}
	for g, ok := range all {
		if !ok {
			continue
		}
		for i := e.w.gs[g].first; i != none; i = e.w.steps.at(i).next {
			switch s := e.w.steps.at(i); {
			case s.kind == kRecv:
				e.meet(g, i)
			case (s.kind == kSend || s.kind == kSendTail) && s.ns > 0 && reference.Reason(e.w.steps.at(int32(s.ns-1)).arg) == reference.ReasonChanSend:
				e.meet(g, int32(s.ns-1))
			}
		}
	}
}

// onlyReceives reports whether all that a goroutine waits for is that others send to it.
func (e *Extractor) onlyReceives(g int32) bool {
	for i := e.w.gs[g].first; i != none; i = e.w.steps.at(i).next {
		switch s := e.w.steps.at(i); s.kind {
		case kNetwork:
			return false
		case kRecv:
			if s.ns == 0 || !receives(reference.Reason(s.arg)) {
				return false
			}
		}
	}
	return true
}

// meet makes a meeting of the wake-up that a step of who was woken is part of.
func (e *Extractor) meet(receiver, woken int32) {
	recv := e.w.steps.at(woken)
	if recv.kind != kRecv || recv.ns == 0 {
		return
	}
	send := e.w.steps.at(int32(recv.ns - 1))
	if reference.Reason(recv.arg) == reference.ReasonChanSend {
		recv, send = send, recv
	}
	*recv = step{kind: kMeetRecv, next: recv.next}
	*send = step{kind: kMeetSend, next: send.next, arg: receiver}
	e.w.Meetings++
}
