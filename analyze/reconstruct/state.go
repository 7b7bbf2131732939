package reconstruct

import "github.com/gmpscope/gmpscope/reference"

// state is all that an event changes, and so what a fork owns. The parts of a stepper point to it; what
// else they hold no fork has to copy.
type state struct {
	model    model
	tally    tally
	requests requested
	inject   injection
	deferred deferredEnqueues
	drains   drains
	thieves  thieves
	fork     forkState
	weights  []float64 // of the ticks of a copy's Ps
}

// copyFrom makes s a copy of other for a fork, in memory of its own, but for what neither changes while
// there is a fork.
func (s *state) copyFrom(other *state) {
	own := *s
	*s = *other
	m, from, room := &s.model, &other.model, &own.model
	m.queues, m.ahead.gStates = room.queues, room.ahead.gStates
	m.queues.CopyFrom(&from.queues)
	m.ahead.gStates.CopyFrom(&from.ahead.gStates)
	m.ahead.mStates = append(room.ahead.mStates[:0], from.ahead.mStates...)
	m.ahead.ps.pStates = append(room.ahead.ps.pStates[:0], from.ahead.ps.pStates...)
	s.weights = own.weights[:0]
	for i := range m.ahead.ps.pStates {
		s.weights = m.ahead.ps.pStates[i].tick.CopyTo(s.weights)
	}
	m.returned = append(room.returned[:0], from.returned...)
	s.deferred.list = append(own.deferred.list[:0], other.deferred.list...)
	s.deferred.open = append(own.deferred.open[:0], other.deferred.open...)
	s.drains.list = append(own.drains.list[:0], other.drains.list...)
	s.thieves.list = append(own.thieves.list[:0], other.thieves.list...)
	s.fork = forkState{on: true}
}

// meets reports whether two states have the same in their queues: they go on alike.
func (s *state) meets(other *state) bool {
	q, o := &s.model.queues, &other.model.queues
	if q.GlobalLen() != o.GlobalLen() || q.GlobalHead() != o.GlobalHead() || q.GlobalTail() != o.GlobalTail() || len(s.deferred.list) != len(other.deferred.list) {
		return false
	}
	for p := range int32(len(s.model.ahead.ps.pStates)) {
		if q.Len(p) != o.Len(p) || q.Head(p) != o.Head(p) || q.Tail(p) != o.Tail(p) || !alike(q, o, q.Head(p)) {
			return false
		}
	}
	return alike(q, o, q.GlobalHead())
}

// alike reports whether the same stands behind g in two queues, in the same order: two overflows that
// came in another order change places only in the middle.
func alike(q, o *reference.Queues, g int32) bool {
	for ; g != reference.None; g = q.Next(g) {
		if q.Next(g) != o.Next(g) {
			return false
		}
	}
	return true
}
