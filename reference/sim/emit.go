package sim

import "github.com/gmpscope/gmpscope/reference"

// mid is a thread's ID in decisions; threads count from 1.
func (s *scheduler) mid(m int32) int64 {
	if m == none {
		return reference.NoM
	}
	return int64(m) + 1
}

// emit emits a decision at the present time, with the queues' lengths after it.
// Callers test Options.Emit first where that saves work.
func (s *scheduler) emit(d reference.Decision) {
	if s.o.Emit == nil {
		return
	}
	s.d = d
	if d.P >= 0 {
		s.d.Local = int32(s.q.Len(d.P))
	}
	s.d.Global = int32(s.q.GlobalLen())
	s.workload.emit(&s.d)
}

// emitReady notes that a goroutine is runnable, in p's queue, or in the global
// one or none.
func (s *scheduler) emitReady(g, p, m, by int32, to reference.Queue, why reference.Why) {
	x := &s.gs[g]
	x.readyAt = s.now
	if s.o.Emit == nil {
		return
	}
	d := reference.Decision{Kind: reference.KindReady, G: x.id, Class: x.class, By: reference.NoG, P: p, M: s.mid(m), To: to, Why: why, Victim: reference.NoP, Flags: x.flags}
	if by > 0 {
		d.By = s.gs[by].id
	}
	s.emit(d)
}

func (s *scheduler) emitMove(g, to, from int32, queue reference.Queue, why reference.Why) {
	if s.o.Emit == nil {
		return
	}
	x := &s.gs[g]
	s.emit(reference.Decision{Kind: reference.KindMove, G: x.id, Class: x.class, P: to, Victim: from, M: reference.NoM, To: queue, Why: why, Flags: x.flags})
}

// emitG notes what a goroutine does on P p and thread m.
func (s *scheduler) emitG(k reference.Kind, g, p, m int32, why reference.Why, reason reference.Reason) {
	if s.o.Emit == nil {
		return
	}
	x := &s.gs[g]
	s.emit(reference.Decision{Kind: k, G: x.id, Class: x.class, P: p, M: s.mid(m), Why: why, Reason: reason, Victim: reference.NoP, Flags: x.flags})
}

// emitP notes what becomes of P p, or with none of the world.
func (s *scheduler) emitP(k reference.Kind, p, m int32, why reference.Why) {
	if s.o.Emit != nil {
		s.emit(reference.Decision{Kind: k, G: reference.NoG, P: p, M: s.mid(m), Why: why, Victim: reference.NoP})
	}
}

// emitBatch notes that p's thread moves n goroutines at once, of which g is one.
func (s *scheduler) emitBatch(k reference.Kind, g, p, victim int32, n int) {
	if s.o.Emit != nil {
		s.emit(reference.Decision{Kind: k, G: s.gs[g].id, P: p, M: s.mid(s.ps[p].m), Victim: victim, Batch: int32(n)})
	}
}
